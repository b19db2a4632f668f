"""The end of an audit: p-values corrected for all tests together, and one finding for one fact."""

from __future__ import annotations

from collections.abc import Sequence

from claimlab.audit.rule import GAIN, Rule
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.stats.chance import false_discovery


def settle(findings: Sequence[Finding], rule: Rule) -> list[Finding]:
    """Verdicts with p-values adjusted for the number of tests in the audit, and findings of one
    fact merged.
    """
    tested = [f for f in findings if f.p is not None and f.difference_interval is not None]
    for finding, adjusted in zip(
        tested, false_discovery([f.p for f in tested if f.p is not None]), strict=True
    ):
        assert finding.difference_interval is not None
        finding.p_adjusted = adjusted
        finding.verdict = rule.given(
            rule.verdict(finding.difference_interval, adjusted), finding.details.get(GAIN)
        )
        finding.why += f" {p_words(finding)}"
    return one_per_fact(findings)


def p_words(finding: Finding) -> str:
    """The test in a sentence."""
    shown = "below 0.001" if (finding.p_adjusted or 0.0) < 0.001 else f"{finding.p_adjusted:.3f}"
    return (
        f"Adjusted p {shown}, {finding.permutations} permutations, each moving"
        f" {100 * (finding.moved or 0.0):.0f}% of the labels."
    )


def one_per_fact(findings: Sequence[Finding]) -> list[Finding]:
    """Several measurements of one fact become the most severe of them, with the others inside; in
    the order given.
    """
    facts: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        facts.setdefault(number if finding.fact is None else finding.fact, []).append(finding)
    out = []
    for measurements in facts.values():
        first, *others = sorted(measurements, key=_gravity)
        out.append(first.model_copy(update={"others": others}) if others else first)
    return out


def _gravity(finding: Finding) -> tuple[int, bool, float]:
    """The most severe verdict, then what has a score, then the larger difference."""
    return VERDICTS.index(finding.verdict), finding.score is None, -(finding.difference or 0.0)
