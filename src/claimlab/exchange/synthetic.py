"""Machine-made text leaves claimlab only with its label, its origin and its change log.

In `meta` they are {"synthetic": {"label", "origin", "changes"}}, or flat as {"synthetic": true,
"origin", "change_log"}. An empty list of changes is a change log: it says that nothing was altered.
"""

from __future__ import annotations

import json

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb

MACHINE_MADE = ("MGT", "MTT", "HAT")


def machine_made(dataset: Dataset) -> pl.Expr:
    """Rows written or edited by a machine; in a synthetic dataset also rows without authorship."""
    marked = pl.col("authorship").is_in(MACHINE_MADE)
    return marked.fill_null(dataset.synthetic)


def require_labels(dataset: Dataset) -> None:
    """Raise unless every machine-made row, of the records and of tables that hold records, says
    what it is.
    """
    for table, frame in {"records": dataset.records, **dataset.tables}.items():
        if not {"id", "authorship", "meta"} <= set(frame.columns):
            continue
        rows = frame.filter(machine_made(dataset)).select("id", "meta").iter_rows()
        bare = [(i, lacking) for i, meta in rows if (lacking := lacks(meta))]
        if bare:
            first, lacking = bare[0]
            raise DataError(
                f"In '{table}', {several(len(bare), 'machine-made row')}"
                f" {verb(len(bare), 'does', 'do')} not say what"
                f" {verb(len(bare), 'it is', 'they are')}: '{first}' has no"
                f" {' and no '.join(lacking)} in its meta.",
                'Put {"synthetic": {"label": ..., "origin": ..., "changes": [...]}} into meta, then'
                " export.",
            )


def lacks(meta: str | None) -> list[str]:
    """Which of label, origin and change log a `meta` cell does not hold."""
    values = _object(meta)
    note = values.get("synthetic")
    if isinstance(note, dict):
        parts = {
            "label": note.get("label"),
            "origin": note.get("origin"),
            "change log": note.get("changes"),
        }
    else:
        label = True if note is True else None
        parts = {
            "label": label,
            "origin": values.get("origin"),
            "change log": values.get("change_log"),
        }
    return [what for what, value in parts.items() if value is None or value in ("", {})]


def _object(meta: str | None) -> JsonObject:
    try:
        values = json.loads(meta) if meta else {}
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}
