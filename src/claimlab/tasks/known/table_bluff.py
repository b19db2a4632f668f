"""BLUFF's tasks. The published material says "fake" and "real", and names authors by four letters.

Verdicts come from `veracity`, which the loader maps whole ("false" and "misleading" are false
though they contain no "fake"); authors come from `authorship`, which every record has, a person's
included. No task reads raw labels. Tasks 2 and 3 have two published readings each.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from claimlab.tasks.task import Task

NEWS = {"true": "real", "false": "fake"}
AUTHORS = {
    "HWT": "A person wrote the text.",
    "MGT": "A machine wrote the text.",
    "MTT": "A machine translated the text.",
    "HAT": "A person wrote the text and a machine altered it, or vice versa.",
}
HONESTY = {"real": "what it reports is true", "fake": "what it reports is false or misleading"}


def news(records: pl.DataFrame) -> pl.Series:
    return records["veracity"].replace_strict(NEWS, default=None, return_dtype=pl.String)


def by_author(classes: dict[str, str]) -> Callable[[pl.DataFrame], pl.Series]:
    """A reader of authorship: those that `classes` does not name are not part of the task."""

    def read(records: pl.DataFrame) -> pl.Series:
        return records["authorship"].replace_strict(classes, default=None, return_dtype=pl.String)

    return read


def crossed(name: str, authors: tuple[str, ...], *, summary: str, question: str) -> Task:
    """A task of verdict times author: real-HWT, real-MGT, fake-HWT, ..."""
    classes = {
        f"{n}-{a}": f"{AUTHORS[a].rstrip('.')}, and {HONESTY[n]}."
        for n in NEWS.values()
        for a in authors
    }

    def read(records: pl.DataFrame) -> pl.Series:
        pair = pl.select(
            pl.concat_str([news(records), records["authorship"]], separator="-")
        ).to_series()
        return pl.select(
            pl.when(pair.is_in(list(classes))).then(pair)
        ).to_series()  # null where either is

    return Task(name, summary, read, tuple(classes), classes, question)


ENTRIES = [
    Task(
        name="bluff-1",
        summary=(
            "BLUFF task 1: real or fake, whoever wrote it. Mixed and unknown verdicts are left out."
        ),
        read=news,
        classes=("real", "fake"),
        meaning={
            "real": "What the text reports is true.",
            "fake": "What the text reports is false or misleading.",
        },
        question="Is this news real or fake?",
        positive="fake",
    ),
    crossed(
        "bluff-2",
        ("HWT", "MGT"),
        summary=(
            "BLUFF task 2, the card's reading: real or fake, times person (HWT) or machine (MGT):"
            " four classes. Translations (MTT) and hybrids (HAT) are left out."
        ),
        question="Is this news real or fake, and did a person or a machine write it?",
    ),
    crossed(
        "bluff-2-eight",
        tuple(AUTHORS),
        summary=(
            "BLUFF task 2, the wider reading: real or fake, times HWT, MGT, MTT or HAT: eight"
            " classes."
        ),
        question="Is this news real or fake, and how was its text made?",
    ),
    Task(
        name="bluff-3",
        summary=(
            "BLUFF task 3, narrow: human (HWT) or machine (MGT alone). Translations and hybrids are"
            " left out."
        ),
        read=by_author({"HWT": "human", "MGT": "machine"}),
        classes=("human", "machine"),
        meaning={"human": "A person wrote the text.", "machine": "A machine wrote the text."},
        question="Did a person or a machine write this text?",
        positive="machine",
    ),
    Task(
        name="bluff-3-any",
        summary="BLUFF task 3, wide: human (HWT) or any machine (MGT, MTT or HAT).",
        read=by_author({"HWT": "human", "MGT": "machine", "MTT": "machine", "HAT": "machine"}),
        classes=("human", "machine"),
        meaning={
            "human": "A person wrote the text, and no machine touched it.",
            "machine": "A machine wrote, translated or altered the text.",
        },
        question="Was a machine involved in writing this text?",
        positive="machine",
    ),
    Task(
        name="bluff-4",
        summary=(
            "BLUFF task 4: written by a person (HWT) or a machine (MGT), machine-translated (MTT),"
            " or a hybrid (HAT)."
        ),
        read=by_author({author: author for author in AUTHORS}),
        classes=tuple(AUTHORS),
        meaning=AUTHORS,
        question="How was this text made?",
    ),
]
