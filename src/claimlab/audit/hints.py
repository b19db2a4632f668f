"""A cheap list of signals that a text may be impossible to check. Shown as hints, never as a
score.
"""

from __future__ import annotations

from functools import cache

import polars as pl

from claimlab.core import packaged


@cache
def signals() -> dict[str, dict[str, list[str]]]:
    return packaged.toml("claimlab.audit", "ambiguity.toml")


def hints(rows: pl.DataFrame) -> pl.DataFrame:
    """Per record id, the names of the signals its text shows (a list, maybe empty). Unknown
    languages use English.
    """
    if not rows.height:
        return pl.DataFrame(schema={"id": pl.String, "signals": pl.List(pl.String)})
    columns = []
    language = rows["language"].fill_null("eng")
    for name, by_language in signals().items():
        seen = pl.Series(name, [False] * rows.height)
        for code, patterns in by_language.items():
            if not patterns:
                continue
            here = (
                language == code
                if code != "eng"
                else ~language.is_in([c for c in by_language if c not in ("eng", "any")])
            )
            seen = seen | (
                here & rows["text"].str.contains(f"(?i)(?:{'|'.join(patterns)})").fill_null(False)
            )
        columns.append(seen.alias(name))
    flags = pl.DataFrame(columns)
    lists = flags.select(
        pl.concat_list([pl.when(pl.col(c)).then(pl.lit(c)) for c in flags.columns])
        .list.drop_nulls()
        .alias("signals")
    )
    return pl.DataFrame({"id": rows["id"], "signals": lists["signals"]})
