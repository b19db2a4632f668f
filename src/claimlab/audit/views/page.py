"""The report on one or several audits, and its shorter versions for when a page would grow too
large."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from claimlab.audit.advice_rules import ALARMS
from claimlab.audit.result import FILE, PER_FINDING, Audit, Example, pointed_at
from claimlab.audit.views import pictures
from claimlab.audit.views.compare import comparison, left_over, what_was_done
from claimlab.audit.views.first_screen import Places, first_screen, tone_of, verdict_words
from claimlab.audit.views.tables import (
    BEST,
    FIGURES,
    VERDICT,
    PageRecords,
    detail_blocks,
    matrix,
    measurements,
    record_blocks,
)
from claimlab.audit.views.wording import (
    VERDICT_WORDS,
    check_title,
    conclusion_blocks,
    explanation,
    finding_title,
    headline,
    in_a_line,
    ordered,
    protocol_sections,
    verdict_line,
)
from claimlab.core.finding import UNMEASURED, VERDICTS, Finding, Verdict
from claimlab.core.guard import AUDIT
from claimlab.core.plain import slug
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Columns,
    Figure,
    Fold,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    Tone,
    excerpt,
    percent,
    short,
    span,
)
from claimlab.pages.folder import Contents, write_report

if TYPE_CHECKING:
    from claimlab.audit.fix import Repaired

ROW_TEXT = 160  # characters
LONG, SHORT = 8, 5  # of more than LONG findings of a check, the first SHORT are shown unfolded
MOST_CHARTED_DATASETS = 3  # datasets: above this, only alarms get charts
PAPER: Columns[Finding] = (
    Column("Check", format=check_title),
    Column("Feature", format=short(36), missing=""),
    Column("Verdict", format=VERDICT_WORDS.get, tone=lambda f: f.verdict),
    Column("Score", format=percent),
    Column("95% interval", "interval", span),
    BEST,
    Column("n"),
)
GROUPS: dict[Verdict, str] = {
    "fail": "Fails",
    "warn": "Warns",
    "inconclusive": "Inconclusive",
    "pass": "Passes",
    "not-measured": "Not measured",
    "not-applicable": "Not applicable",
}
POINTS = "In brackets: by how many percentage points a finding can change a score, at most."
KIND = AUDIT
MOST_BYTES = 400_000  # of the page of one audit
REPORT = "report"
REMOVED = "removed.json"  # the ids that a repair took out


@dataclass(frozen=True)
class PageDetail:
    """How much a page carries."""

    rows: int = PER_FINDING  # records shown per finding
    figures: Literal["all", "alarms", "none"] = "all"
    tables: bool = True
    left_out: str = ""


# Fullest first; the first version that fits the page's limit is the one written.
DETAILS = (
    PageDetail(),
    PageDetail(rows=4, left_out="most rows"),
    PageDetail(rows=4, figures="alarms", left_out="most rows, and charts of checks that passed"),
    PageDetail(rows=0, figures="none", left_out="rows and charts"),
    PageDetail(
        rows=0,
        figures="none",
        tables=False,
        left_out="rows, charts and the tables behind the findings",
    ),
)


@dataclass
class Chapter:
    """One audit with everything that a page shows; charts are drawn once for all versions of the
    page.
    """

    audit: Audit
    number: int
    alarms_only: bool = False
    figures: dict[int, list[Figure]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        drawn = ALARMS if self.alarms_only else set(VERDICTS) - {*UNMEASURED}
        for i, finding in enumerate(self.audit.findings):
            if finding.verdict in drawn:
                self.figures[i] = pictures.of_finding(
                    finding, f"{self.name}-{slug(finding.check)}-{i + 1}"
                )

    @property
    def name(self) -> str:
        """Names files and anchors; two audits of one dataset do not collide."""
        return f"{self.number + 1:02d}-{slug(self.audit.dataset)}"

    @cached_property
    def overview(self) -> list[Figure]:
        return pictures.overview(self.audit, self.name)

    @cached_property
    def feasibility(self) -> list[Figure]:
        return pictures.feasibility([self.audit], self.name)

    def link(self, finding: Finding) -> str:
        return f"#{self.anchor(finding.check)}"

    def anchor(self, check: str = "") -> str:
        return f"{self.name}-{slug(check)}".strip("-")

    def row_links(self, rows: int) -> dict[str, str]:
        """Record id -> anchor of its row, for the rows that are shown."""
        wanted = {i for f in self.audit.findings for i in pointed_at(f, rows)}
        ids = [e.id for e in self.audit.examples if e.id in wanted]
        return {record: f"#{self.name}-row-{i + 1}" for i, record in enumerate(ids)}

    def rows(self, detail: PageDetail) -> PageRecords:
        return PageRecords(self.row_links(detail.rows), {e.id: e for e in self.audit.examples})


def chapters(audits: Sequence[Audit]) -> list[Chapter]:
    return [
        Chapter(a, i, alarms_only=len(audits) > MOST_CHARTED_DATASETS) for i, a in enumerate(audits)
    ]


def report(parts: Sequence[Chapter], detail: PageDetail = DETAILS[0]) -> Report:
    """One page for one dataset, or the matrix and a chapter for each of several."""
    audits = [p.audit for p in parts]
    note = f"To keep this page small, it leaves out {detail.left_out}: they are in audit.json."
    left_out: Blocks = [Text(note, "note")] if detail.left_out else []
    if len(parts) == 1:
        whole = [*_inside(parts[0], detail), *left_out, protocol_sections(audits)]
        name = excerpt(audits[0].dataset, 80)
        return Report(
            f"Audit of {name}",
            headline(audits[0]),
            whole,
            badge=verdict_words(audits[0]),
            tone=tone_of(audits[0]),
        )
    links = {
        (p.number, c): f"#{p.anchor(c)}"
        for p in parts
        for c in {"", *(f.check for f in p.audit.findings)}
    }
    body = [chapter(p, detail) for p in parts]
    share = pictures.feasibility(audits, "all") if detail.figures != "none" else []
    names = excerpt(", ".join(a.dataset for a in audits), 300)
    return Report(
        f"Audit of {len(audits)} datasets",
        names,
        [*left_out, matrix(audits, links), *share, *body, protocol_sections(audits)],
    )


def compared(before: Chapter, after: Chapter, repaired: Repaired, detail: PageDetail) -> Report:
    """The comparison first, then each audit whole."""
    name = excerpt(before.audit.dataset, 80)
    blocks: Blocks = [
        Tiles([(name, f"{n:,}", "plain") for name, n in repaired.figures.items()]),
        what_was_done(repaired),
        Section("Before and after", [comparison(before.audit, after.audit)], "compared"),
        left_over(after.audit),
        replace(chapter(before, detail), title="Before"),
        replace(chapter(after, detail), title="After"),
        protocol_sections([before.audit]),
    ]
    return Report(
        f"{name}, prepared", "What an audit advises was applied; what is left is listed.", blocks
    )


def chapter(part: Chapter, detail: PageDetail) -> Section:
    verdict = Text(part.audit.conclusion.usable, "conclusion")
    blocks = [Text(headline(part.audit)), verdict, *_inside(part, detail)]
    return Section(excerpt(part.audit.dataset, 80), blocks, anchor=part.anchor())


def _inside(part: Chapter, detail: PageDetail) -> Blocks:
    """The first screen, and below it the findings by verdict, folded."""
    silent = next(iter(not_measured_sections(part)), None)
    more = None if silent is None else f"#{silent.anchor}"
    charted = detail.tables or not part.alarms_only
    first = first_screen(part.audit, Places(part.link, more), charted=charted)
    return [
        *first,
        *all_advice(part),
        *check_sections(part, detail),
        *rows_section(part, detail),
        every_finding(part, detail),
        *not_measured_sections(part),
    ]


def all_advice(part: Chapter) -> list[Section]:
    """Every piece of advice with its commands, folded: the first screen has the first steps."""
    conclusion = part.audit.concluded()  # by the name of the folder: no page holds its path
    pieces = conclusion.advice
    if not pieces:
        return []
    blocks: Blocks = [
        Text(verdict_line(conclusion)),
        Text(POINTS, "note"),
        Items([in_a_line(piece) for piece in pieces], steps=True),
    ]
    n = f"{len(pieces)}"
    return [Section("All advice", blocks, f"{part.name}-advice", folded=True, says=n)]


def every_finding(part: Chapter, detail: PageDetail) -> Section:
    """The table of all findings and their figures, folded."""
    drawn = [*part.overview, *part.feasibility] if detail.figures != "none" else []
    n = f"{len(part.audit.findings)}"
    blocks: Blocks = [findings_table(part), *drawn]
    return Section("All findings in a table", blocks, f"{part.name}-all", folded=True, says=n)


def summary(part: Chapter, detail: PageDetail, *, linked: bool = True) -> Blocks:
    """The conclusion, the table of all findings (`linked` where the page has their sections) and
    their figure.
    """
    counts = part.audit.counts()
    tiles: list[tuple[str, str, Tone]] = [(VERDICT_WORDS[v], str(counts[v]), v) for v in VERDICTS]
    drawn = [*part.overview, *part.feasibility] if detail.figures != "none" else []
    table = findings_table(part, linked=linked)
    return [*conclusion_blocks(part.audit), Tiles(tiles), table, *drawn]


def findings_table(part: Chapter, *, linked: bool = True) -> Table:
    """Every finding with its figures, the most severe first."""
    columns: list[Column[Finding]] = [
        VERDICT,
        Column("Check", format=check_title, link=part.link if linked else None),
        Column("Feature", format=short(60), missing=""),
        *FIGURES,
        Column("n"),
    ]
    caption = (
        "Every finding. Scores are macro-F1 in % (feasibility: share of records); the difference to"
        " the best baseline is a 95% interval in points."
    )
    return Table.of(columns, ordered(part.audit.findings), caption)


def check_sections(part: Chapter, detail: PageDetail) -> list[Section]:
    """A section per verdict, the most severe first, with its checks, folded: what each asks, what
    it found, how it decides."""
    rows = part.rows(detail)
    by_verdict: defaultdict[Verdict, list[Section]] = defaultdict(list)
    numbers = {id(f): i for i, f in enumerate(part.audit.findings)}
    by_check: defaultdict[str, list[tuple[int, Finding]]] = defaultdict(list)
    for finding in ordered(part.audit.findings):
        by_check[finding.check].append((numbers[id(finding)], finding))
    for check, findings in by_check.items():
        worst = findings[0][1]
        if _silent([finding for _, finding in findings]):
            continue
        blocks: Blocks = []
        for i, finding in findings:
            inner = finding_blocks(finding, part.figures.get(i, []), rows, detail)
            anchor = f"{part.anchor(check)}-{i + 1}"
            blocks += inner if len(findings) == 1 else [_part_of_check(finding, inner, anchor)]
        if len(findings) > LONG:
            more = Fold(f"{len(blocks) - SHORT} more, less severe", blocks[SHORT:])
            blocks = [*blocks[:SHORT], more]
        question, *rest = explanation(check, worst.protocol)
        section = Section(
            check_title(check),
            [question, *blocks, *rest],
            part.anchor(check),
            worst.verdict,
            VERDICT_WORDS[worst.verdict],
            folded=True,
            says=worst.why,
        )
        by_verdict[worst.verdict].append(section)
    return [
        Section(
            GROUPS[verdict],
            by_verdict[verdict],
            f"{part.name}-{verdict}-checks",
            verdict,
            says=f"{len(by_verdict[verdict])}",
        )
        for verdict in VERDICTS
        if by_verdict[verdict]
    ]


def _silent(findings: Sequence[Finding]) -> bool:
    """Whether a check has nothing to show but why it was not measured."""
    return all(f.verdict in UNMEASURED and not f.details for f in findings)


def not_measured_sections(part: Chapter) -> list[Section]:
    """The checks of which there is nothing to show but the reason, folded."""
    by_check: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in part.audit.findings:
        by_check[finding.check].append(finding)
    silent = [f for findings in by_check.values() if _silent(findings) for f in findings]
    kinds = [[f for f in silent if f.verdict == verdict] for verdict in UNMEASURED]
    return [not_measured_section(part, same) for same in kinds if same]


def not_measured_section(part: Chapter, findings: Sequence[Finding]) -> Section:
    """The checks of which there is nothing to show but the reason."""
    anchors = {f.check: part.anchor(f.check) for f in findings}

    def named(finding: Finding) -> Cell:
        """The first finding of a check is where links to the check lead."""
        return Cell(finding_title(finding), anchor=anchors.pop(finding.check, ""))

    table = Table.of([Column("Check", named), Column("Why not", "why")], findings)
    verdict = findings[0].verdict
    anchor, n = f"{part.name}-{verdict}", f"{len(findings)}"
    return Section(GROUPS[verdict], [table], anchor, verdict, folded=True, says=n)


def _part_of_check(finding: Finding, blocks: Blocks, anchor: str) -> Section:
    """One of several findings of a check."""
    name = excerpt(finding.feature or finding_title(finding), 80)
    title = name if "." in name else name[:1].upper() + name[1:]  # a column's name is as it is
    return Section(title, blocks, anchor, finding.verdict, VERDICT_WORDS[finding.verdict])


def finding_blocks(
    finding: Finding, figures: Sequence[Figure], rows: PageRecords, detail: PageDetail
) -> Blocks:
    """The sentence, the chart, the tables and the rows; folded where nothing is wrong."""
    alarm = finding.verdict in ("fail", "warn")
    drawn = figures if detail.figures == "all" or (detail.figures == "alarms" and alarm) else []
    tables = detail_blocks(finding, rows) if detail.tables else []
    more = [*measurements(finding), *drawn, *tables, *record_blocks(finding, rows)]
    if alarm or not more:
        return [Text(finding.why), *more]
    return [Text(finding.why), Fold("Figures and tables" if drawn else "Tables and rows", more)]


def rows_section(part: Chapter, detail: PageDetail) -> list[Section]:
    """The records that findings point at: id, label, shortened text, and which checks point at
    them.
    """
    links = part.row_links(detail.rows)
    if not links:
        return []
    why: dict[str, list[str]] = {}
    for finding in part.audit.findings:
        for record in pointed_at(finding, detail.rows):
            why.setdefault(record, []).append(check_title(finding.check))
    columns: list[Column[Example]] = [
        Column("Record", lambda e: Cell(excerpt(e.id, 60), anchor=links[e.id].removeprefix("#"))),
        Column("Label"),
        Column("Text", format=short(ROW_TEXT)),
        Column("Pointed at by", lambda e: ", ".join(dict.fromkeys(why.get(e.id, [])))),
        Column("Split"),
    ]
    examples = [example for example in part.audit.examples if example.id in links]
    table = Table.of(columns, examples, f"Texts are cut to {ROW_TEXT} characters.")
    n = f"{len(examples)}"
    return [Section("Records to look at", [table], f"{part.name}-rows", folded=True, says=n)]


def paper(audits: Sequence[Audit]) -> Report:
    """The audits as tables for a paper: narrow enough for a printed page, no charts, no rows."""
    caption = "Macro-F1 in %, next to the best of three baselines."
    blocks: Blocks = [matrix(audits, {})] if len(audits) > 1 else []
    for audit in audits:
        table = Table.of(PAPER, ordered(audit.findings), caption)
        about = [Text(headline(audit)), *conclusion_blocks(audit), table]
        blocks.append(Section(excerpt(audit.dataset, 80), about))
    return Report("Audit of datasets", "", [*blocks, protocol_sections(audits)])


Page = Callable[[Sequence[Chapter], PageDetail], Report]


def write_audits(audits: Sequence[Audit], folder: str | Path, *, force: bool = False) -> None:
    """Write the report folder in one atomic step."""
    write_report(contents(audits), Path(folder), force=force)


def contents(audits: Sequence[Audit], page: Page = report) -> Contents:
    """What the report on `audits` holds; `page` says what its page holds."""
    parts = chapters(audits)
    return Contents(
        KIND,
        (page(parts, detail) for detail in DETAILS),
        aim=MOST_BYTES if len(parts) == 1 else None,
        data={FILE: {"audits": [a.to_json() for a in audits]}},
        papers={"report.tex": paper(audits)},
    )


def both(repaired: Repaired, before: Audit, after: Audit) -> Contents:
    pages = contents(
        [before, after], lambda parts, detail: compared(parts[0], parts[1], repaired, detail)
    )
    return replace(pages, data={**pages.data, REMOVED: repaired.removed_ids()})
