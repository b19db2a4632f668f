"""The tables behind a finding: its measurements, words and values per class, pairs of records, and
all else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimlab.audit.advice import name_of
from claimlab.audit.result import Example
from claimlab.core.finding import Finding
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import Block, Cell, Fold, Table, Text, cell, decimal, percent, span
from claimlab.pages.excerpt import excerpt

SCORE = "Score (95% interval)"
OPEN = 8  # rows shown at once; the others are behind a line that opens
LISTED = 25  # record ids under a finding
INLINE = 3  # rows shown with their text under a finding
NAMES = {
    "words": ("words", "Word"),
    "values": ("values", "Value"),
    "slices": ("slices", "Slice"),
    "conflicts": ("values with several labels", "Value"),
    "filled": ("columns", "Column"),
    "review": ("labels to review", "Record"),
}
DRAWN = ("values", "slices")  # their chart is shown; the table is folded
CHARTS = ("cloud", "histogram")  # shown as charts only


@dataclass(frozen=True)
class Rows:
    """The records that a page shows: where each one's row is, and what it says."""

    links: Mapping[str, str]
    examples: Mapping[str, Example]

    def cell(self, record: str) -> Cell:
        return Cell(excerpt(record, 60), link=self.links.get(record))

    def text(self, record: str, limit: int = 160) -> str | None:
        example = self.examples.get(record)
        return None if example is None or example.text is None else excerpt(example.text, limit)

    def label(self, record: str) -> str | None:
        example = self.examples.get(record)
        return None if example is None else example.label


def detail_blocks(finding: Finding, rows: Rows) -> list[Block]:
    """Every table of a finding."""
    out: list[Block] = []
    for name, value in finding.details.items():
        if name in CHARTS or not (
            isinstance(value, list) and value and isinstance(value[0], Mapping)
        ):
            continue
        if name == "pairs":
            out.append(pair_table(value, rows))
            continue
        title, head = NAMES.get(name, (name.replace("_", " "), ""))
        table = count_table(value, head) if "counts" in value[0] else plain_table(value, rows)
        out += _folded(table, title, closed=name in DRAWN)
    return out


def measurements(finding: Finding) -> list[Block]:
    """What the verdict was reached with, other measurements of the fact below; every figure of
    `audit.json` behind a line that opens, one column per measurement."""
    known = [f for f in finding.every if f.score is not None or f is not finding]
    if not known or (finding.score is None and len(known) == 1):
        return []
    columns = ("Verdict", "Measured", SCORE, "Best baseline", "Difference", "Adjusted p")
    caption = "Macro-F1 in %; the difference to the best baseline is a 95% interval in points."
    side_by_side = Table(columns, [_decided(f) for f in known], caption, sortable=False)
    figures = [_measured(f) for f in known]
    body = [[cell(name), *(cell(of_one[name]) for of_one in figures)] for name in figures[0]]
    used = [row for row in body if any(value.text not in ("–", "") for value in row[1:])]
    every = Table(["Figure", *(name_of(f) for f in known)], used, sortable=False)
    fold = Fold("Baselines, p and permutations", [every])
    return (
        [side_by_side, fold] if len(known) > 1 else [fold]
    )  # the sentence has the figures of a single one


def _decided(f: Finding) -> list[Any]:
    return [
        Cell(f.verdict.replace("-", " "), tone=f.verdict),
        name_of(f),
        scored(f),
        percent(f.baselines.best()),
        points(f.difference_interval),
        probability(f.p_adjusted),
    ]


def _measured(f: Finding) -> JsonObject:
    return {
        "Baseline: majority class": percent(f.baselines.majority),
        "Baseline: random guess by label proportions": percent(f.baselines.stratified),
        "Baseline: permuted labels": percent(f.baselines.shuffled),
        "Baseline: the records' own text": percent(f.baselines.own_text),
        "Difference to the best, in points": (
            None if f.difference is None else Cell(f"{100 * f.difference:+.1f}", sort=f.difference)
        ),
        "Its 95% interval": points(f.difference_interval),
        "p": probability(f.p),
        "Adjusted p": probability(f.p_adjusted),
        "Permutations": f.permutations,
        "Labels that a permutation moves, %": percent(f.moved),
        "Labels that it would move freely, %": percent(f.moved_freely),
        "Rows per class": ", ".join(f"{c} {n:,}" for c, n in f.classes.items()),
    }


def scored(f: Finding) -> Cell:
    """The score with its interval, in percent."""
    if f.score is None or f.interval is None:
        return percent(f.score)
    return Cell(f"{100 * f.score:.1f} ({span(f.interval).text})", sort=f.score)


def points(interval: tuple[float, float] | None) -> Cell:
    """An interval of differences, in points."""
    if interval is None:
        return cell(None)
    return Cell(f"{100 * interval[0]:+.1f} to {100 * interval[1]:+.1f}", sort=interval[0])


