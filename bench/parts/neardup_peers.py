"""The finders that bench/neardup.py compares. Each factory imports its library and returns texts ->
pairs of rows.

Every library is used as its documentation shows, with its own defaults but for what the task fixes:
character 5-grams and a threshold of 0.7. What a library offers to drop false candidates (estimated
similarity) is used.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Callable, Iterable
from types import ModuleType

import polars as pl

Pairs = Iterable[tuple[int, int]]
Finder = Callable[[list[str], float], Pairs]


class NotInstalled(Exception): ...


def need(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise NotInstalled(f"not measured: {module} is not installed here ({error})") from None


def shingles(text: str, n: int = 5) -> list[str]:
    return [text[i : i + n] for i in range(max(len(text) - n + 1, 1))]


def claimlab() -> Finder:
    neardup = need("claimlab.text.neardup")

    def find(texts: list[str], threshold: float) -> Pairs:
        pairs = neardup.find_pairs(texts, threshold=threshold)
        return zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)

    return find


def claimlab_numpy() -> Finder:
    os.environ["CLAIMLAB_NEARDUP"] = "numpy"
    return claimlab()


def datasketch() -> Finder:
    library = need("datasketch")

    def find(texts: list[str], threshold: float) -> Pairs:
        sketches = list(
            library.MinHash.generator(
                [[s.encode() for s in shingles(t)] for t in texts], num_perm=128
            )
        )
        index = library.MinHashLSH(threshold=threshold, num_perm=128)
        with index.insertion_session() as session:
            for row, sketch in enumerate(sketches):
                session.insert(row, sketch)
        return [
            (row, other)
            for row, sketch in enumerate(sketches)
            for other in index.query(sketch)
            if other > row and sketch.jaccard(sketches[other]) >= threshold
        ]

    return find


def rensa() -> Finder:
    library = need("rensa")

    def find(texts: list[str], threshold: float) -> Pairs:
        sketches = library.RMinHash.from_token_sets(
            (shingles(t) for t in texts), num_perm=128, seed=42
        )
        # the README's own benchmark uses 8 bands for 0.8; at 0.7 that would find a third of the
        # pairs
        index = library.RMinHashLSH(threshold=threshold, num_perm=128, num_bands=32)
        index.insert_many(sketches)
        return [
            (row, other)
            for row, others in enumerate(index.query_all(sketches))
            for other in others
            if other > row and sketches[row].jaccard(sketches[other]) >= threshold
        ]

    return find


def rensa_flags() -> Finder:
    """The fast path of its README (the rho sketch). It says which rows have a near-duplicate, not
    which one: rows are returned as pairs with themselves, and judged as rows."""
    library = need("rensa")

    def find(texts: list[str], threshold: float) -> Pairs:
        matrix = library.RMinHash.digest_matrix_from_token_sets_rho(
            (shingles(t) for t in texts), num_perm=128, seed=42
        )
        index = library.RMinHashLSH(threshold=threshold, num_perm=128, num_bands=32)
        flags = index.query_duplicate_flags_matrix_one_shot(matrix)
        return [(row, row) for row, flag in enumerate(flags) if flag]

    return find


def gaoya() -> Finder:
    library = need("gaoya")

    def find(texts: list[str], threshold: float) -> Pairs:
        index = library.minhash.MinHashStringIndex(
            hash_size=32,
            jaccard_threshold=threshold,
            num_bands=25,
            band_size=5,
            analyzer="char",
            ngram_range=(5, 5),
        )
        index.par_bulk_insert_docs(list(range(len(texts))), texts)
        answers = index.par_bulk_query(texts)
        return [
            (row, other) for row, others in enumerate(answers) for other in others if other > row
        ]

    return find


def text_dedup() -> Finder:
    """Its script, called as from the command line. It knows words only, so what splits a text into
    words is handed a splitter into characters; n-grams, hashing, bands and clusters are its own. It
    gives clusters without verifying them: each row is paired with the head of its cluster."""
    script = need("text_dedup.minhash")

    class Characters:
        split = staticmethod(list)

    def find(texts: list[str], threshold: float) -> Pairs:
        with tempfile.TemporaryDirectory() as folder:
            pl.DataFrame({"text": texts}).write_parquet(f"{folder}/texts.parquet")
            script.NON_ALPHA = Characters
            options = {
                "path": "parquet",
                "data_files": f"{folder}/texts.parquet",
                "split": "train",
                "column": "text",
                "cache_dir": f"{folder}/cache",
                "output": f"{folder}/out",
                "num_proc": str(os.cpu_count()),
                "batch_size": "10000",
                "ngram": "5",
                "min_length": "5",
                "threshold": str(threshold),
            }
            script.main(
                [word for name, value in options.items() for word in (f"--{name}", value)],
                standalone_mode=False,
            )
        heads = {row: script.uf.find(row) for row in list(script.uf.parent)}
        return [(head, row) for row, head in heads.items() if head != row]

    return find


FINDERS: dict[str, Callable[[], Finder]] = {
    "claimlab": claimlab,
    "claimlab-numpy": claimlab_numpy,
    "datasketch": datasketch,
    "rensa": rensa,
    "rensa-flags": rensa_flags,
    "gaoya": gaoya,
    "text-dedup": text_dedup,
}
