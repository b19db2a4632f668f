"""The layout that Twitter15 and Twitter16 share (rumdetect2017.zip, and the copies later papers
made of it).
"""

from __future__ import annotations

from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
    Table,
    UnreadableFile,
    cascades,
    meta_column,
    post_or_id,
    sent,
)
from claimlab.core.words import several

# Only the first three columns and the origin are explained anywhere; the others keep their place as
# their name.
EVENTS = [
    "label",
    "event",
    "tweet_id",
    "column_4",
    "column_5",
    "column_6",
    "column_7",
    "origin",
    "column_9",
]
SPLITS = ("train", "dev", "test")
POST = r"\['([^']*)', '[^']*', '([^']*)'\]"  # user, tweet, minutes after the source tweet


def load(bundle: Bundle, dataset: str) -> Loaded:
    """The rows and labels of label.txt, in its order; texts, events, a published split and the
    trees of who passed a tweet on joined by tweet id.

    `dataset` may lie beside its twin in one archive.
    """
    labels = _labels(bundle, dataset)
    texts, notes = _texts(bundle, dataset, labels)
    rows = labels.join(texts, on="tweet_id", how="left", maintain_order="left")
    rows = rows.join(_events(bundle, dataset), on="tweet_id", how="left", maintain_order="left")
    records = rows.select(
        *["text", "label_raw", "tweet_id", "split"],
        id=f"{dataset}-" + pl.col("tweet_id"),
        kind=post_or_id(rows["text"]),
        **sent(rows["tweet_id"]),
        # for the non-rumours the event is the news account that wrote the tweet
        author=pl.when(pl.col("origin") == "news_account").then("event"),
        source="origin",
        group="event",
        meta=meta_column(rows, [*EVENTS[3:7], EVENTS[8]]),
    )
    trees = bundle.match(f"{dataset}/tree/*.txt") or bundle.match("tree/*.txt")
    if not trees:
        return Loaded(records, notes=notes)
    table, note = cascades(_edges(bundle, trees, dataset))
    table = table.join(
        records, left_on="record_id", right_on="id", how="semi", maintain_order="left"
    )
    return Loaded(records, {"cascade": table}, [*notes, note])


def _edges(bundle: Bundle, trees: list[str], dataset: str) -> pl.DataFrame:
    """One line for each time a user passed the tweet on: `parent -> child`."""
    files = {
        "record_id": [f"{dataset}-{PurePosixPath(name).stem}" for name in trees],
        "line": [bundle.text(name) for name in trees],
    }
    ends = pl.col("line").str.extract_groups(rf"^\s*{POST}->{POST}\s*$")
    lines = pl.DataFrame(files).with_columns(pl.col("line").str.split("\n")).explode("line")
    edges = lines.filter(pl.col("line").str.contains(r"\S")).select(
        "record_id",
        parent=ends.struct[0].replace("ROOT", None),
        child=ends.struct[2],
        delay=ends.struct[3].cast(pl.Float64, strict=False),
    )
    if edges["child"].null_count():
        raise UnreadableFile(
            f"{edges['child'].null_count():,} lines of the trees are not 'parent -> child'.",
            "Give the files as their authors publish them.",
        )
    return edges


def _labels(bundle: Bundle, dataset: str) -> pl.DataFrame:
    """label.txt; where a copy lacks it, the labels of the train/dev/test files."""
    if not bundle.match(f"{dataset}/label.txt", "label.txt") and bundle.match(f"{dataset}.train"):
        return _split_files(bundle, dataset).select("tweet_id", label_raw="label")
    return _table(
        bundle, bundle.one(f"{dataset}/label.txt", "label.txt"), ["label_raw", "tweet_id"], ":"
    )


def _split_files(bundle: Bundle, dataset: str) -> pl.DataFrame:
    parts = [pl.DataFrame(schema=dict.fromkeys(("tweet_id", "text", "label", "split"), pl.String))]
    for split in SPLITS:
        for name in bundle.match(f"{dataset}.{split}"):
            part = _table(bundle, name, ["tweet_id", "text", "label"])
            parts.append(part.with_columns(split=pl.lit(split)))
    return pl.concat(parts)


def _texts(bundle: Bundle, dataset: str, labels: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """tweet_id, text, split: from source_tweets.txt (the 2017 release) and from the train/dev/test
    files of 2019.
    """
    table, notes = _split_files(bundle, dataset), []
    both = table.join(labels, on="tweet_id").filter(pl.col("label") != pl.col("label_raw"))
    if both.height:
        notes.append(
            f"{several(both.height, 'tweet')} with another label in the split files than in"
            " label.txt, which is kept."
        )
    for name in bundle.match(f"{dataset}/source_tweets.txt") or bundle.match("source_tweets.txt"):
        own = _table(bundle, name, ["tweet_id", "text"])
        table = own.join(table.drop("text"), on="tweet_id", how="left", maintain_order="left")
    return table.select("tweet_id", "text", "split").unique("tweet_id", keep="first"), notes


def _events(bundle: Bundle, dataset: str) -> pl.DataFrame:
    names = bundle.match(f"{dataset}_label_all.txt")
    if not names:
        return pl.DataFrame(schema=dict.fromkeys(EVENTS[1:], pl.String))
    return _table(bundle, names[0], EVENTS).drop("label").unique("tweet_id", keep="first")


def _table(bundle: Bundle, name: str, columns: list[str], delimiter: str = "\t") -> pl.DataFrame:
    """A file without header, in which quotation marks are part of the texts."""
    return Table.read(bundle, name, delimiter=delimiter, quoted=False, columns=columns).pick(
        columns
    )
