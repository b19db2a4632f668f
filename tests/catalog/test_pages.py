"""The documentation's page of all datasets is that of the cards as they are."""

from __future__ import annotations

import re
from pathlib import Path

from manual.datasets import anchor, audited_in, page

from claimlab.catalog.front import everything

FILE = Path(__file__).resolve().parents[2] / "docs" / "datasets.md"


def test_the_page_is_fresh() -> None:
    audited = audited_in(FILE.parent / "gallery.md")
    fresh = FILE.read_text(encoding="utf-8") == page(everything(), audited)
    assert fresh, "run: python -m manual.datasets docs/datasets.md"


def test_a_card_links_to_its_audit() -> None:
    text = page(everything(), {"liar", "fake-br"})
    assert re.findall(r"\(gallery\.md#([^)]+)\)", text) == ["fake-br", "liar"]


def test_links_lead_to_sections_and_rows_are_whole() -> None:
    text = page(everything())
    heads = {anchor(title) for title in re.findall(r"^## (.+)$", text, re.M)}
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) == heads
    rows = [line for line in text.splitlines() if line.startswith("| [")]
    assert len(rows) == len(everything()) == len(heads)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {12}
