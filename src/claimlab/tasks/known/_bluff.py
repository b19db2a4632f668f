"""What BLUFF's tasks share: the published material says "fake" and "real", and names authors by four letters.

Verdicts come from `veracity`, which the loader maps whole ("false" and "misleading" are false though they contain no
"fake"); authors come from `authorship`, which every record has, a person's included. No task reads raw labels.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

NEWS = {"true": "real", "false": "fake"}
AUTHORS = {
    "HWT": "A person wrote the text.",
    "MGT": "A machine wrote the text.",
    "MTT": "A machine translated the text.",
    "HAT": "A person wrote the text and a machine altered it, or the other way round.",
}
HONESTY = {"real": "what it reports is true", "fake": "what it reports is false or misleading"}


def by_author(classes: dict[str, str]) -> Callable[[pl.DataFrame], pl.Series]:
    """A reader of authorship: those that `classes` does not name are no part of the task."""

    def read(records: pl.DataFrame) -> pl.Series:
        return records["authorship"].replace_strict(classes, default=None, return_dtype=pl.String)

    return read


def crossed(*authors: str) -> tuple[str, ...]:
    """Verdict times author: real-HWT, real-MGT, fake-HWT, ..."""
    return tuple(f"{news}-{author}" for news in NEWS.values() for author in authors)


def by_verdict_and_author(classes: tuple[str, ...]) -> Callable[[pl.DataFrame], pl.Series]:
    def read(records: pl.DataFrame) -> pl.Series:
        news = pl.col("veracity").replace_strict(NEWS, default=None, return_dtype=pl.String)
        both = pl.concat_str([news, pl.col("authorship")], separator="-")  # null where either is
        return records.select(pl.when(both.is_in(classes)).then(both)).to_series()

    return read


def crossed_meaning(classes: tuple[str, ...]) -> dict[str, str]:
    said = {}
    for name in classes:
        news, author = name.split("-")
        said[name] = f"{AUTHORS[author].rstrip('.')}, and {HONESTY[news]}."
    return said
