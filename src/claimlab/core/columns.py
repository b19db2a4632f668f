"""Read a column of the record table by name, whether it is a column of its own or a key inside
`meta`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import polars as pl

from claimlab.core.errors import SchemaError, UnknownName, UsageError
from claimlab.core.languages import describe
from claimlab.core.types import Json

NULL = "null"  # how a condition names a missing value

MAY_BE_EMPTY = (
    "text",
    "language",
    "date",
    "tweet_id",
    "author",
    "source",
    "url",
    "topic",
    "group",
    "split",
)

KEYS_LISTED = 30  # of meta, the most often filled

# What claimlab itself notes, and no column of the data: of synthetic text, which is on machine-made
# rows alone and names its label; a text before `clean` changed it; the row of the file; a date that
# cannot be read
OWN_KEYS = ("synthetic", "original_text", "row", "date_as_written")

LANGUAGE_FACTS = ("resource", "family", "script", "word_order")


def column_values(records: pl.DataFrame, name: str) -> pl.Series:
    """A record column by name, or a key inside `meta` (as `meta.party` or just `party`); values as
    they are.
    """
    if name in records.columns and name != "meta":
        return records[name]
    keys = meta_values(records)
    key = name.removeprefix("meta.")
    if key not in keys:
        raise UnknownName("column", name, [*records.columns, *(f"meta.{k}" for k in keys)])
    return keys[key].rename(name)


def matching(records: pl.DataFrame, where: Mapping[str, Sequence[object]]) -> pl.Series:
    """Whether each record has one of the given values in every named column, compared as text;
    "null" is a missing value. A column may also be what is known of the record's language: resource
    (head, tail), family, script or word_order."""
    both = pl.Series("matching", [True] * records.height, dtype=pl.Boolean)
    for name, values in where.items():
        texts = (
            _language_facts(records["language"], name)
            if name in LANGUAGE_FACTS
            else column_values(records, name)
        )
        here = texts.cast(pl.String).is_in([str(value) for value in values]).fill_null(False)
        both &= (here | texts.is_null()) if NULL in values else here
    return both


def conditions(
    where: Mapping[str, Sequence[str]] | Sequence[str], argument: str
) -> dict[str, tuple[str, ...]]:
    """`where` as column and values, however it was given; several values of a column are
    alternatives.
    """
    if isinstance(where, Mapping):
        return {
            name: (each,) if isinstance(each, str) else tuple(each) for name, each in where.items()
        }
    values: dict[str, tuple[str, ...]] = {}
    for words in [where] if isinstance(where, str) else where:
        name, sign, value = words.partition("=")
        if not sign or not name.strip():
            raise UsageError(
                f"`{argument}` cannot be '{words}'.", "Write COLUMN=VALUE; meta.KEY is a column."
            )
        values[name.strip()] = (*values.get(name.strip(), ()), value.strip())
    return values


def _language_facts(languages: pl.Series, name: str) -> pl.Series:
    codes = languages.drop_nulls().unique()
    facts = {code: getattr(describe(code), name, None) for code in codes}
    return languages.replace_strict(facts, default=None, return_dtype=pl.String)


def filled_columns(records: pl.DataFrame) -> pl.DataFrame:
    """One flag per record and column; columns that are always or never filled say nothing and are
    left out.
    """
    flags = {name: records[name].is_not_null() for name in MAY_BE_EMPTY}
    keys = {key: values for key, values in meta_values(records).items() if key not in OWN_KEYS}
    often = sorted(keys, key=lambda key: (keys[key].null_count(), key))[:KEYS_LISTED]
    flags |= {f"meta.{key}": keys[key].is_not_null() for key in sorted(often)}
    return pl.DataFrame(
        {name: flag for name, flag in flags.items() if 0 < flag.sum() < records.height}
    )


def meta_values(records: pl.DataFrame) -> dict[str, pl.Series]:
    """Every key inside `meta` with its values, null where a record does not have it; keys in order
    of their name.
    """
    try:
        parsed = [json.loads(m) if m else {} for m in records["meta"]]
    except ValueError:
        raise SchemaError(
            "The column 'meta' holds text that is not JSON.", "Make the dataset again."
        ) from None
    if not all(isinstance(row, dict) for row in parsed):
        raise SchemaError(
            "The column 'meta' holds JSON that is not an object.", "Make the dataset again."
        )
    keys = sorted({key for row in parsed for key in row})
    return {
        key: pl.Series(key, [_plain(row.get(key)) for row in parsed], strict=False) for key in keys
    }


def _plain(value: Json) -> Json:
    """Lists and objects as text, so that they can be compared."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return value
