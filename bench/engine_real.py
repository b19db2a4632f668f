"""Published datasets through import, clean, split, audit and detect: the same bytes with every
engine and in a bucket.

    python bench/engine_real.py [--data ../shared/data] [--only NAME]
    python bench/engine_real.py --contamination

The first runs the verbs in a chain with `local:1`, `local:2` and `dask`, and with `local:2` where
every input and output is in a bucket (moto's S3 server on this machine), and compares every byte of
every output. Shards are made small, so that each dataset has several; the table says how many were
done. The second measures the contamination of real test sets by real corpora, and counts again with
a few lines of plain Python. Both exit 1 when something differs.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness import begin, cpu_seconds, parser, shared, unmeasured

import claimlab as cl
from claimlab.core.engine import run as rows
from claimlab.core.engine import run as stages
from claimlab.detect import run as predicted

# Statements, claims with evidence, German posts, Portuguese messages, tweets with their labels in
# another file, and one that comes as five files and is imported without a catalogue entry.
LOADED = ("liar", "climate-fever", "defakts", "covid19-br", "twitter15")
IMPORTED = {"f3": "**/LLM*.csv"}
ENGINES = ("local:1", "local:2", "dask")
MOST = 1_000  # records of a dataset
PAIRS = [
    ("twitter15", "pheme"),
    ("covid19-fake-news", "covid-19-rumor"),
    ("liar-new", "liar"),
]  # test set, corpus


@contextmanager
def bucket() -> Iterator[Any]:
    """An S3 server on this machine, known to claimlab through the environment, with the bucket
    `claims`.
    """
    try:
        import s3fs
        from moto.server import ThreadedMotoServer
    except ImportError as error:
        unmeasured(
            f"{error.name} is not installed (pip install 'claimlab[remote]' 'moto[s3]' flask"
            " flask-cors)"
        )
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "k",
            "AWS_SECRET_ACCESS_KEY": "s",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_CONFIG_FILE": "none",
            "CLAIMLAB_CACHE": cache,
        }
        files = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
        files.mkdir("claims")
        yield files
    server.stop()


def chain(source: Path, name: str, root: str, engine: str) -> list[str]:
    """Every verb on one dataset, each reading what the one before wrote; the names of the
    outputs.
    """
    if name in IMPORTED:
        cl.import_files(
            sorted(source.glob(IMPORTED[name])),
            f"{root}/data",
            name=name,
            limit=MOST,
            engine=engine,
        )
    else:
        cl.load(name, source, output=f"{root}/data", limit=MOST)
    cl.clean(f"{root}/data", output=f"{root}/clean", engine=engine)
    cl.split(f"{root}/clean", output=f"{root}/split", by="random")
    cl.audit(
        f"{root}/split",
        output=f"{root}/audit",
        checks=["length", "one-class"],
        limit=200,
        engine=engine,
    )
    cl.detect(f"{root}/split", "tfidf", output=f"{root}/run", shard=50, engine=engine)
    return ["data", "clean", "split", "audit", "run"]


def in_folder(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def in_bucket(files: Any, place: str) -> dict[str, bytes]:
    return {key[len(place) + 1 :]: files.cat_file(key) for key in files.find(place)}


def compared(source: Path, name: str, place: Path, files: Any) -> bool:
    """One line of the table: what was written, in how many shards, and whether it was always the
    same.
    """
    shards: list[int] = []
    attempt = stages._attempt

    def counted(stage: Any, missing: list[int], *more: Any) -> Any:
        shards.append(len(missing))
        return attempt(stage, missing, *more)

    first: dict[str, dict[str, bytes]] = {}
    cells = []
    for engine in (*ENGINES, "local:2 on s3"):
        word, bucketed = engine.split()[0], engine.endswith("s3")
        root = f"s3://claims/{name}" if bucketed else f"{place}/{name}-{word.replace(':', '')}"
        shards.clear()
        stages._attempt = counted
        steps = chain(source, name, root, word)
        stages._attempt = attempt
        outputs = {
            step: (
                in_bucket(files, f"claims/{name}/{step}")
                if bucketed
                else in_folder(Path(root) / step)
            )
            for step in steps
        }
        first = first or outputs
        other = [step for step in steps if outputs[step] != first[step] or not first[step]]
        cells.append(f"{sum(shards)}" + (f" DIFFERS in {', '.join(other)}" if other else ""))
    records = cl.Dataset.open(place / f"{name}-local1" / "data").records.height
    size = sum(len(content) for output in first.values() for content in output.values())
    count = sum(map(len, first.values()))
    print(
        f"| {name} | {records:,} | {count} files, {size / 1024:,.0f} KiB | {' | '.join(cells)} |",
        flush=True,
    )
    return not any("DIFFERS" in cell for cell in cells)


def engines(data: Path, only: str | None, place: Path) -> bool:
    # a quick detector has ten times as many in a shard
    rows.LEAST_ROWS, predicted.ROWS_PER_TASK = 1_000, 20
    print(
        "| dataset | records | written | "
        + " | ".join([*ENGINES, "local:2 on s3"])
        + " |\n|---|---|---|---|---|---|---|"
    )
    same = True
    with bucket() as files:
        for name in (*LOADED, *IMPORTED):
            if only in (None, name):
                source = shared(f"{name}.zip", data)
                if name in IMPORTED:
                    zipfile.ZipFile(source).extractall(place / name)
                    source = place / name
                same &= compared(source, name, place, files)
    return same


def sequences(text: str, size: int = 8) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}


def contaminated(data: Path, place: Path) -> bool:
    """How many records of a test set have 70% of their 8-word sequences in a corpus, counted
    twice.
    """
    print(
        "| test set | corpus | records | contaminated | counted again | result"
        " |\n|---|---|---|---|---|---|"
    )
    agree = True
    for name, corpus in PAIRS:
        for one in (name, corpus):
            if not (place / one).exists():
                cl.load(one, shared(f"{one}.zip", data), output=place / one)
        measured = cl.overlap(
            place / name, corpus=place / corpus, output=place / f"{name}-{corpus}"
        ).contamination
        assert measured is not None
        ours = measured.counts()["contaminated"]
        sequences_seen: set[tuple[str, ...]] = set()
        for text in cl.Dataset.open(place / corpus).records["text"].drop_nulls().to_list():
            sequences_seen |= sequences(text)
        again = 0
        for text in cl.Dataset.open(place / name).records["text"].drop_nulls().to_list():
            mine = sequences(text)
            again += bool(mine) and len(mine & sequences_seen) >= 0.7 * len(mine)
        close = abs(ours - again) <= max(2, 0.02 * again)  # words are cut in another way
        agree &= close
        records = cl.Dataset.open(place / name).records.height
        cells = [
            name,
            corpus,
            f"{records:,}",
            ours,
            f"{again}{'' if close else ' DIFFERS'}",
            measured["overlap"].verdict,
        ]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    return agree


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument("--only", help="one of the datasets")
    made.add_argument("--contamination", action="store_true", help="measure contamination instead")
    options = begin(made)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        same = (
            contaminated(options.data, place)
            if options.contamination
            else engines(options.data, options.only, place)
        )
    print(f"\n{cpu_seconds():.0f} CPU seconds, those of workers included")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
