"""The tables behind a finding: words and values with counts per class, pairs of records, and whatever else it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimlab.core.finding import Finding
from claimlab.report.blocks import Block, Cell, Fold, Table
from claimlab.report.excerpt import excerpt

OPEN = 8  # a table of at most this many rows is shown open
NAMES = {
    "words": ("Words", "Word"),
    "values": ("Values", "Value"),
    "slices": ("Slices", "Slice"),
    "conflicts": ("Under several labels", "Value"),
}
PICTURES = ("cloud", "histogram")  # shown as pictures only

Links = Mapping[str, str]  # record id -> where its row is shown


def detail_blocks(finding: Finding, links: Links) -> list[Block]:
    """Every table of a finding, those of few rows open."""
    out: list[Block] = []
    for name, value in finding.details.items():
        if name in PICTURES or not (isinstance(value, list) and value and isinstance(value[0], Mapping)):
            continue
        if name == "pairs":
            out.append(Fold(f"Pairs ({len(value)})", [pair_table(value, links)], open=True))
            continue
        title, head = NAMES.get(name, (name.replace("_", " ").capitalize(), ""))
        table = count_table(value, head) if "counts" in value[0] else plain_table(value)
        out.append(Fold(f"{title} ({len(value)})", [table], open=len(value) <= OPEN))
    return out


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


def pair_table(pairs: Sequence[Mapping[str, str]], links: Links) -> Table:
    rows = [[record_cell(p["record"], links), record_cell(p["other"], links)] for p in pairs]
    return Table(["Record", "Nearly the same as"], rows, "The texts are under the rows at the end of the page.")


def record_cell(record: str, links: Links) -> Cell:
    return Cell(excerpt(record, 60), link=links.get(record))


def plain_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return Table([c.replace("_", " ") for c in columns], [[_value(row.get(c)) for c in columns] for row in rows])


def _value(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float) else excerpt(str(value), 200)
