"""The page of `claimlab demo`, told as a story: what was planted, what was found, what to do, and
where each stage has its details.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from claimlab.audit.advice import reason
from claimlab.audit.result import Audit
from claimlab.audit.views.wording import in_a_line
from claimlab.core import packaged
from claimlab.core.demo import Truth
from claimlab.core.finding import Finding
from claimlab.core.words import several
from claimlab.pages.blocks import (
    Block,
    Cell,
    Column,
    Command,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tiles,
)
from claimlab.pages.blocks import anchor as anchor_of
from claimlab.study.prepare import Prepared

DETAILS = "details.html"
AUDIT = "audit/index.html"
CLEANING = f"{DETAILS}#the-cleaning"
ADVICE_SHOWN = 3  # steps of the advice; the audit has all
# Which finding of the audit shows which planted defect; the rest are shown by later stages.
FOUND_BY_AUDIT: dict[str, tuple[str, str | None]] = {
    defect: (check, feature[0] if feature else None)
    for defect, (check, *feature) in packaged.toml("claimlab.cli", "tour.toml")[
        "found_by_audit"
    ].items()
}


@dataclass(frozen=True)
class Story:
    """What the page tells: the truth of what was planted in so many records, and what the stages
    made of it.
    """

    records: int
    truth: Truth
    found: Mapping[str, str]  # defect -> where it was found
    audit: Audit | None
    alarms: int  # on the clean twin: false ones
    sections: Sequence[Section]  # of the page of details
    prepared: Prepared | None = None

    def report(self) -> Report:
        """One screen for each question, and links to the rest."""
        planted, found = len(self.truth.defects), len(self.found)
        tiles = Tiles(
            [
                ("records", f"{self.records:,}", "plain"),
                ("defects planted", str(planted), "plain"),
                ("found", str(found), "pass" if found == planted else "warn"),
                (
                    "false alarms on the clean twin",
                    str(self.alarms),
                    "warn" if self.alarms else "pass",
                ),
            ]
        )
        return Report(
            "claimlab demo",
            "The whole job on a synthetic dataset with planted defects, offline.",
            [
                tiles,
                *self._prepared(),
                self._planted(),
                self._found(),
                self._advice(),
                self._more(),
            ],
        )

    def _prepared(self) -> list[Section]:
        """The findings before and after what the audit advises was applied."""
        if self.prepared is None or self.prepared.after is None:
            return []
        verdicts = {
            "Before": self.prepared.before.conclusion.usable,
            "After": self.prepared.after.conclusion.usable,
        }
        words = [Text(f"{name}: {usable}", "conclusion") for name, usable in verdicts.items()]
        how = Command(
            "claimlab prepare planted --change-test -o prepared",
            f"Applies what the audit advises, and nothing else. {self.prepared.remains}",
        )
        return [Section("Before and after", [*words, self.prepared.side_by_side(), how])]

    def _planted(self) -> Section:
        sentences = (
            "Claims about invented places in three languages; their labels are random, so nothing"
            f" separates true from false. Then {len(self.truth.defects)} defects of real datasets"
            " were planted. A detector that scores well here has learned a defect."
        )
        columns: list[Column[tuple[str, str]]] = [
            Column("Defect", 0),
            Column("What it is", 1),
            Column("Records", lambda row: self._carriers(row[0]) or "in all records"),
        ]
        table = Table.of(columns, self.truth.defects.items())
        return Section("What was planted", [Text(sentences), table])

    def _carriers(self, defect: str) -> int:
        return len(self.truth.records.get(defect, []))

    def _found(self) -> Section:
        """Each defect with what found it and the figure that shows it."""
        rows: list[list[Cell | str]] = [
            [defect, self._finder(defect), *self._evidence(defect)] for defect in self.truth.defects
        ]
        sentences = (
            f"{len(self.found)} of {several(len(self.truth.defects), 'planted defect')} found. A"
            " score is what one feature alone reaches; 50 is chance."
        )
        columns = ["Defect", "Found by", "Macro-F1", "95% interval", "In short"]
        blocks: list[Block] = [Text(sentences, "conclusion"), Table(columns, rows)]
        return Section("What was found", blocks)

    def _finder(self, defect: str) -> Cell:
        finder = self.found.get(defect)
        if finder is None:
            return Cell("not yet", tone="not-measured")
        return Cell(finder, tone="pass", link=AUDIT if finder.startswith("audit") else CLEANING)

    def _evidence(self, defect: str) -> tuple[str, str, str]:
        """Score, interval and a few words."""
        if defect in FOUND_BY_AUDIT and self.audit is not None:
            findings = findings_of(self.audit, *FOUND_BY_AUDIT[defect])
            if failed := [finding for finding in findings if finding.verdict == "fail"]:
                return _figures(failed[0])
        aside = f"{several(self._carriers(defect), 'record')} set aside"
        return "", "", aside if defect in self.found else ""

    def _advice(self) -> Section:
        """The first of the audit's advice, as commands; `prepare` carries out what it can."""
        look = Text(
            "Look at the data, the findings and the predictions in your browser; run this in the"
            " demo's folder:"
        )
        blocks: list[Block] = [look, Items(["`claimlab serve . --open`"])]
        if self.audit is not None:
            concluded = self.audit.concluded()
            text = Text(concluded.text[:1].upper() + concluded.text[1:], "conclusion")
            first = [in_a_line(advice) for advice in concluded.advice[:ADVICE_SHOWN]]
            rest = len(concluded.advice) - len(first)
            more = Text("", links=[(f"{several(rest, 'more step')} in the audit", AUDIT)])
            blocks = [text, Items(first, steps=True), *([more] if rest > 0 else []), *blocks]
        return Section("What to do", blocks)

    def _more(self) -> Section:
        """Every stage in a sentence, with a link to its details."""
        about_audit = (
            Cell("The audit", link=AUDIT),
            "Every check with its figures, charts and records.",
        )
        stages = [
            (Cell(section.title, link=f"{DETAILS}#{anchor_of(section)}"), _first_text(section))
            for section in self.sections
        ]
        table = Table(["Stage", "In short"], [about_audit, *stages], sortable=False)
        return Section("Look closer", [table])


def findings_of(audit: Audit, check: str, feature: str | None) -> list[Finding]:
    return [f for f in audit.findings if f.check == check and feature in (None, f.feature)]


def _figures(finding: Finding) -> tuple[str, str, str]:
    if finding.score is None:
        return "", "", reason(finding)
    score = f"{100 * finding.score:.1f}"
    if finding.baselines.best() is None:
        return "", "", f"only {score}% {reason(finding)}"
    low, high = finding.interval or (0.0, 0.0)
    return score, f"{100 * low:.1f} to {100 * high:.1f}", reason(finding)


def _first_text(section: Section) -> str:
    return next((block.text for block in section.blocks if isinstance(block, Text)), "")
