"""The documentation site builds, needs no network, and no page of it is too large to open."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from manual.sitepages import assemble, pages

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 2_000_000  # bytes

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright", "zensical")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "docs"
    assemble(ROOT, folder)
    zensical = Path(sys.executable).with_name("zensical")
    command = [str(zensical), "build", "--strict", "-f", "mkdocs.yml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_every_page_is_there_and_opens(site: Path) -> None:
    built = {str(p.relative_to(site).with_suffix(".md")) for p in site.rglob("*.html")} - {"404.md"}
    kept = {str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")}
    assert kept | set(pages(ROOT)) <= built
    assert [p.name for p in site.rglob("*.html") if p.stat().st_size >= LARGEST] == []


def test_nothing_is_fetched_from_the_network(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe)[^>]*\ssrc="(https?:[^"]+)"', text)
        loaded += re.findall(
            r'<link[^>]*rel="(?:stylesheet|preconnect)"[^>]*href="(https?:[^"]+)"', text
        )
        assert loaded == [], page.name


def test_search_knows_the_pages(site: Path) -> None:
    index = (site / "search.json").read_text(encoding="utf-8")
    assert "Krippendorff" in index
    assert "Tutorial: from a CSV to a report" in index


def test_search_works_from_the_disk_and_without_a_network(site: Path, browser: Any) -> None:
    page = browser.new_context(offline=True).new_page()
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("/")
    box = page.get_by_role("dialog").get_by_role("textbox").or_(page.locator("input:visible")).first
    box.fill("Krippendorff")
    page.get_by_text("Agreement of annotators").first.wait_for(timeout=60_000)
    assert page.get_by_text("Agreement of annotators").first.is_visible()
