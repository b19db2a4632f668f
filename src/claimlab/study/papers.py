"""Figures that a study file takes from a paper by its table (`paper = "portuguese, Table 6"`): each
is typed once, in the catalogue's published.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from claimlab.core import packaged
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.types import JsonObject

Figure = JsonObject


def paper_table(name: str) -> JsonObject:
    """The `figures` that a paper prints in a table ("PAPER, TABLE"), and the paper's own `names`
    for ours.
    """
    papers = packaged.toml("claimlab.catalog", "published.toml")
    known = {
        f"{paper}, {table}": content
        for paper, tables in papers.items()
        for table, content in tables.items()
    }
    if name not in known:
        raise UnknownName("paper", name, list(known))
    table: JsonObject = known[name]
    return table


def with_papers(raw: Mapping[str, Any]) -> JsonObject:
    """The content of a study file, with the figures of the tables that its `[[published]]` and
    `[[show]]` name.
    """
    filled = dict(raw)
    for part, field in (("published", "figures"), ("show", "published")):
        if isinstance(raw.get(part), list):
            filled[part] = [_filled(each, field) for each in raw[part]]
    return filled


def _filled(part: Any, field: str) -> Any:
    if not isinstance(part, dict) or not isinstance(part.get("paper"), str):
        return part
    if field in part:
        raise UsageError(
            f"A table of a study has both `paper` and `{field}`.", "Give one of the two."
        )
    figures: list[Figure] = paper_table(part["paper"])["figures"]
    if "counts" in part:
        return {**part, "counts": [_counted(count, figures) for count in part["counts"]]}
    return {**part, field: figures}


def _counted(count: Any, figures: list[Figure]) -> Any:
    """A count whose `published` names rows of the table: one for every dataset, or one for each."""
    named = count.get("published", {}) if isinstance(count, dict) else {}
    rows = {figure["name"]: figure for figure in figures}
    for row in [named] if isinstance(named, str) else named.values():
        if row not in rows:
            raise UnknownName("row", str(row), rows)
    if isinstance(named, str):
        named = {dataset: named for dataset in rows[named] if dataset != "name"}
    return {**count, "published": {dataset: rows[row][dataset] for dataset, row in named.items()}}
