"""What each column and side table of an export means, in a sentence."""

from __future__ import annotations

from claimlab.core import packaged

# What each column and side table means, in a sentence.
COLUMNS: dict[str, str] = packaged.toml("claimlab.exchange", "fields.toml")["columns"]
TABLES: dict[str, str] = packaged.toml("claimlab.exchange", "fields.toml")["tables"]
SYNTHETIC = (
    "This dataset holds machine-made text. Each such record says so in `authorship`, and carries"
    " its label, origin and change log in `meta`."
)


def field_summary(table: str, column: str) -> str | None:
    """A sentence for a column, where one is agreed; columns that a step added have none."""
    if column == "record_id":
        return "Id of the record that this row belongs to."
    if table in ("records", "dropped", "doubtful"):
        return COLUMNS.get(column)
    return "JSON object with whatever else is known." if column == "meta" else None
