"""The audit on a terminal: one screen however much is wrong, every verdict in sight, nothing that
steers it.
"""

from __future__ import annotations

import pytest

from claimlab.audit.result import Audit
from claimlab.audit.views.screen import screen
from claimlab.core.finding import VERDICTS, Baselines, Finding, Verdict
from claimlab.pages.terminal import columns_of


def audit_of(n: int, verdict: Verdict = "fail", feature: str = "meta.key") -> Audit:
    findings = [
        Finding(
            check="columns", feature=f"{feature}{i}", protocol="fair", verdict=verdict, why=f"Sentence {i} in full.",
            score=None if verdict.startswith("not-") else 0.9 - i / 1000, interval=(0.8, 0.95), difference=0.4,
            baselines=Baselines(majority=0.5),
        )
        for i in range(n)
    ]  # fmt: skip
    return Audit("planted", "0" * 64, "fair", "veracity", 0, 100, 100, findings)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_one_screen_holds_any_number_of_findings(verdict: Verdict) -> None:
    lines = screen(audit_of(200, verdict), width=100).splitlines()
    assert len(lines) <= 40
    assert max(map(columns_of, lines)) <= 100


def test_each_alarm_has_its_figures_and_a_reason_on_one_line() -> None:
    table = screen(audit_of(2)).split("Verdict  Check")[1]
    (line,) = (line for line in table.splitlines() if "meta.key1 " in line)
    assert line.split() == [
        "fail",
        "columns",
        "meta.key1",
        "89.9",
        "80.0",
        "to",
        "95.0",
        "50.0",
        "+40.0",
        "points",
    ]


def test_the_rest_is_a_line_each_and_never_called_a_pass() -> None:
    audit = audit_of(1)
    for verdict in ("pass", "inconclusive", "not-measured"):
        audit.findings += audit_of(1, verdict, f"{verdict}-").findings
    text = screen(audit)
    assert "\nPass (1): columns (pass-0)\n" in text
    assert "\nInconclusive (1): columns (inconclusive-0)\n" in text
    assert text.endswith("\nNot measured (1): columns (not-measured-0)")


def test_verbose_has_every_sentence_and_colour_only_where_asked() -> None:
    audit = audit_of(30)
    text = screen(audit, verbose=True)
    assert all(f"Sentence {i} in full." in text for i in range(30))
    assert "\x1b" not in text
    assert "\x1b[31mfail\x1b[0m" in screen(audit, colour=True)


def test_a_hostile_column_name_steers_nothing() -> None:
    text = screen(audit_of(1, feature="meta.\x1b[2J\u202e\n"))
    assert "\x1b" not in text
    assert "\u202e" not in text
