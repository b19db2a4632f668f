"""Surface properties of texts: length, typography, links; and columns as numbers.

Audits test what these give away, and the detector `shortcut` shows what a leaderboard would make of
them.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from claimlab.core import packaged
from claimlab.core.stats.scores import Floats32
from claimlab.text.tokens import spaced
from claimlab.text.urls import count_placeholders, domains, find_urls

_TRAITS = packaged.toml("claimlab.text", "traits.toml")
PUNCTUATION: dict[str, str] = _TRAITS["punctuation"]  # characters of all scripts, by kind


def _patterns(families: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The patterns, with the characters of `PUNCTUATION` in the place of their names."""
    kinds = {f"{{{kind}}}": re.escape(marks) for kind, marks in PUNCTUATION.items()}

    def spelt(pattern: str) -> str:
        for kind, marks in kinds.items():
            pattern = pattern.replace(kind, marks)
        return pattern

    return {
        family: {name: spelt(pattern) for name, pattern in named.items()}
        for family, named in families.items()
    }


PATTERNS = _patterns(_TRAITS["share"])
MARKS = _patterns(_TRAITS["mark"])
MANY_LINKS = 5  # more links than this are one category


def lengths(texts: pl.Series) -> Floats32:
    """Characters and words of each text; a text that is missing has none of either."""
    characters = texts.str.len_chars().fill_null(0).to_numpy()
    words = spaced(texts).str.count_matches(r"\S+").fill_null(0).to_numpy()
    return np.stack([characters, words], axis=1).astype(np.float32)


def shares(texts: pl.Series, family: str) -> tuple[list[str], Floats32]:
    """How often each pattern of the family occurs, as a share of the characters."""
    filled = texts.fill_null("")
    size = filled.str.len_chars().clip(1).to_numpy().astype(np.float32)
    columns = {
        name: filled.str.count_matches(pattern).to_numpy().astype(np.float32) / size
        for name, pattern in PATTERNS[family].items()
    }
    return list(columns), np.stack(list(columns.values()), axis=1)


def marks(texts: pl.Series, family: str) -> tuple[list[str], Floats32]:
    """Whether each text holds each mark of the family: 1 or 0."""
    filled = texts.fill_null("")
    flags = [filled.str.contains(pattern).to_numpy() for pattern in MARKS[family].values()]
    return list(MARKS[family]), np.stack(flags, axis=1).astype(np.float32)


def links(texts: pl.Series) -> Floats32:
    """Whether each text holds a URL or a placeholder for one, and how many."""
    links = (find_urls(texts).list.len() + count_placeholders(texts)).fill_null(0)
    return np.stack([(links > 0).to_numpy(), links.clip(0, MANY_LINKS).to_numpy()], axis=1).astype(
        np.float32
    )


def sites(records: pl.DataFrame) -> pl.Series:
    """The site of the record itself, or else of the first link in its text."""
    both = pl.DataFrame(
        {"own": domains(records["url"]), "cited": domains(find_urls(records["text"]).list.first())}
    )
    return both.select(pl.coalesce("own", "cited")).to_series()


def as_numbers(values: pl.Series) -> pl.Series | None:
    """The column as numbers when it holds figures or dates with many distinct values; null when it
    is categories.
    """
    if values.dtype.is_temporal():
        numbers = values.cast(pl.Datetime("us")).dt.epoch("d").cast(pl.Float64)
    elif values.dtype.is_numeric():
        numbers = values.cast(pl.Float64)
    elif values.dtype == pl.String:
        numbers = values.cast(pl.Float64, strict=False)
        if numbers.null_count() > values.null_count():
            return None
    else:
        return None
    return numbers.fill_null(float("nan")) if numbers.drop_nulls().n_unique() > 20 else None
