"""The gallery shows what an audit came to, and nothing that was not measured looks like a pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimlab.audit.run import default_checks

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "gallery.md"


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    from parts import gallery_page  # type: ignore[import-not-found]

    return gallery_page


def row(verdict: str, **more: object) -> dict[str, object]:
    known = {
        "verdict": verdict,
        "feature": None,
        "score": None,
        "interval": None,
        "best": None,
        "why": "No dates.",
    }
    return {
        "dataset": "liar", "variant": "statements", "records": 10, "audited": 10, "labelled": 9,
        "checks": {"time": known | more},
    }  # fmt: skip


def test_a_score_has_its_interval_and_what_was_not_measured_is_no_pass(gallery: object) -> None:
    failed = gallery.page([row("fail", score=0.9, interval=(0.85, 0.94), best=0.5)])  # type: ignore[attr-defined]
    assert "macro-F1 90.0 (85.0 to 94.0); best baseline 50.0." in failed
    assert 'class="v fail" data-sort="0"' in failed
    assert "Before you report a score: split by time." in failed
    absent = gallery.page([row("not-measured")])  # type: ignore[attr-defined]
    assert "✓" not in absent.split("## At a glance")[1].split("## Dataset by dataset")[0].replace(
        "✓ 40", ""
    )
    assert "- not measured: time." in absent


def test_examples_and_rules_are_left_out_of_a_sentence(gallery: object) -> None:
    why = "Words ('one', 'two') lean: 5 of 10 records (50%; fail: at least 1%; warn: any). More."
    assert gallery.sentence({"why": why}) == "Words lean: 5 of 10 records (50%)."  # type: ignore[attr-defined]
    why = "3 of 9 (33%) have one; 2 of them another (fail: at least 1%; warn: any)."
    assert gallery.sentence({"why": why}) == "3 of 9 (33%) have one."  # type: ignore[attr-defined]


def test_every_check_says_what_to_do(gallery: object) -> None:
    assert set(default_checks("fair")) <= set(gallery.ACTIONS)  # type: ignore[attr-defined]


def test_the_page_is_of_a_size_that_opens() -> None:
    assert PAGE.stat().st_size < 500_000
