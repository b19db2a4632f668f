"""The subgroups of records: by language and its properties, by how they were made, by time and by
source.

A trait gives each record no value, one, or several (a text may use several techniques). Languages
are looked up by their ISO 639-3 code in the language table, whatever code a dataset wrote; the
resource class is the dataset's own where it has one, else the table's, so that a person's text has
one as well as a machine's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from claimlab.core.columns import column_values
from claimlab.core.languages import Language, describe
from claimlab.core.types import JsonObject

if TYPE_CHECKING:
    pass


# `row` and `value`, one line for each value that a record has, in the order of the records
Values = pl.DataFrame
Trait = Callable[[pl.DataFrame], Values]
ALIASES = {
    "date": "year",
    "word_order": "word-order",
    "resource-class": "resource",
    "techniques": "technique",
}


def _of_language(fact: Callable[[Language], str | None]) -> Trait:
    def read(records: pl.DataFrame) -> Values:
        return _each(
            records["language"],
            lambda code: _one(fact(language) if (language := describe(code)) else None),
        )

    return read


def _resource(records: pl.DataFrame) -> Values:
    own = _from_meta(records, ("resource",), lambda meta: _one(meta.get("resource") or None))
    by_language = _of_language(lambda language: language.resource)(records)
    return pl.concat([own, by_language.join(own, on="row", how="anti")]).sort("row")


def _column(name: str) -> Trait:
    return lambda records: _alone(records[name])


def _date(form: str) -> Trait:
    return lambda records: _alone(records["date"].dt.strftime(form))


def _synthetic(*keys: str) -> Trait:
    """How a synthetic text was made, from `meta`: a top-level key, or one of its origin or change
    log.
    """
    return lambda records: _from_meta(records, keys, lambda meta: _first_key(meta, keys))


def _first_key(meta: JsonObject, keys: tuple[str, ...]) -> list[str]:
    synthetic = meta.get("synthetic")
    synthetic = synthetic if isinstance(synthetic, Mapping) else {}
    origin, changes = synthetic.get("origin"), synthetic.get("changes")
    places: list[Any] = [meta, origin, *(changes if isinstance(changes, list) else [])]
    for key in keys:
        values = [
            place[key]
            for place in places
            if isinstance(place, Mapping) and place.get(key) not in (None, "", [])
        ]
        if values:
            flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
            return list(dict.fromkeys(map(str, flat)))
    return []


TRAITS: dict[str, Trait] = {
    "language": _column("language"),
    "family": _of_language(lambda language: language.family),
    "script": _of_language(lambda language: language.script),
    "word-order": _of_language(lambda language: language.word_order),
    "resource": _resource,
    "authorship": _column("authorship"),
    "model": _synthetic("model", "mLLM"),
    "technique": _synthetic("techniques", "technique", "kind", "technique_keys"),
    "degree": _synthetic("degree", "intensity"),
    "kind": _column("kind"),
    "topic": _column("topic"),
    "source": _column("source"),
    "year": _date("%Y"),
    "month": _date("%Y-%m"),
}
# those that are shown when none was named
USUAL = [name for name in TRAITS if name != "month"]


def trait(records: pl.DataFrame, name: str) -> Values:
    """The values of a trait, or of any record column or key of `meta`."""
    read = TRAITS.get(ALIASES.get(name, name))
    if read is not None:
        return read(records)
    values = column_values(records, name)
    return _alone(values) if values.dtype == pl.String else _each(values, _one)


def title(name: str) -> str:
    return {"resource": "resource class", "word-order": "word order"}.get(name, name)


def _each(values: pl.Series, read: Callable[[Any], list[str]]) -> Values:
    """`read` of every value, computed once per distinct value: most columns have few values on many
    records.
    """
    distinct = values.unique().drop_nulls()
    results = pl.Series([read(value) for value in distinct.to_list()], dtype=pl.List(pl.String))
    table = pl.DataFrame({"key": distinct, "value": results})
    rows = (
        pl.DataFrame({"key": values})
        .with_row_index("row")
        .join(table, on="key", how="inner", maintain_order="left")
    )
    return rows.select("row", "value").explode("value").drop_nulls("value")


def _alone(values: pl.Series) -> Values:
    """Texts of which a record has at most one."""
    return pl.DataFrame({"value": values}).with_row_index("row").drop_nulls("value")


def _from_meta(
    records: pl.DataFrame, keys: tuple[str, ...], read: Callable[[JsonObject], list[str]]
) -> Values:
    """`read` of every `meta` that has one of the keys; only those are parsed."""
    meta = records["meta"].cast(pl.String)
    present = meta.str.contains_any([f'"{key}"' for key in keys]).fill_null(False)
    return _each(meta.set(~present, None), lambda text: read(_object(text)))


def _one(value: Any) -> list[str]:
    return [] if value is None else [str(value)]


def _object(text: str) -> JsonObject:
    content = json.loads(text)
    return content if isinstance(content, dict) else {}
