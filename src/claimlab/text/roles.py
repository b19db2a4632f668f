"""The columns that say who or what a record comes from: its publisher, author, event, thread or
article.

A published result has them as numbers without names, in columns called "role." and the name.
"""

from __future__ import annotations

import polars as pl

from claimlab.text.urls import domains

COLUMNS = ("source", "author", "group")
META_KEYS = ("speaker", "event", "thread", "article")
ROLES = (*COLUMNS, "domain", *META_KEYS)
NUMBERED = "role."  # before the name of a column that holds numbers for names


def roles_in(records: pl.DataFrame) -> dict[str, pl.Series]:
    """The role columns of these records in which a value occurs twice at least, by name."""
    numbered = {
        name.removeprefix(NUMBERED): records[name]
        for name in records.columns
        if name.startswith(NUMBERED)
    }
    columns = {name: records[name] for name in COLUMNS if name in records.columns}
    if "url" in records.columns and records["url"].null_count() < records.height:
        columns["domain"] = domains(records["url"])
    columns |= _in_meta(records) | numbered
    return {name: values for name, values in columns.items() if _recurs(values)}


def role_values(records: pl.DataFrame, name: str) -> pl.Series | None:
    """The values of a role column; null where the records do not have it."""
    return roles_in(records).get(name)


def _in_meta(records: pl.DataFrame) -> dict[str, pl.Series]:
    if "meta" not in records.columns:
        return {}
    meta = records["meta"].cast(pl.String)
    present = [key for key in META_KEYS if meta.str.contains(f'"{key}"', literal=True).any()]
    return {key: meta.str.json_path_match(f"$.{key}") for key in present}


def _recurs(values: pl.Series) -> bool:
    filled = values.drop_nulls()
    return 1 < filled.n_unique() < filled.len()
