"""The first screen of an audit's page: short, readable, and true to what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claimlab.audit.result import Audit
from claimlab.audit.views.first_screen import (
    MOST_STEPS,
    Places,
    first_screen,
    forest,
    gives_away,
    in_a_sentence,
    next_command,
    tone_of,
)
from claimlab.audit.views.page import MOST_BYTES, write_audits
from claimlab.core.finding import Finding
from claimlab.pages.blocks import Card, Command, Forest, Results, Steps, walk

MOST_PIXELS = 4_000  # of a page of 1,280 pixels, before anything is unfolded
LONGEST_LINE = 75  # characters
# The longest line of each paragraph, in characters: its text is cut where a line begins.
LINES = """() => [...document.querySelectorAll("main p, main li, main figcaption")].map((block) => {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  const lines = new Map();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (let at = 0; at < node.length; at++) {
      const range = document.createRange();
      range.setStart(node, at); range.setEnd(node, at + 1);
      const box = range.getBoundingClientRect();
      if (box.width) lines.set(Math.round(box.bottom / 8), (lines.get(Math.round(box.bottom / 8)) ?? 0) + 1);
    }
  }
  return Math.max(0, ...lines.values());
})"""


def nowhere(finding: Finding) -> None:
    return None


def test_it_says_what_the_findings_say(planted_audit: Audit, clean_audit: Audit) -> None:
    head, sentence = in_a_sentence(planted_audit)
    top = gives_away(planted_audit.findings)[0]
    assert f"{100 * (top.score or 0):.0f}" in head
    assert f"{100 * (top.score or 0):.1f}" in sentence
    assert "gives the label away" in in_a_sentence(clean_audit)[0]
    assert tone_of(planted_audit) in ("fail", "warn")
    assert tone_of(clean_audit) == "pass"


def test_every_scored_feature_is_on_the_chart_or_counted(planted_audit: Audit) -> None:
    chart = forest(planted_audit.findings, nowhere)
    tones = [row.tone for row in chart.rows]
    assert tones == sorted(tones, key=["fail", "warn", "inconclusive", "pass"].index)
    failing = gives_away(planted_audit.findings)
    assert [row.score for row in chart.rows if row.tone == "fail"] == [f.score for f in failing]
    low = chart.at(min(row.interval[0] for row in chart.rows if row.interval))
    assert 0 <= low < chart.at(1.0) <= 100


def test_at_most_three_steps_and_one_command(planted_audit: Audit, clean_audit: Audit) -> None:
    for audit in (planted_audit, clean_audit):
        blocks = walk(first_screen(audit, Places(nowhere)))
        steps = [block for block in blocks if isinstance(block, Steps)]
        assert sum(len(block.steps) for block in steps) <= MOST_STEPS
        (command,) = [block for block in blocks if isinstance(block, Command)]
        assert command.command == next_command(audit).shell
        (results,) = [block for block in blocks if isinstance(block, Results)]
        assert sum(results.counts.values()) == len(audit.findings)
        titles = [block.title for block in blocks if isinstance(block, Card)]
        assert "Not measured" in titles
        assert any(isinstance(block, Forest) for block in blocks)


@pytest.mark.slow
def test_the_page_is_short_light_and_readable(
    planted_audit: Audit, clean_audit: Audit, tmp_path: Path, browser: Any
) -> None:
    for name, audit in (("planted", planted_audit), ("clean", clean_audit)):
        write_audits([audit], tmp_path / name)
        file = tmp_path / name / "index.html"
        assert file.stat().st_size < MOST_BYTES
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollHeight") < MOST_PIXELS
        assert max(page.evaluate(LINES)) <= LONGEST_LINE
        row = page.locator(".forest a").first
        target = row.get_attribute("href")
        assert target is not None
        fold = page.locator(f"details[id='{target.removeprefix('#')}']")
        assert not fold.evaluate("one => one.open")
        row.click()
        assert fold.evaluate("one => one.open")
        assert asked == [file.as_uri()], "a page asks for nothing"
        page.close()
