"""The words of an audit's report: verdicts, headlines, what a check asks and how it decides, what a
protocol lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from claimlab.audit.advice import Advice, Conclusion
from claimlab.audit.advice_rules import Action
from claimlab.audit.check import CHECKS, PROTOCOLS, caveats
from claimlab.audit.result import Audit
from claimlab.audit.rule import CDL_RULE
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.words import several
from claimlab.pages.blocks import Blocks, Fold, Items, Section, Text

VERDICT_WORDS = {verdict: verdict.replace("-", " ") for verdict in VERDICTS}
MARKS = {
    "fail": "✗",
    "warn": "!",
    "inconclusive": "?",
    "pass": "✓",
    "not-measured": "–",
    "not-applicable": "·",
}
RATE_CHECKS = ("feasibility",)  # their score is a share of records, not a macro-F1
_FIRST: dict[Action, str] = {
    "clean": "clean it",
    "collect": "look at the labels",
    "drop": "measure what this column gives away",
    "report": "measure what to report next to every score",
    "review": "set these records apart",
    "split": "split it fairly",
}


def headline(audit: Audit) -> str:
    counts = audit.counts()
    parts = [f"{counts[v]} {VERDICT_WORDS[v]}" for v in VERDICTS if counts[v]]
    return (
        f"{audit.labelled:,} labelled of {several(audit.records, 'record')}, protocol"
        f" {audit.protocol}: {', '.join(parts) or 'no findings'}."
    )


def conclusion_blocks(audit: Audit) -> Blocks:
    """What the audit comes to, what to do about it, and what it does not tell."""
    conclusion = audit.concluded()
    unclear = [("Inconclusive", conclusion.inconclusive), ("Not measured", conclusion.not_measured)]
    rest = " ".join(f"{word}: {', '.join(names)}." for word, names in unclear if names)
    absent = ", ".join(conclusion.not_applicable)
    there = Text(f"Not applicable, because the data has no such column: {absent}.", "note")
    verdict = conclusion.verdict
    counted = conclusion.text if conclusion.advice else ""
    blocks: Blocks = [
        Text(f"{verdict.words[:1].upper()}{verdict.words[1:]}.", "conclusion"),
        Text(f"{verdict.reason} {counted}".strip()),
    ]
    if conclusion.first is not None and conclusion.first.commands:
        blocks.append(Text(f"{first_words(conclusion.first).rstrip(':')}."))
    blocks += (
        [Items([in_a_line(piece) for piece in conclusion.advice], steps=True)]
        if conclusion.advice
        else []
    )
    blocks += [Text(f"{rest} None of these is a pass.", "note")] if rest else []
    return [*blocks, there] if absent else blocks


def verdict_line(conclusion: Conclusion) -> str:
    """What the dataset can be used for, and how many checks fail or warn."""
    return f"{conclusion.usable} {conclusion.text}" if conclusion.advice else conclusion.usable


def first_words(first: Advice) -> str:
    """What to do first, before the command that does it."""
    stuck = first.action == "split" and first.commands[0].function != "split"
    return f"First, {_FIRST['report' if stuck else first.action]}:"


def in_a_line(advice: Advice) -> str:
    """Advice as pages show it: the sentence, by how much the findings can move a score, and what to
    type.
    """
    typed = " ".join(f"`{command.shell}`" for command in advice.commands)
    return f"{advice.words} {typed}".rstrip()


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """The most severe first."""
    return sorted(findings, key=lambda f: (f.severity, f.check, f.feature or ""))


def check_title(name: str) -> str:
    return CHECKS.get(name).title if name in CHECKS else name


def finding_title(finding: Finding) -> str:
    """The check, and the feature where it says more than the check does."""
    title, feature = check_title(finding.check), finding.feature
    return (
        title
        if feature is None or feature.casefold() == title.casefold()
        else f"{title} · {feature}"
    )


def explanation(check: str, protocol: str) -> Blocks:
    """What the check asks, how it decides, and what the protocol gets wrong about it."""
    if check not in CHECKS:
        return [
            Text(
                "This check is not installed here, so its question and rule cannot be shown.",
                "note",
            )
        ]
    published = protocol.startswith("cdl")
    rule = Fold("How it decides", [Text(CDL_RULE if published else rule_of(check))])
    faults = _faults(protocol, caveats(protocol, check)) if published else []
    return [Text(CHECKS.get(check).question), rule, *faults]


def rule_of(check: str) -> str:
    """The rule of a check, or a sentence that a check from another package states none."""
    return str(
        getattr(CHECKS.get(check), "rule", "")
        or "This check does not say how it reaches a verdict."
    )


def protocol_sections(audits: Sequence[Audit]) -> Section:
    """How the protocols used here work, and what each of them gets wrong."""
    blocks: Blocks = [
        Text("“Not measured” and “inconclusive” do not count as passed; each gives its reason."),
    ]
    for name in dict.fromkeys(a.protocol for a in audits):
        if name in PROTOCOLS:
            summary = Text(PROTOCOLS[name]["summary"])
            blocks.append(Section(f"Protocol {name}", [summary, *_faults(name, caveats(name))]))
    return Section("How these figures were made", blocks, anchor="method", folded=True)


def _faults(protocol: str, sentences: Sequence[str]) -> Blocks:
    return [
        Fold(
            f"What the protocol {protocol} gets wrong",
            [Items(sentences)],
            open=protocol.startswith("cdl"),
        )
    ]
