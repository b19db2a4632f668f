"""Accessibility: axe finds nothing serious on any page, light or dark, wide or narrow."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.review.create import review_create
from claimlab.review.review import Review

pytestmark = pytest.mark.slow
# How far what is seen moves while a page is loaded; above 0.1, people lose their place.
JUMPS = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value; })
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 100);
})"""
PAGES = (
    "", "datasets/data", "datasets/data?size=9#first", "datasets/data?q=nothing-at-all", "audits/reports~audit", "runs/runs~tfidf?right=wrong",
    "compare?one=runs~tfidf&other=runs~majority", "compare?one=runs~tfidf", "traces/evolved", "reports/reports~audit", "sign-in", "no-such-page",
    "new-review?dataset=data", "add", "jobs", "match?text=the&archive=data", "datasets/data?mark=true", "figures", "datasets/data/run/audit", "datasets/data/run/split", "reviews/review", "reviews/review/sign-in",
    "traces/evolved/viewer", "reports/shared", "reports/shared/claims", "datasets/data/counts",
    "datasets/cleaned", "datasets/cleaned/cleaning", "datasets/data/run/export",
)  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_no_page_has_a_serious_finding(
    workspace: Path,
    tmp_path: Path,
    serving: Callable[..., Any],
    browser: Any,
    width: int,
    scheme: str,
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    folder = tmp_path / "workspace"
    shutil.copytree(workspace, folder)
    review_create(folder / "data", folder / "review", sample=4, people=["ana", "ben"]).close()
    cl.clean(planted(size=120)[0], output=folder / "cleaned")
    cl.overlap([folder / "data", folder / "runs" / "majority"], output=folder / "shared")
    signing_in = [
        f"reviews/review/sign-in#token={_token(folder / 'review', 'eve')}",
        f"reviews/disputed/sign-in#token={_disputed(folder)}",
    ]
    with serving(folder) as address:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        findings = _links(page, address)
        problems = {}
        for path in [*PAGES, *findings, *signing_in]:
            page.goto(address + path, timeout=120_000)
            page.wait_for_load_state("networkidle")
            serious = [
                (v["id"], [n["html"][:160] for n in v["nodes"][:3]])
                for v in Axe().run(page).response["violations"]
                if v["impact"] in ("serious", "critical")
            ]
            if serious:
                problems[path] = serious
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (
                f"{path} is wider than the screen"
            )
            assert page.evaluate(JUMPS) < 0.1, f"{path} jumps while it is loaded"
        assert page.url.endswith("/adjudicate")
        assert page.locator("ins, del").count() > 0
        context.close()
    assert problems == {}


def _token(folder: Path, name: str) -> str:
    review = Review.open(folder)
    token = review.add_person(name)[1]
    review.close()
    return token


def _disputed(folder: Path) -> str:
    """The token of an adjudicator, of a review of pairs on which two annotators differ."""
    review = review_create(
        folder / "data",
        folder / "disputed",
        task="duplicate",
        pairs="near-duplicates",
        sample=3,
        people=["ana", "ben"],
    )
    for name, answer in (("ana", "same"), ("ben", "different")):
        while (item := review.next_item(name)) is not None:
            review.decide(name, item.id, answer, key=str(uuid.uuid4()))
    token = review.add_person("clara", "adjudicator")[1]
    review.close()
    return token


def _links(page: Any, address: str) -> list[str]:
    """The word plot, a record and a prediction."""
    page.goto(f"{address}audits/reports~audit?check=giveaways")
    links = [page.locator("table.records a").first.get_attribute("href")]
    page.goto(f"{address}datasets/data")
    links.append(page.locator("table.records td.id a").first.get_attribute("href"))
    page.goto(f"{address}runs/runs~tfidf")
    links.append(page.locator("table.records td.id a").first.get_attribute("href"))
    return [link.lstrip("/") for link in links]


def test_a_planted_fault_is_seen(browser: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page()
    page.set_content(
        "<html lang=en><title>x</title><main><h1>x</h1><input><button></button></main></html>"
    )
    found = {
        v["id"]
        for v in Axe().run(page).response["violations"]
        if v["impact"] in ("serious", "critical")
    }
    page.close()
    assert {"label", "button-name"} <= found


def test_a_cell_is_named_by_its_column_alone_and_columns_can_be_chosen(
    workspace: Path, serving: Callable[..., Any], browser: Any
) -> None:
    with serving(workspace) as address:
        context = browser.new_context(viewport={"width": 390, "height": 900})
        page = context.new_page()
        for _ in range(2):  # the second time, the page brings the charts of the column heads
            page.goto(f"{address}datasets/data")
            page.locator("#head-veracity svg").first.wait_for(state="attached")
            row = page.locator("table.records tbody tr").first
            names = row.locator("td[data-name]").evaluate_all(
                "cells => cells.map((cell) => cell.dataset.name)"
            )
            assert {"label", "split"} <= set(names)
            assert max(map(len, names)) < 12, names
        page.get_by_text("View", exact=True).click()
        page.get_by_role("checkbox", name="Split").uncheck()
        page.get_by_label("one line for each text").check()
        page.reload()
        page.locator("table.dense").wait_for()
        assert not page.locator("td[data-name=split]").first.is_visible()
        assert page.locator("td[data-name=label]").first.is_visible()
        context.close()
