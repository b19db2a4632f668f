"""Mend mojibake: text that was written as UTF-8 and read as something else ("CafÃ©" for "Café").

The mending is ftfy's. Asking ftfy about every row costs about 60 microseconds each, so the question "does this look
broken?" is first put to all rows at once, by running ftfy's own pattern in Polars.
"""

from __future__ import annotations

import re
from functools import cache

import polars as pl

from claimlab.text.rows import change_where


def repair_mojibake(texts: pl.Series) -> pl.Series:
    """`texts` with broken encodings mended; a row that does not look broken keeps its very bytes."""
    return change_where(texts, looks_broken(texts), _mend)


def looks_broken(texts: pl.Series) -> pl.Series:
    """Whether a row holds a run of characters that only a wrong encoding makes likely."""
    return texts.str.contains(_broken_pattern())


@cache
def _broken_pattern() -> str:
    from ftfy.badness import BADNESS_RE

    return _without_verbose(BADNESS_RE.pattern)


def _without_verbose(pattern: str) -> str:
    """A verbose Python pattern as a plain one: in Rust's verbose mode blanks inside [...] would not count."""
    parts = re.findall(r"\[(?:\\.|[^\]\\])*\]|\\.|#[^\n]*|\s+|.", pattern)
    return "".join(part for part in parts if not part.startswith("#") and not part.isspace())


def _mend(rows: pl.Series) -> pl.Series:
    import ftfy

    return pl.Series(rows.name, [ftfy.fix_encoding(row) for row in rows.to_list()], dtype=pl.String)
