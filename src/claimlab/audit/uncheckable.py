"""Signals that a text may be impossible to check: shown as hints, never as a score."""

from __future__ import annotations

import polars as pl

from claimlab.core import packaged


def hints(rows: pl.DataFrame) -> pl.DataFrame:
    """Per record id, the names of the signals its text shows (a list, maybe empty). Unknown
    languages use English.
    """
    if not rows.height:
        return pl.DataFrame(schema={"id": pl.String, "signals": pl.List(pl.String)})
    signals = []
    language = pl.col("language").fill_null("eng")
    for name, by_language in packaged.toml("claimlab.audit", "ambiguity.toml").items():
        others = [code for code in by_language if code not in ("eng", "any")]
        seen = [
            (~language.is_in(others) if code == "eng" else language == code)
            & pl.col("text").str.contains(f"(?i)(?:{'|'.join(patterns)})")
            for code, patterns in by_language.items()
            if patterns
        ]
        signals.append(pl.when(pl.any_horizontal(seen).fill_null(False)).then(pl.lit(name)))
    return rows.select("id", signals=pl.concat_list(signals).list.drop_nulls())
