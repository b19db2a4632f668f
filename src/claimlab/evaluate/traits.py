"""By what records can be told apart: their language and what is known of it, who made them and how, when and where.

A trait gives each record no value, one, or several (a text may use several techniques). Languages are looked up by
their ISO 639-3 code in the language table, whatever code a dataset wrote; the resource class is the dataset's own where
it has one, else the table's, so that a person's text has one as well as a machine's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.core.columns import column_values
from claimlab.core.languages import Language, describe

Values = Sequence[Sequence[str]]  # per record


def _of_language(fact: Callable[[Language], str | None]) -> Callable[[pl.DataFrame], Values]:
    def read(records: pl.DataFrame) -> Values:
        return _each(records["language"], lambda code: _one(fact(known) if (known := describe(code)) else None))

    return read


def _resource(records: pl.DataFrame) -> Values:
    own = _each(records["meta"], lambda m: _one(_meta(m).get("resource") or None))
    known = _of_language(lambda language: language.resource)(records)
    return [mine or table for mine, table in zip(own, known, strict=True)]


def _column(name: str) -> Callable[[pl.DataFrame], Values]:
    return lambda records: _each(records[name], _one)


def _date(form: str) -> Callable[[pl.DataFrame], Values]:
    return lambda records: _each(records["date"].dt.strftime(form), _one)


def _synthetic(*keys: str) -> Callable[[pl.DataFrame], Values]:
    """How a synthetic text was made, from `meta`: a top-level key, or one of its origin or change log."""

    def read(records: pl.DataFrame) -> Values:
        return _each(records["meta"], lambda m: _values(_meta(m), keys))

    return read


def _values(meta: Mapping[str, Any], keys: tuple[str, ...]) -> list[str]:
    synthetic = meta.get("synthetic")
    synthetic = synthetic if isinstance(synthetic, Mapping) else {}
    origin, changes = synthetic.get("origin"), synthetic.get("changes")
    places: list[Any] = [meta, origin, *(changes if isinstance(changes, list) else [])]
    for key in keys:
        entries = [
            place[key] for place in places if isinstance(place, Mapping) and place.get(key) not in (None, "", [])
        ]
        if entries:
            flat = [v for value in entries for v in (value if isinstance(value, list) else [value])]
            return list(dict.fromkeys(map(str, flat)))
    return []


TRAITS: dict[str, Callable[[pl.DataFrame], Values]] = {
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
USUAL = tuple(name for name in TRAITS if name != "month")  # what is shown when nothing was asked for
ALIASES = {"date": "year", "word_order": "word-order", "resource-class": "resource", "techniques": "technique"}


def trait(records: pl.DataFrame, name: str) -> Values:
    """The values of a trait, or of any record column or key of `meta`."""
    known = TRAITS.get(ALIASES.get(name, name))
    if known is not None:
        return known(records)
    return _each(column_values(records, name), _one)


def title(name: str) -> str:
    return {"resource": "resource class", "word-order": "word order"}.get(name, name)


def _each(values: pl.Series, read: Callable[[Any], list[str]]) -> Values:
    """`read` of every value, worked out once for each that there is: most traits have few values on many records."""
    lists = {value: read(value) for value in values.unique().to_list() if value is not None}
    return [lists.get(value, []) for value in values.to_list()]


def _one(value: Any) -> list[str]:
    return [] if value is None else [str(value)]


def _meta(text: str | None) -> Mapping[str, Any]:
    content = json.loads(text) if text else {}
    return content if isinstance(content, Mapping) else {}
