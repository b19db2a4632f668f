"""The tables behind a finding: words and values with counts per class, pairs of records, and whatever else it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimlab.audit.result import Example
from claimlab.core.finding import Finding
from claimlab.pages.blocks import Block, Cell, Fold, Table, Text
from claimlab.pages.excerpt import excerpt

OPEN = 8  # rows shown at once; the others are behind a line that opens
LISTED = 25  # record ids under a finding
INLINE = 3  # rows shown with their text under a finding
NAMES = {
    "words": ("words", "Word"),
    "values": ("values", "Value"),
    "slices": ("slices", "Slice"),
    "conflicts": ("under several labels", "Value"),
}
DRAWN = ("values", "slices")  # their picture is shown; the table stays behind a line
PICTURES = ("cloud", "histogram")  # shown as pictures only


@dataclass(frozen=True)
class Rows:
    """The records that a page shows: where each one's row is, and what it says."""

    links: Mapping[str, str]
    examples: Mapping[str, Example]

    def cell(self, record: str) -> Cell:
        return Cell(excerpt(record, 60), link=self.links.get(record))

    def text(self, record: str, limit: int = 160) -> str | None:
        found = self.examples.get(record)
        return None if found is None or found.text is None else excerpt(found.text, limit)

    def label(self, record: str) -> str | None:
        found = self.examples.get(record)
        return None if found is None else found.label


def detail_blocks(finding: Finding, rows: Rows) -> list[Block]:
    """Every table of a finding."""
    out: list[Block] = []
    for name, value in finding.details.items():
        if name in PICTURES or not (isinstance(value, list) and value and isinstance(value[0], Mapping)):
            continue
        if name == "pairs":
            out.append(pair_table(value, rows))
            continue
        title, head = NAMES.get(name, (name.replace("_", " "), ""))
        table = count_table(value, head) if "counts" in value[0] else plain_table(value)
        out += _folded(table, title, closed=name in DRAWN)
    return out


def record_blocks(finding: Finding, rows: Rows) -> list[Block]:
    """The records a finding names: the first with their text, more as links, and how many there are besides."""
    if not finding.records:
        return []
    shown = [r for r in finding.records if r in rows.links]
    if not shown:
        return [Text(f"It names {len(finding.records)} records; they are in audit.json.")]
    out: list[Block] = []
    if not finding.details.get("pairs"):
        body = [[rows.cell(r), rows.label(r), rows.text(r)] for r in shown[:INLINE]]
        out.append(Table(["Record", "Label", "Text"], body, sortable=False))
    rest = len(finding.records) - len(shown)
    more = f" ({rest} more in audit.json)" if rest else ""
    links = [(excerpt(r, 60), rows.links[r]) for r in shown[:LISTED]]
    return [*out, Text(f"Rows to look at{more}:", links=links)]


def count_table(rows: Sequence[Mapping[str, Any]], head: str) -> Table:
    """One row per word or value: in how many records of each class it stands, and the share of its records there."""
    classes = list(rows[0]["counts"])
    leans = any("leans" in row for row in rows)
    columns = [head or "Value", *classes, *(["More usual in"] if leans else [])]
    body: list[list[Any]] = []
    for row in rows:
        total = sum(row["counts"].values())
        line: list[Any] = [excerpt(str(row.get("word", row.get("value"))), 80)]
        for name in classes:
            n = int(row["counts"].get(name, 0))
            share = n / total if total else 0.0
            line.append(Cell(f"{n:,} ({100 * share:.1f} %)", sort=share + n * 1e-12))
        body.append([*line, row.get("leans")] if leans else line)
    return Table(columns, body, "Records per class; in brackets the share of the records in this row.")


def pair_table(pairs: Sequence[Mapping[str, str]], rows: Rows) -> Table:
    columns = ["Record", "Label", "Text", "Nearly the same as", "Label", "Text"]
    body = [
        [value for r in (p["record"], p["other"]) for value in (rows.cell(r), rows.label(r), rows.text(r, 120))]
        for p in pairs
    ]
    return Table(columns, body, sortable=False)


def plain_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return Table([c.replace("_", " ") for c in columns], [[_value(row.get(c)) for c in columns] for row in rows])


def _folded(table: Table, title: str, *, closed: bool) -> list[Block]:
    """A short table as it is; of a long one the first rows, and the whole of it behind a line that opens."""
    n = len(table.rows)
    if closed:
        return [Fold(f"The {n} {title} as a table" if n > 1 else f"The {title} as a table", [table])]
    if n <= OPEN:
        return [table]
    return [Table(table.columns, table.rows[:OPEN], table.caption), Fold(f"All {n} {title}", [table])]


def _value(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float) else excerpt(str(value), 200)