def probability(p: float | None) -> Cell:
    return cell(None) if p is None else Cell("< 0.001" if p < 0.001 else f"{p:.3f}", sort=p)


def record_blocks(finding: Finding, rows: Rows) -> list[Block]:
    """The records a finding names: the first with their text, more as links, and how many there are
    besides.
    """
    if not finding.records:
        return []
    shown = [r for r in finding.records if r in rows.links]
    if not shown:
        return [Text(f"It names {several(finding.pointed_at, 'record')}; {_kept(finding)}.")]
    out: list[Block] = []
    if not finding.details.get("pairs"):
        body = [[rows.cell(r), rows.label(r), rows.text(r)] for r in shown[:INLINE]]
        out.append(Table(["Record", "Label", "Text"], body, sortable=False))
    rest = finding.pointed_at - len(shown[:LISTED])
    more = f" ({rest:,} more; {_kept(finding)})" if rest else ""
    links = [(excerpt(r, 60), rows.links[r]) for r in shown[:LISTED]]
    return [*out, Text(f"Rows to look at{more}:", links=links)]


def _kept(finding: Finding) -> str:
    """Where the ids are, and that not all were kept."""
    cut = finding.records_in_all is not None
    return (
        f"the first {len(finding.records):,} are in audit.json"
        if cut
        else "audit.json has all of them"
    )


def count_table(rows: Sequence[Mapping[str, Any]], head: str) -> Table:
    """One row per word or value: in how many records of each class it occurs, and the share of its
    records there.
    """
    classes = list(rows[0]["counts"])
    leans = any("leans" in row for row in rows)
    columns = [head or "Value", *classes, *(["More frequent in"] if leans else [])]
    body: list[list[Any]] = []
    for row in rows:
        total = sum(row["counts"].values())
        line: list[Any] = [excerpt(str(row.get("word", row.get("value"))), 80)]
        for name in classes:
            n = int(row["counts"].get(name, 0))
            share = n / total if total else 0.0
            line.append(Cell(f"{n:,} ({100 * share:.1f}%)", sort=share + n * 1e-12))
        body.append([*line, row.get("leans")] if leans else line)
    return Table(columns, body, "Records per class; in parentheses their share of the row.")


def pair_table(pairs: Sequence[Mapping[str, Any]], rows: Rows) -> Table:
    """Two records a row, with how alike they are where that was measured."""
    measured = any("cosine" in pair for pair in pairs)
    columns = [
        "Record",
        "Label",
        "Text",
        "Says the same as",
        "Label",
        "Text",
        *(["Cosine"] if measured else []),
    ]
    body: list[list[Any]] = [
        [
            value
            for r in (p["record"], p["other"])
            for value in (rows.cell(r), rows.label(r), rows.text(r, 120))
        ]
        + ([decimal(p.get("cosine"), 2)] if measured else [])
        for p in pairs
    ]
    return Table(columns, body, sortable=False)


def plain_table(rows: Sequence[Mapping[str, Any]], shown: Rows) -> Table:
    """Any rows as they are: a share per class becomes a column per class, a record has its text
    beside it.
    """
    flat = [_flat(row) for row in rows]
    columns = list(dict.fromkeys(key for row in flat for key in row))
    body: list[list[Any]] = [
        [_value(name, row.get(name), shown) for name in columns] for row in flat
    ]
    if "record" in columns:
        columns.append("text")
        body = [
            [*line, shown.text(str(row["record"]))] for line, row in zip(body, flat, strict=True)
        ]
    return Table([name[:1].upper() + name[1:].replace("_", " ") for name in columns], body)


def _flat(row: Mapping[str, Any]) -> JsonObject:
    out: JsonObject = {}
    for key, value in row.items():
        out.update(
            {f"{key}, {c} (%)": 100 * x for c, x in value.items()}
            if isinstance(value, Mapping)
            else {key: value}
        )
    return out


def _folded(table: Table, title: str, *, closed: bool) -> list[Block]:
    """A short table as it is; of a long one the first rows, and the whole of it behind a line that
    opens.
    """
    n = len(table.rows)
    if closed:
        return [
            Fold(f"The {n} {title} as a table" if n > 1 else f"The {title} as a table", [table])
        ]
    if n <= OPEN:
        return [table]
    return [
        Table(table.columns, table.rows[:OPEN], table.caption),
        Fold(f"All {n} {title}", [table]),
    ]


def _value(name: str, value: Any, shown: Rows) -> Any:
    if name == "record":
        return shown.cell(str(value))
    if isinstance(value, float):
        return decimal(value, 3 if abs(value) < 1 else 1)
    return value if value is None or isinstance(value, bool | int) else excerpt(str(value), 200)
