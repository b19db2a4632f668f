"""Who wrote a text, by a named rule, because the published material has two.

per-field   (the experiment notes) Each text of a sample has its own author. Generated: the article
            and the post are
            MGT when the degree is critical, HAT when it is minor or moderate; translations are MTT.
            Human: the article
            is HWT, the post MGT (a model made it from the article), translations MTT.
per-sample  (the data card) One flag per sample holds for all its texts: HAT, MGT, MTT or HWT marked
            "y", exclusively.
            Human files have no flags: HWT.

A text whose author the rule cannot tell (no known degree; no flag, or several) gets null, and is
counted.
"""

from __future__ import annotations

from typing import Literal, get_args

import polars as pl

from claimlab.core.errors import UnknownName
from claimlab.core.record import AUTHORSHIPS

Rule = Literal["per-field", "per-sample"]
RULES: tuple[Rule, ...] = get_args(Rule)
YES = ("y", "yes", "true", "1")


def check_rule(name: str) -> Rule:
    for rule in RULES:
        if rule == name:
            return rule
    raise UnknownName("authorship rule", name, RULES)


def authorship(
    frame: pl.DataFrame, *, human: bool, form: str, translated: bool, rule: Rule
) -> pl.Series:
    """The authorship of one text of each sample in `frame` (column `degree` decoded)."""
    if rule == "per-sample":
        return per_sample(frame) if not human else _all("HWT", frame.height)
    if translated:
        return _all("MTT", frame.height)
    if human:
        return _all("HWT" if form == "article" else "MGT", frame.height)
    generated = pl.when(pl.col("degree") == "critical").then(pl.lit("MGT"))
    return frame.select(
        generated.when(pl.col("degree").is_not_null()).then(pl.lit("HAT")).alias("authorship")
    ).to_series()


def per_sample(frame: pl.DataFrame) -> pl.Series:
    flags = [c for c in AUTHORSHIPS if c in frame.columns]
    marked = [pl.col(c).str.to_lowercase().is_in(YES).fill_null(False) for c in flags]
    if not marked:
        return _all(None, frame.height)
    author = pl.coalesce(
        pl.when(mark).then(pl.lit(flag)) for flag, mark in zip(flags, marked, strict=True)
    )
    once = pl.sum_horizontal(marked) == 1
    return frame.select(pl.when(once).then(author).alias("authorship")).to_series()


def _all(value: str | None, height: int) -> pl.Series:
    return pl.Series("authorship", [value], dtype=pl.String).new_from_index(0, height)
