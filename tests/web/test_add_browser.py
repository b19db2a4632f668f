"""Add data and start an audit in a real browser, by keyboard alone. Screenshots are in
build/screenshots."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from parts.planted import planted

pytestmark = pytest.mark.slow
SHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
WORDS = ["water", "prices", "rise", "summer", "council", "denies", "report", "trial", "river"]


def write_table(file: Path) -> None:
    """Claims whose label has an unknown word, and a second column that may be the source."""
    draw = random.Random(0)
    rows = ["statement,rating,publisher,desk"]
    for n in range(80):
        text = " ".join(draw.choices(WORDS, k=14))
        rows.append(f"{text} {n},{('true', 'false', 'mostly-fals')[n % 3]},paper {n % 4},d{n % 3}")
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture(params=[(1280, "light"), (390, "dark")], ids=["wide", "phone"])
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened = context.new_page()
    opened.on("pageerror", lambda error: pytest.fail(f"script: {error}"))
    yield opened
    context.close()


def shot(page: Any, name: str) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    width = page.viewport_size["width"]
    page.screenshot(path=SHOTS / f"{name}-{width}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def tab_to(page: Any, selector: str) -> None:
    """Reach an element as a person without a mouse does."""
    for _ in range(80):
        if page.evaluate("s => document.activeElement?.matches(s)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached with Tab")


def test_a_table_is_added_by_keyboard(
    tmp_path: Path, page: Any, serving: Callable[..., Any]
) -> None:
    write_table(tmp_path / "claims.csv")
    with serving(tmp_path) as address:
        page.goto(address)
        tab_to(page, "a[href='/add']")
        page.keyboard.press("Enter")
        page.locator("#drop").wait_for()
        tab_to(page, "input[list=offered]")
        shot(page, "add-1")
        page.keyboard.type("claims.csv")
        page.keyboard.press("Enter")
        page.locator(".doubt", has_text="mostly-fals").wait_for()
        assert page.locator("#start").is_disabled()
        tab_to(page, "#role-source")
        page.keyboard.type("desk")  # a role is changed
        page.wait_for_url("**source%3Ddesk**")
        assert page.evaluate("document.activeElement.id") == "role-source"
        unknown = page.locator("tr", has_text="mostly-fals").locator("select[name=map]").first
        tab_to(page, f"#{unknown.get_attribute('id')}")
        page.keyboard.type("false")
        page.wait_for_url("**mostly-fals%3Dfalse**")
        page.locator(".doubt").wait_for(state="detached")
        command = page.locator(".command code").inner_text()
        assert command.endswith("-o claims --set source=desk --map mostly-fals=false")
        shot(page, "add-2")
        tab_to(page, "#start")
        page.keyboard.press("Enter")
        page.locator("#job").wait_for()
        shot(page, "add-3-job")
        page.wait_for_url("**/datasets/claims~*", timeout=120_000)
        assert page.locator(".audited .strip").inner_text().startswith("Audit of claims")
        shot(page, "add-4-dataset")
        page.locator("td.id a").first.focus()
        page.keyboard.press("Enter")
        page.locator("a[rel=next]").wait_for()
        assert "d0" in page.locator("dl.facts").first.inner_text()
        first = page.locator("h1").inner_text()
        page.keyboard.press("j")
        page.locator("a[rel=prev]").wait_for()
        assert page.locator("h1").inner_text() != first
        page.keyboard.press("k")
        page.get_by_role("heading", name=first, exact=True).wait_for()
        shot(page, "record-steps")


def test_a_dropped_file_is_looked_at(
    tmp_path: Path, page: Any, serving: Callable[..., Any]
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    write_table(tmp_path / "mine.csv")
    with serving(folder) as address:
        page.goto(f"{address}add")
        page.set_input_files("#files", tmp_path / "mine.csv")
        page.wait_for_url("**/add?file=dropped%2Fmine.csv")
        assert page.locator("#role-text option").first.inner_text() == "statement"
        page.goto(f"{address}add")
        (tmp_path / "tool.exe").write_bytes(b"MZ")
        page.set_input_files("#files", tmp_path / "tool.exe")
        page.locator(".outcome", has_text="not a kind of file that can be imported").wait_for()


def test_an_audit_is_started_on_a_dataset_and_cancelled(
    tmp_path: Path, page: Any, serving: Callable[..., Any]
) -> None:
    planted(size=1_000)[0].write(tmp_path / "data")
    with serving(tmp_path) as address:
        page.goto(f"{address}datasets/data")
        page.get_by_role("link", name="Audit", exact=True).click()
        page.get_by_label("Use only N records, drawn at random").fill("500")
        page.get_by_label("Use only N records, drawn at random").press("Tab")
        page.locator(".command code", has_text="--limit 500").wait_for()
        shot(page, "action-audit")
        page.locator("#start").click()
        page.locator("#cancel").wait_for()
        page.locator("#cancel").click()
        page.get_by_text("Cancelled. Nothing was left half-written").wait_for(timeout=60_000)
        assert not (tmp_path / "data-audit").exists()
