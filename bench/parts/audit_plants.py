"""Defects to plant into real data, for the power curves of `audit_truth.py`: each marks some
records of one class.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Mark = Callable[[Dataset, Flags], Dataset]


@dataclass(frozen=True)
class Plant:
    """`mark` changes the chosen records of a dataset whose labels mean nothing (unless `real`);
    `seen_by` are the measurements that should notice, by the names of the tables."""

    what: str
    seen_by: tuple[str, ...]
    mark: Mark
    base: str = "liar"
    real: bool = False
    dear: bool = False  # to measure: fewer runs

    @property
    def check(self) -> str:
        return self.seen_by[0].partition(":")[0]


def change(column: str, value: pl.Expr) -> Mark:
    def mark(data: Dataset, chosen: Flags) -> Dataset:
        marked = (
            pl.when(pl.lit(pl.Series(chosen))).then(value).otherwise(pl.col(column)).alias(column)
        )
        return Dataset.build(data.name, data.records.with_columns(marked), data.tables)

    return mark


def meta(key: str, usual: Callable[[int], object], marked: Callable[[int], object]) -> Mark:
    """A key of `meta`: the usual value of the record with this number, or another where it is
    marked.
    """

    def mark(data: Dataset, chosen: Flags) -> Dataset:
        values = [
            json.dumps({key: marked(i) if flag else usual(i)}) for i, flag in enumerate(chosen)
        ]
        return Dataset.build(
            data.name, data.records.with_columns(pl.Series("meta", values)), data.tables
        )

    return mark


def in_evidence(words: str) -> Mark:
    def mark(data: Dataset, chosen: Flags) -> Dataset:
        named = pl.col("record_id").is_in(data.records["id"].filter(pl.Series(chosen)).to_list())
        text = (
            pl.when(named)
            .then(pl.lit(words) + pl.col("text"))
            .otherwise(pl.col("text"))
            .alias("text")
        )
        return Dataset.build(
            data.name,
            data.records,
            {**data.tables, "evidence": data.tables["evidence"].with_columns(text)},
        )

    return mark


def events(data: Dataset, chosen: Flags) -> Dataset:
    """Every record belongs to one of many events, the marked ones all to the first."""
    names = [f"event {0 if flag else i % 50}" for i, flag in enumerate(chosen)]
    return Dataset.build(
        data.name, data.records.with_columns(pl.Series("group", names)), data.tables
    )


def first(data: Dataset, chosen: Flags) -> Dataset:
    """The marked records come first in the file."""
    order = np.argsort(~chosen, kind="stable")
    return Dataset.build(data.name, data.records[order], data.tables)


def note(data: Dataset, chosen: Flags) -> Dataset:
    """A second text for every record: the same words in another order, or the text itself where it
    is marked.
    """
    rng = np.random.default_rng(0)
    texts = data.records["text"].fill_null("").to_list()
    notes = [
        t if flag else " ".join(rng.permutation(t.split()))
        for t, flag in zip(texts, chosen, strict=True)
    ]
    values = [json.dumps({"note": f"{text} as they wrote that day"}) for text in notes]
    return Dataset.build(
        data.name, data.records.with_columns(pl.Series("meta", values)), data.tables
    )


def flipped(data: Dataset, chosen: Flags) -> Dataset:
    label = (
        pl.when(pl.lit(pl.Series(chosen)))
        .then(pl.lit("true"))
        .otherwise(pl.col("veracity"))
        .alias("veracity")
    )
    return Dataset.build(data.name, data.records.with_columns(label), data.tables)


TEXT, DATE = pl.col("text"), pl.col("date")
LONGER = TEXT + " and so it was said again in all the papers of that day"
SHOUTED = TEXT.str.slice(0, 30).str.to_uppercase() + TEXT.str.slice(30)
SUNDAY = DATE + pl.duration(days=7 - DATE.dt.weekday().cast(pl.Int64))
TWEETS, CHECKED = (
    "covid-19-disinformation",
    "climate-fever",
)  # posts with times of day; claims with evidence
DESK = meta("desk", lambda i: f"desk {i % 5}", lambda _: "desk 0")
SHARES = meta("shares", lambda i: i * 37 % 100, lambda i: i * 37 % 10)
WORD = change("text", TEXT + " zorvex")
REMARK = meta(
    "note",
    lambda i: f"seen at desk {i % 7} on sheet {i}",
    lambda i: f"seen, rebutted at desk {i % 7} on sheet {i}",
)
FOLDER = change("url", pl.col("url").str.replace(r"(://[^/]+/)", "${1}fact-check/"))
ENDED, QUOTED = change("text", TEXT + "  "), change("text", TEXT + "”")
PLANTS = [
    Plant("twelve words more", ("length",), change("text", LONGER)),
    Plant("a frequent word", ("keywords",), change("text", TEXT + " president")),
    Plant("a word of its own", ("giveaways", "giveaways: one-sided words"), WORD),
    Plant("three exclamation marks", ("surface: punctuation",), change("text", TEXT + "!!!")),
    Plant("thirty characters in capitals", ("surface: case",), change("text", SHOUTED)),
    Plant("a year", ("surface: digits",), change("text", TEXT + " 2016")),
    Plant(
        "two spaces at the end",
        ("surface: whitespace", "surface: whitespace, one-sided marks"),
        ENDED,
    ),
    Plant(
        "a curly quotation mark",
        ("surface: typography", "surface: typography, one-sided marks"),
        QUOTED,
    ),
    Plant("a word in the id", ("identifiers: id",), change("id", pl.lit("hoax-") + pl.col("id"))),
    Plant("a folder of its own in the URL", ("identifiers: URL path",), FOLDER, base="coaid"),
    Plant("the first rows of the file", ("order",), first),
    Plant("a word in another text", ("text-columns: text",), REMARK, dear=True),
    Plant("another text that begins with the claim", ("text-columns: overlap",), note, dear=True),
    Plant("a link", ("url: presence of a URL",), change("text", TEXT + " https://t.example/a1")),
    Plant(
        "a page of one site",
        ("url: domain",),
        change("url", pl.lit("https://example.com/a1")),
        base="coaid",
    ),
    Plant("one publisher", ("source",), change("source", pl.lit("The Daily Planet"))),
    Plant("one topic", ("topic",), change("topic", pl.lit("zoning"))),
    Plant("moved to the test part", ("balance: split",), change("split", pl.lit("test"))),
    Plant("one author", ("author",), change("author", pl.lit("A. Nonymous"))),
    Plant("one of fifty events", ("event",), events),
    Plant("another language", ("language",), change("language", pl.lit("fra")), base=TWEETS),
    Plant("no topic", ("missing",), change("topic", pl.lit(None, pl.String))),
    Plant("a category in `meta`", ("columns: categories",), DESK),
    Plant("a number in `meta`", ("columns: numbers",), SHARES),
    Plant(
        "400 days later",
        ("time: date",),
        change("date", DATE + timedelta(days=400)),
        base="fake-br",
    ),
    Plant(
        "at three in the morning",
        ("time: hour of the day",),
        change("date", DATE.dt.replace(hour=3)),
        base=TWEETS,
    ),
    Plant("on a Sunday", ("time: weekday",), change("date", SUNDAY), base=TWEETS),
    Plant(
        "a word in the evidence",
        ("evidence: evidence alone",),
        in_evidence("debunked "),
        base=CHECKED,
        dear=True,
    ),
    Plant("a word in the claim", ("evidence: claim alone",), WORD, base=CHECKED, dear=True),
    Plant(
        "wrong labels among real ones",
        ("label-errors",),
        flipped,
        base="covid19-fake-news",
        real=True,
        dear=True,
    ),
]
