"""The tables behind a finding: its measurements, words and values per class, pairs of records, and
all else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from claimlab.audit.advice import name_of
from claimlab.audit.result import Audit, Example
from claimlab.audit.views.wording import MARKS, VERDICT_WORDS, check_title
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Columns,
    Fold,
    Section,
    Table,
    Text,
    Value,
    cell,
    decimal,
    excerpt,
    percent,
    points,
    points_span,
    probability,
    short,
    span,
)

ROWS_OPEN = 8  # rows shown at once; the others are behind a line that opens
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
MATRIX_NOTE = (
    "✗ fail, ! warn, ? inconclusive, ✓ pass, – not measured, · not run; the number is the score of"
    " the most severe finding, in %."
)
VERDICT = Column[Finding](
    "Verdict", lambda f: Cell(VERDICT_WORDS[f.verdict], VERDICTS.index(f.verdict), f.verdict)
)
BEST = Column[Finding]("Best baseline", lambda f: f.baselines.best(), percent)
P_FROM = {True: "a curve fitted to them", False: "their count"}
MEASUREMENT: Columns[Finding] = (
    Column("Baseline: majority class", "baselines.majority", percent),
    Column("Baseline: random guess by label proportions", "baselines.stratified", percent),
    Column("Baseline: permuted labels", "baselines.shuffled", percent),
    Column("Baseline: the records' own text", "baselines.own_text", percent),
    Column("Difference to the best, in points", "difference", points),
    Column("Its 95% interval", "difference_interval", points_span),
    Column("p", format=probability),
    Column("Adjusted p", "p_adjusted", probability),
    Column("Permutations"),
    Column("p comes from", "p_is_fitted", P_FROM.get),
    Column("Labels that a permutation moves, %", "moved", percent),
    Column("Labels that it would move freely, %", "moved_freely", percent),
    Column("Rows per class", lambda f: ", ".join(f"{name} {n:,}" for name, n in f.classes.items())),
)


def scored(finding: Finding) -> Cell:
    """The score with its interval, in percent."""
    score, interval = finding.score, finding.interval
    if score is None or interval is None:
        return percent(score)
    return Cell(f"{100 * score:.1f} ({span(interval).text})", sort=score)


FIGURES = (
    Column("Score (95% interval)", scored),
    BEST,
    Column[Finding]("Difference", "difference_interval", points_span),
    Column[Finding]("Adjusted p", "p_adjusted", probability),
)
MEASURED: Columns[Finding] = (
    Column("Verdict", lambda f: f.verdict.replace("-", " "), tone=lambda f: f.verdict),
    Column("Measured", name_of),
    *FIGURES,
)


def matrix(audits: Sequence[Audit], links: Mapping[tuple[int, str], str]) -> Section:
    """Datasets against checks, the most severe verdict of each: one row per audit. `links` leads
    from (number of the audit, check) to its section.
    """
    worst = {
        (number, check): audit.worst(check)
        for number, audit in enumerate(audits)
        for check in {finding.check for each in audits for finding in each.findings}
    }
    failed = [
        check for (_, check), finding in worst.items() if finding and finding.verdict == "fail"
    ]
    checks = sorted({check for _, check in worst}, key=lambda c: (-failed.count(c), c))
    rows = [
        [
            Cell(audit.dataset, link=links.get((number, ""))),
            *(_worst(worst[number, check], links.get((number, check))) for check in checks),
        ]
        for number, audit in enumerate(audits)
    ]
    table = Table(["Dataset", *map(check_title, checks)], rows, MATRIX_NOTE, upright=True)
    return Section("Overview matrix", [table], "matrix")


def _worst(finding: Finding | None, link: str | None) -> Cell:
    if finding is None:
        return Cell("·", sort=9.0)
    score = f" {100 * finding.score:.0f}" if finding.score is not None else ""
    # Sorts by verdict, then by score within it.
    order = VERDICTS.index(finding.verdict) - (finding.score or 0.0) / 2
    text = MARKS[finding.verdict] + score
    return Cell(text, float(order), finding.verdict, link=link, title=finding.why)


@dataclass(frozen=True)
class PageRecords:
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


def detail_blocks(finding: Finding, rows: PageRecords) -> Blocks:
    """Every table of a finding."""
    out: Blocks = []
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


def measurements(finding: Finding) -> Blocks:
    """What the verdict was reached with, other measurements of the fact below; every figure of
    `audit.json` behind a line that opens, one column per measurement."""
    measured = [f for f in finding.every if f.score is not None or f is not finding]
    if not measured or (finding.score is None and len(measured) == 1):
        return []
    caption = "Macro-F1 in %; the difference to the best baseline is a 95% interval in points."
    side_by_side = Table.of(MEASURED, measured, caption, sortable=False)
    body = [[cell(figure.head), *(cell(figure.of(f)) for f in measured)] for figure in MEASUREMENT]
    used = [row for row in body if any(value.text not in ("–", "") for value in row[1:])]
    every = Table(["Figure", *map(name_of, measured)], used, sortable=False)
    fold = Fold("Baselines, p and permutations", [every])
    # The sentence has the figures of a single one.
    return [side_by_side, fold] if len(measured) > 1 else [fold]


def record_blocks(finding: Finding, rows: PageRecords) -> Blocks:
    """The records a finding names: the first with their text, more as links, and how many there are
    besides.
    """
    if not finding.records:
        return []
    linked = [r for r in finding.records if r in rows.links]
    if not linked:
        return [Text(f"It names {several(finding.pointed_at, 'record')}; {_kept(finding)}.")]
    out: Blocks = []
    if not finding.details.get("pairs"):
        columns = (
            Column("Record", rows.cell),
            Column("Label", rows.label),
            Column("Text", rows.text),
        )
        out.append(Table.of(columns, linked[:INLINE], sortable=False))
    rest = finding.pointed_at - len(linked[:LISTED])
    more = f" ({rest:,} more; {_kept(finding)})" if rest else ""
    links = [(excerpt(r, 60), rows.links[r]) for r in linked[:LISTED]]
    return [*out, Text(f"Rows to look at{more}:", links=links)]


def _kept(finding: Finding) -> str:
    """Where the ids are, and that not all were kept."""
    if finding.records_in_all is None:
        return "audit.json has all of them"
    return f"the first {len(finding.records):,} are in audit.json"


def count_table(rows: Sequence[JsonObject], head: str) -> Table:
    """One row per word or value: in how many records of each class it occurs, and the share of its
    records there.
    """
    columns: list[Column[JsonObject]] = [
        Column(head or "Value", lambda row: row.get("word", row.get("value")), short(80), "None"),
        *(Column(name, partial(_share, name)) for name in rows[0]["counts"]),
        Column("More frequent in", lambda row: row.get("leans"), optional=True),
    ]
    return Table.of(columns, rows, "Records per class; in parentheses their share of the row.")


def _share(name: str, row: JsonObject) -> Cell:
    total = sum(row["counts"].values())
    n = int(row["counts"].get(name, 0))
    share = n / total if total else 0.0
    return Cell(f"{n:,} ({100 * share:.1f}%)", sort=share + n * 1e-12)


def pair_table(pairs: Sequence[JsonObject], rows: PageRecords) -> Table:
    """Two records a row, with how alike they are where that was measured."""
    columns: list[Column[JsonObject]] = []
    for key, head in (("record", "Record"), ("other", "Says the same as")):
        columns += [
            Column(head, key, rows.cell),
            Column("Label", key, rows.label),
            Column("Text", key, lambda record: rows.text(record, 120)),
        ]
    columns.append(
        Column("Cosine", lambda pair: pair.get("cosine"), partial(decimal, digits=2), optional=True)
    )
    return Table.of(columns, pairs, sortable=False)


def plain_table(rows: Sequence[JsonObject], records: PageRecords) -> Table:
    """Any rows as they are: a share per class becomes a column per class, a record has its text
    beside it.
    """
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(key for row in flat for key in row))
    columns: list[Column[JsonObject]] = [
        Column(name[:1].upper() + name[1:].replace("_", " "), partial(_listed, name, records))
        for name in names
    ]
    if "record" in names:
        columns.append(Column("Text", "record", lambda record: records.text(str(record))))
    return Table.of(columns, flat)


def _flat(row: JsonObject) -> JsonObject:
    out: JsonObject = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            out |= {f"{key}, {name} (%)": 100 * share for name, share in value.items()}
        else:
            out[key] = value
    return out


def _folded(table: Table, title: str, *, closed: bool) -> Blocks:
    """A short table as it is; of a long one the first rows, and the whole of it behind a line that
    opens.
    """
    n = len(table.rows)
    if closed:
        return [Fold(f"The {f'{n} ' if n > 1 else ''}{title} as a table", [table])]
    if n <= ROWS_OPEN:
        return [table]
    first = replace(table, rows=table.rows[:ROWS_OPEN], sortable=True)
    return [first, Fold(f"All {n} {title}", [table])]


def _listed(name: str, records: PageRecords, row: JsonObject) -> Value:
    value = row.get(name)
    if name == "record":
        return records.cell(str(value))
    if isinstance(value, float):
        return decimal(value, 3 if abs(value) < 1 else 1)
    return value if value is None or isinstance(value, bool | int) else excerpt(str(value), 200)
