"""The gallery shows what audits came to, and nothing that was not measured looks like a pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from claimlab.audit.result import Audit
from claimlab.core.finding import Finding, Verdict

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "gallery.md"


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    from parts import gallery_page  # type: ignore[import-not-found]

    return gallery_page


def audit(verdict: Verdict) -> Audit:
    finding = Finding(check="time", protocol="fair", verdict=verdict, why="No dates.")
    return Audit("liar", "0", "fair", "veracity", 0, 10, 9, [finding], card="liar")


def test_a_dataset_has_its_line_and_what_was_not_measured_is_no_pass(gallery: object) -> None:
    failed = gallery.page([gallery.Row("liar", 10, audit("fail"))])  # type: ignore[attr-defined]
    assert '| <span id="liar">LIAR</span> | 9 | 1 | 0 | 0 |' in failed
    assert "| `time` | 1 | 0 | 0 | 0 | 0 |" in failed
    other = replace(audit("fail"), target="stance")
    assert "LIAR</span> (stance) |" in gallery.page([gallery.Row("liar", 10, other)])  # type: ignore[attr-defined]
    absent = gallery.page([gallery.Row("liar", 10, audit("not-measured"))])  # type: ignore[attr-defined]
    assert '| <span id="liar">LIAR</span> | 9 | 0 | 0 | 0 |' in absent
    none = gallery.page([gallery.Row("liar", None, None, "unreadable")])  # type: ignore[attr-defined]
    assert "## Not audited" in none


def test_the_page_is_short() -> None:
    assert len(PAGE.read_text(encoding="utf-8").split()) <= 1_500
