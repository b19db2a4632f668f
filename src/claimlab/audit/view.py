"""Findings in words and pictures: the blocks of an audit's report, and the matrix of several audits.

Finding and wording are two jobs: everything here is made from findings alone, so a saved audit can be shown again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claimlab.audit.check import CHECKS
from claimlab.audit.fair import Rule
from claimlab.audit.run import Audit
from claimlab.core.finding import VERDICTS, Finding
from claimlab.report.blocks import Block, Cell, Fold, Items, Report, Section, Table, Text, Tiles, Tone, percent

WORDS = {"fail": "FAIL", "warn": "warn", "pass": "pass", "not-measured": "not measured"}


def audit_report(audits: Sequence[Audit]) -> Report:
    """One page for one dataset, or the matrix and a chapter for each of several."""
    if len(audits) == 1:
        one = audits[0]
        return Report(f"Audit of {one.dataset}", headline(one), [*summary_blocks(one), *finding_sections(one), rules()])
    chapters = [Section(a.dataset, [Text(headline(a)), *summary_blocks(a), *finding_sections(a)]) for a in audits]
    names = ", ".join(a.dataset for a in audits)
    return Report(f"Audit of {len(audits)} datasets", names, [matrix(audits), *chapters, rules()])


def headline(audit: Audit) -> str:
    counts = audit.counts()
    parts = [f"{counts[v]} {WORDS[v].lower()}" for v in VERDICTS if counts[v]]
    return f"{audit.labelled:,} labelled of {audit.records:,} records, protocol {audit.protocol}: {', '.join(parts)}."


def summary_blocks(audit: Audit) -> list[Block]:
    counts = audit.counts()
    tiles: list[tuple[str, str, Tone]] = [(WORDS[v], str(counts[v]), v) for v in VERDICTS]
    rows: list[list[Any]] = [
        [
            Cell(check_title(f.check), link=f"#{anchor_of(audit, f)}"),
            f.feature or "",
            Cell(WORDS[f.verdict], sort=VERDICTS.index(f.verdict), tone=f.verdict),
            percent(f.score),
            Cell(interval_text(f)),
            percent(f.baselines.majority),
            percent(f.baselines.stratified),
            percent(f.baselines.shuffled),
            f.n,
        ]
        for f in ordered(audit.findings)
    ]
    columns = ["Check", "Feature", "Verdict", "Score", "95 % interval", "Majority", "Stratified", "Shuffled", "n"]
    return [
        Tiles(tiles),
        Table(columns, rows, "Every finding. Scores are macro-F1 in per cent, each beside its baselines."),
    ]


def finding_sections(audit: Audit) -> list[Section]:
    return [
        Section(
            f"{check_title(f.check)}{f' · {f.feature}' if f.feature else ''}: {WORDS[f.verdict]}",
            finding_blocks(f),
            anchor=anchor_of(audit, f),
            tone=f.verdict,
        )
        for f in ordered(audit.findings)
    ]


def finding_blocks(finding: Finding) -> list[Block]:
    blocks: list[Block] = [Text(finding.why)]
    for name, value in finding.details.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            columns = list(value[0])
            rows = [[row.get(c) for c in columns] for row in value]
            blocks.append(
                Fold(
                    f"{name.replace('_', ' ').capitalize()} ({len(rows)})", [Table(columns, rows)], open=len(rows) <= 8
                )
            )
    if finding.records:
        shown = ", ".join(finding.records)
        blocks.append(Fold(f"Records to look at ({len(finding.records)})", [Text(shown)]))
    return blocks


def matrix(audits: Sequence[Audit]) -> Section:
    """Datasets against checks, the gravest verdict of each."""
    checks = sorted({f.check for a in audits for f in a.findings})
    rows: list[list[Any]] = []
    for audit in audits:
        row: list[Any] = [Cell(audit.dataset, link=f"#{audit.dataset}")]
        for check in checks:
            worst = audit.worst(check)
            if worst is None:
                row.append(Cell("·", sort=9.0))
                continue
            mark = {"fail": "✗", "warn": "!", "pass": "✓", "not-measured": "–"}[worst.verdict]
            score = f" {100 * worst.score:.0f}" if worst.score is not None else ""
            row.append(Cell(mark + score, sort=VERDICTS.index(worst.verdict), tone=worst.verdict, title=worst.why))
        rows.append(row)
    note = "✗ fail, ! warn, ✓ pass, – not measured; the figure is macro-F1 in per cent of the gravest finding."
    return Section("Datasets against checks", [Table(["Dataset", *map(check_title, checks)], rows, note)])


def rules() -> Section:
    rule = Rule()
    return Section(
        "How a verdict is reached",
        [
            Items(
                [
                    f"Fail: the lower end of the 95 % interval clears the best baseline by more than "
                    f"{100 * rule.margin:.0f} points of macro-F1, and p is at most {rule.alpha}.",
                    "Warn: the lower end clears the best baseline, by less than that.",
                    "Pass: it does not clear it.",
                    f"Not measured: an input is missing, a class has fewer than {rule.min_class} rows, or its rows "
                    f"form fewer than {rule.min_groups} groups. That is never a pass.",
                    "Counting checks (copies, contradictions, balance) state their own thresholds in their sentence.",
                ]
            )
        ],
    )


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda f: (VERDICTS.index(f.verdict), -(f.score or 0), f.check, f.feature or ""))


def check_title(name: str) -> str:
    return CHECKS.get(name).title if name in CHECKS else name


def anchor_of(audit: Audit, finding: Finding) -> str:
    raw = f"{audit.dataset}-{finding.check}-{finding.feature or ''}"
    return "".join(c if c.isalnum() else "-" for c in raw.lower()).strip("-")


def interval_text(finding: Finding) -> str:
    if finding.interval is None:
        return "–"
    low, high = finding.interval
    return f"{100 * low:.1f} – {100 * high:.1f}"
