"""The offline page in a real browser: by keyboard, kept over a reload, saved as a file, merged
back.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.review.create import review_create
from claimlab.review.files import review_export, review_import

from .made import dataset, review, task

pytestmark = pytest.mark.slow


def opened(browser: Any, file: Path, problems: list[str]) -> Any:
    page = browser.new_context(
        viewport={"width": 390, "height": 844}, accept_downloads=True
    ).new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    page.goto(file.as_uri())
    return page


def test_an_annotator_works_by_keyboard_offline(tmp_path: Path, browser: Any) -> None:
    made = review(tmp_path / "r", items=4)
    file = next(f for f in review_export(made, tmp_path / "pages", "html") if f.stem == "ana")
    problems: list[str] = []
    page = opened(browser, file, problems)
    assert "item 1 of 4, 4 to do" in page.inner_text("#progress")
    page.keyboard.press("s")  # 1 is skipped
    page.keyboard.press("c")
    page.keyboard.type("12 s u")  # no shortcut while somebody types
    page.keyboard.press("Escape")
    page.keyboard.press("1")  # 2: yes
    page.keyboard.press("2")  # 3: no
    page.keyboard.press("u")
    page.keyboard.press("1")  # 3: yes
    page.reload()
    assert "item 4 of 4, 2 to do" in page.inner_text("#progress")
    page.keyboard.press("2")  # 4: no
    assert "item 1 of 4, 1 to do" in page.inner_text("#progress")  # the skipped one is back
    page.keyboard.press("1")
    with page.expect_download() as download:
        page.keyboard.press("e")
    saved = tmp_path / "ana.json"
    download.value.save_as(saved)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert problems == []
    assert review_import(made, saved).counts == {"new": 4, "known": 0, "older": 0, "refused": 0}
    votes = [(b.item, b.value, b.comment) for b in made.ballots()]
    assert votes == [
        ("1", "yes", None),
        ("2", "yes", "12 s u"),
        ("3", "yes", None),
        ("4", "no", None),
    ]
    assert review_import(made, saved).counts["known"] == 4


def test_hostile_text_is_text(tmp_path: Path, browser: Any) -> None:
    hostile = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
    data = dataset()
    data.records = data.records.with_columns(text=data.records["text"] + hostile)
    made = review_create(data, tmp_path / "r", records=["r000"], people=["ana"], guideline=hostile)
    (file,) = review_export(made, tmp_path / "pages", "html")
    page = opened(browser, file, [])
    assert page.title() == "label: ana"
    assert hostile in page.inner_text("#texts")


@pytest.mark.parametrize(("kind", "keys", "value"), [("ordinal", ["7"], 7), ("ordinal", ["x"], 10)])
def test_ratings_by_keyboard(
    tmp_path: Path, browser: Any, kind: str, keys: list[str], value: int
) -> None:
    made = review(tmp_path / "r", task(kind), items=1, people=["ana"])
    (file,) = review_export(made, tmp_path / "pages", "html")
    page = opened(browser, file, [])
    for key in keys:
        page.keyboard.press(key)
    kept = page.evaluate("localStorage.getItem(localStorage.key(0))")
    assert [d["value"] for d in json.loads(kept)["decisions"].values()] == [value]


def test_spans_by_selection(tmp_path: Path, browser: Any) -> None:
    made = review(tmp_path / "r", task("span"), items=1, people=["ana"])
    (file,) = review_export(made, tmp_path / "pages", "html")
    page = opened(browser, file, [])
    page.evaluate(
        """() => { const text = document.querySelector("#marked").firstChild, range = document.createRange();
        range.setStart(text, 5); range.setEnd(text, 11);
        getSelection().removeAllRanges(); getSelection().addRange(range); }"""
    )
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(tmp_path / "ana.json")
    review_import(made, tmp_path / "ana.json")
    assert made.ballots()[0].value == [{"start": 5, "end": 11, "label": "yes"}]


def test_pairs_show_their_difference(tmp_path: Path, browser: Any) -> None:
    data = dataset()
    from_desk = data.records.with_columns(source=pl.lit("Desk 1"))
    made = review_create(
        replace(data, records=from_desk),
        tmp_path / "r",
        task="conflict",
        pairs="conflicts",
        people=["ana"],
    )
    (file,) = review_export(made, tmp_path / "pages", "html")
    page = opened(browser, file, [])
    assert page.locator("#texts mark").all_inner_texts() == ["indeed"]
    assert page.locator("#texts .origin").all_inner_texts() == ["Desk 1", "Desk 1"]
    assert "Labels: the first true, the second false" in page.inner_text("#beside")
    page.set_viewport_size({"width": 1200, "height": 800})
    boxes = [page.locator("#texts .text").nth(n).bounding_box() for n in (0, 1)]
    assert boxes[0]["y"] == boxes[1]["y"]  # side by side
