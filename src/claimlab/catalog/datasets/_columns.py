"""What several loaders need to read foreign tables: columns by any of their spellings, dates, and plain remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from claimlab.core.errors import UnreadableFile

Spellings = Mapping[str, str | Sequence[str]]

_PLAIN = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%B %d, %Y", "%b %d, %Y", "%d-%b-%y", "%m/%d/%Y",
)  # fmt: skip
_ZONED = ("%Y-%m-%d %H:%M:%S%.f%:z", "%Y-%m-%dT%H:%M:%S%.f%#z", "%a %b %d %H:%M:%S %z %Y")


def pick(frame: pl.DataFrame, where: str, needed: Spellings, optional: Spellings | None = None) -> pl.DataFrame:
    """The columns of `frame` under our names. Case does not matter; a needed one that is absent is named in an error.

    Copies of a dataset circulate with other headers, so each column may have several spellings, the best first.
    An optional column that is absent is null.
    """
    found = {c.strip().lower(): c for c in reversed(frame.columns)}
    out = []
    for name, spellings in {**needed, **(optional or {})}.items():
        wanted = (spellings,) if isinstance(spellings, str) else spellings
        column = next((found[w.lower()] for w in wanted if w.lower() in found), None)
        if column is not None:
            out.append(pl.col(column).alias(name))
        elif name in needed:
            raise UnreadableFile(
                f"'{where}' has no column {' or '.join(map(repr, wanted))} (it has: {', '.join(frame.columns[:12])}).",
                "Give the file as its authors publish it.",
            )
        else:
            out.append(pl.lit(None, dtype=pl.String).alias(name))
    return frame.select(out)


def utc(texts: pl.Series) -> pl.Series:
    """Dates in the spellings that these datasets use, as UTC without a zone; what is no date becomes null."""
    clean = texts.str.strip_chars()
    tries = [clean.str.to_datetime(f, strict=False, time_unit="us") for f in _PLAIN]
    for form in _ZONED:
        zoned = clean.str.to_datetime(form, strict=False, time_unit="us", time_zone="UTC")
        tries.append(zoned.dt.replace_time_zone(None))
    return pl.select(pl.coalesce(tries).alias("date")).to_series()


def with_dates(records: pl.DataFrame, source: str = "date column") -> pl.DataFrame:
    """`records` with its text column `date` parsed, and `date_source` where there is a date."""
    times = utc(records["date"])
    named = pl.when(times.is_not_null()).then(pl.lit(source)).alias("date_source")
    return records.with_columns(times).with_columns(named)


def part_of(found: int, published: int, what: str) -> list[str]:
    """A remark when the files at hand hold less than was published: published shares are of the whole."""
    if found >= published:
        return []
    return [
        f"These files hold {found:,} of the {published:,} published {what}; label shares differ from the published."
    ]
