"""Reading tables that circulate in several spellings: headers in any case, any delimiter, any encoding, dates in many forms.

Loaders written from a published description meet copies that differ from it in small ways. What these functions forgive
is the form; a column that is not there under any of its names is still an error that names the columns found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import polars as pl

from claimlab.catalog.datasets._layout import distinct
from claimlab.core.errors import UnreadableFile
from claimlab.core.labels import fold, general
from claimlab.core.languages import normalise
from claimlab.files.bundle import Bundle
from claimlab.files.tables import frame_of, read_delimited, read_excel, read_json, read_json_lines, read_parquet

DELIMITERS = (",", "\t", ";", "|")


def pick(frame: pl.DataFrame, *spellings: str, where: str) -> pl.Series:
    """The column known by any of `spellings` (case, blanks and punctuation aside), as text; `where` names the file."""
    found = _find(frame, spellings)
    if found is None:
        raise UnreadableFile(
            f"'{where}' has no column {' or '.join(map(repr, spellings))} (it has: {', '.join(frame.columns[:20])}).",
            "Give the file as published, or rename its column.",
        )
    return frame[found].cast(pl.String)


def maybe(frame: pl.DataFrame, *spellings: str) -> pl.Series:
    """Like `pick`, but a column of nulls when there is none."""
    found = _find(frame, spellings)
    return frame[found].cast(pl.String) if found is not None else constant(None, frame.height)


def _find(frame: pl.DataFrame, spellings: Sequence[str]) -> str | None:
    names: dict[str, str] = {}
    for column in frame.columns:
        names.setdefault(_plain(column), column)
    return next((names[_plain(s)] for s in spellings if _plain(s) in names), None)


def _plain(name: str) -> str:
    return re.sub(r"[^0-9a-z]+", "", name.casefold())


def read_any_table(
    bundle: Bundle, name: str, *, quoted: bool = True, delimiter: str | None = None, western: bool = False
) -> pl.DataFrame:
    """The table in member `name`, every column as text: Parquet, Excel, JSON, JSON lines, or delimited by whatever its
    header shows. `western` says that what is not UTF-8 is latin-1 or its Windows cousin, so that nothing is guessed."""
    suffix = name.rsplit(".", 1)[-1].lower()
    if suffix == "parquet":
        return read_parquet(bundle.read(name), name)
    if suffix in ("xlsx", "xls"):
        return read_excel(bundle.read(name), name)
    text = western_text(bundle, name) if western else bundle.text(name)
    start = text.lstrip()[:1]
    if start == "{" and suffix in ("json", "jsonl", "ndjson"):
        return frame_of(read_json_lines(text, name))
    if start == "[" and suffix == "json":
        return frame_of(read_json(text, name))
    return read_delimited(text, delimiter=delimiter or sniff_delimiter(text), quoted=quoted)


def read_tables(bundle: Bundle, names: Iterable[str], **how: Any) -> pl.DataFrame:
    """Several members under each other; a column that one of them lacks is null there."""
    return pl.concat([read_any_table(bundle, n, **how) for n in names], how="diagonal_relaxed")


def western_text(bundle: Bundle, name: str) -> str:
    """UTF-8, or else cp1252, or else latin-1: a detector shown a few accents in English text may well guess Korean."""
    data = bundle.read(name)
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def sniff_delimiter(text: str) -> str:
    """The delimiter that the first line holds most of, outside quotes; a comma when it holds none."""
    line = next((ln for ln in text[: 1 << 16].splitlines() if ln.strip()), "")
    bare = re.sub(r'"[^"]*"', "", line)
    return max(DELIMITERS, key=bare.count)


def constant(value: str | None, height: int) -> pl.Series:
    return pl.Series([value], dtype=pl.String).new_from_index(0, height)


def filled(first: pl.Series, second: pl.Series) -> pl.Series:
    """`first`, and `second` where the first is blank."""
    return blank_to_null(first).fill_null(second)


def blank_to_null(values: pl.Series) -> pl.Series:
    stripped = values.str.strip_chars()
    return stripped.set(stripped == "", None)


def dates(raw: pl.Series, *formats: str) -> pl.Series:
    """`raw` as UTC times without a zone: ISO 8601, Unix seconds, or one of `formats`. What none of them reads is null:
    a wrong date is worse than none, because temporal checks and splits trust it."""
    known = {text: _moment(text, formats) for text in raw.drop_nulls().unique().to_list()}
    return pl.Series("date", [known.get(text) for text in raw.to_list()], dtype=pl.Datetime("us"))


def _moment(text: str, formats: Sequence[str]) -> datetime | None:
    value = text.strip()
    if re.fullmatch(r"\d{9,10}(\.\d+)?", value):
        return datetime.fromtimestamp(float(value), UTC).replace(tzinfo=None)
    for read in (datetime.fromisoformat, *(_strptime(f) for f in formats)):
        try:
            moment: datetime = read(value)
        except ValueError:
            continue
        if moment.year < 1900 or (moment.year, moment.month, moment.day) == (1970, 1, 1):
            return None  # what scrapers write when they found no date
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    return None


def _strptime(form: str) -> Any:
    return lambda value: datetime.strptime(value, form)


def dated(moments: pl.Series, source: str) -> pl.Series:
    """The `date_source` column: where each date came from, null where there is no date."""
    return pl.Series("date_source", [None if m is None else source for m in moments.to_list()], dtype=pl.String)


def languages(raw: pl.Series) -> pl.Series:
    """Codes, tags or English names as ISO 639-3; what nothing is known by is null."""
    known = {code: normalise(code) for code in raw.drop_nulls().unique().to_list()}
    return pl.Series("language", [known.get(code) for code in raw.to_list()], dtype=pl.String)


def unique_ids(prefix: str, keys: pl.Series) -> pl.Series:
    """`prefix-key`, with "-2", "-3" behind a key that comes again and the row's number for a missing one."""
    texts = keys.cast(pl.String).to_list()
    names = [f"{prefix}-{(key or '').strip() or f'row{row}'}" for row, key in enumerate(texts, 1)]
    return distinct(pl.Series("id", names, dtype=pl.String)).alias("id")


def repeated(texts: pl.Series, ids: pl.Series) -> pl.Series:
    """A group for rows that say the same (case and white space aside): the id of the first; null where a text stands once."""
    key = texts.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    frame = pl.DataFrame({"key": key, "id": ids})
    again = pl.col("key").is_not_null() & (pl.len().over("key") > 1)
    return frame.select(pl.when(again).then(pl.col("id").first().over("key")).alias("group"))["group"]


def rating_verdicts(own: Mapping[str, str]) -> dict[str, str]:
    """The house's verdicts on fact-checkers' ratings, with a dataset's `own` on top: for sources with an open list of ratings."""
    return {fold(raw): v for raw, v in general().verdicts.items()} | {fold(raw): v for raw, v in own.items()}
