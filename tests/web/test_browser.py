"""The whole story in a real browser: a planted defect is found, reviewed by annotators who differ,
adjudicated and applied, and the audit no longer finds it. Screenshots are in build/screenshots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import clean_twin

import claimlab as cl
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.review.create import review_create
from claimlab.review.review import Review
from claimlab.web.actions import verbs

pytestmark = pytest.mark.slow
SHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "demo"
    assert run(["demo", "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page whose script must not fail and whose policy must not be broken."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield watched(context)
    context.close()


def watched(context: Any) -> Any:
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(f"script: {error}"))
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    return page


def shot(page: Any, name: str) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


def test_a_planted_defect_from_finding_to_applied_review(
    demo: Path, page: Any, browser: Any, serving: Callable[..., Any]
) -> None:
    with serving(demo) as address:
        page.goto(address)
        shot(page, "1-workspace")
        page.get_by_role("navigation").get_by_role("link", name="audit", exact=True).click()
        page.get_by_role("link", name="Near-duplicates · under different labels").click()
        shot(page, "2-finding")
        page.get_by_role("link", name="Its records in the dataset").click()
        shot(page, "3-records")
        count = int(page.locator("#matches b").inner_text())
        assert count == 48
        page.locator("td.id a").first.click()
        assert page.locator("section", has_text="Near-duplicates").locator("td.wrong").count() >= 1
        page.go_back()
        page.get_by_role("link", name="Review these records").click()
        page.get_by_label("Name of the review").fill("conflicts")
        page.get_by_label("Annotators one name per line").fill("ana\nben")
        page.get_by_label("Owners").fill("olga")
        assert page.get_by_role("radio", name="conflict").is_checked()
        shot(page, "4-new-review")
        page.get_by_role("button", name="Make the review").click()
        links = page.locator(".invitations a")
        links.first.wait_for()
        people = dict(
            zip(("ana", "ben", "olga"), [a.get_attribute("href") for a in links.all()], strict=True)
        )
        pairs = annotate(browser, address, people["ana"], "2", "5-annotate")
        assert pairs == annotate(browser, address, people["ben"], "3", "6-annotate")
        adjudicate(browser, address, people["olga"])
        page.get_by_role("link", name="To the review").click()
        assert f"{pairs} of {pairs} items settled" in page.locator(".conclusion").inner_text()
        shot(page, "8-status")
        page.get_by_label("Name of the new folder").fill("decided")
        page.get_by_role("button", name="Apply").click()
        page.wait_for_url("**/datasets/decided")
        shot(page, "9-reviewed")
    before, after = (verdict(demo / name) for name in ("planted", "decided"))
    assert before == "fail"
    assert after == "pass"
    lineage = Dataset.open(demo / "decided").lineage[-1]
    assert lineage.step == "review"


def annotate(browser: Any, address: str, link: str, first: str, name: str) -> int:
    """Work through the queue by keyboard; how many items there were."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = watched(context)
    page.goto(address.rstrip("/") + link)
    page.wait_for_url("**/annotate")
    page.locator(".answer").first.wait_for()
    assert page.locator(".difference ins, .difference del").count() >= 1
    assert page.locator("#deciding kbd").count() >= 8  # the legend
    shot(page, name)
    total = int(page.locator("#progress").inner_text().split()[2])
    for n in range(total):
        page.get_by_text(f"{n} of {total} done").wait_for()
        page.keyboard.press(first if n == 0 else "2")
    page.get_by_text("Nothing is left to do").wait_for()
    context.close()
    return total


def adjudicate(browser: Any, address: str, link: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = watched(context)
    page.goto(address.rstrip("/") + link)
    page.get_by_role("link", name="Adjudicate").click()
    page.get_by_text("1 to decide").wait_for()
    assert "ana" in page.locator(".votes").inner_text()
    shot(page, "7-adjudicate")
    page.keyboard.press("2")
    page.get_by_text("Nothing is disputed").wait_for()
    context.close()


def verdict(folder: Path) -> str:
    findings = cl.audit(folder, checks=["near-duplicates"]).findings
    return next(f.verdict for f in findings if f.feature == "under different labels")


def test_wrong_predictions_are_filtered_and_two_runs_compared(
    demo: Path, page: Any, serving: Callable[..., Any]
) -> None:
    with serving(demo) as address:
        page.goto(address)
        page.get_by_role("navigation").get_by_role("link", name="runs/tfidf").click()
        page.get_by_label("Answer").select_option("wrong")
        page.get_by_role("button", name="Filter").click()
        assert page.locator("td.wrong").count() >= 1
        assert page.locator("td.right").count() == 0
        shot(page, "10-wrong-predictions")
        page.locator(".matrix td.miss a").first.click()
        assert page.locator("td.wrong").count() >= 1
        page.get_by_role("link", name="compare with runs/majority").click()  # on the same records
        page.get_by_role("link", name="only runs/tfidf").click()
        shot(page, "11-two-runs")
        rows = page.locator("table.records tbody tr")
        assert (
            rows.count() == rows.locator("td.right").count() == rows.locator("td.wrong").count() > 0
        )


def test_a_word_of_the_plot_says_its_figures_and_opens_its_records(
    demo: Path, page: Any, serving: Callable[..., Any]
) -> None:
    with serving(demo) as address:
        page.goto(f"{address}audits/audit?check=giveaways")
        page.locator("table.records a").first.click()
        dot = page.locator("figure svg a[aria-label^='bombshell']")
        figures = dot.get_attribute("aria-label")
        shot(page, "12-word-plot")
        dot.click()
        shown = int(page.locator("#matches b").inner_text().replace(",", ""))
        held = sum(
            int(part.split(" of ")[0].replace(",", ""))
            for part in figures.split(": ")[1].split(", ")
        )
        texts = Dataset.open(demo / "planted").records.filter(
            pl.col("text").str.contains(r"(?i)\bbombshell\b")
        )
        assert shown == texts.height >= held > 0, (
            "the plot counts each text once, the list has every record"
        )
        assert held == texts.select("text", "veracity").n_unique()


def test_what_a_narrow_window_folds_is_open_again_in_a_wide_one(
    demo: Path, page: Any, serving: Callable[..., Any]
) -> None:
    lists = page.locator("body > nav details")

    def opened(width: int) -> list[bool]:
        """Which lists of the sidebar are open in a window of this width."""
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(300)
        return [one.get_attribute("open") is not None for one in lists.all()]

    with serving(demo) as address:
        page.goto(address)
        assert all(opened(1280))
        lists.locator("summary").first.click()  # what a person closed stays closed
        before = opened(1280)
        assert not before[0]
        assert any(before)
        for _ in range(2):
            assert not any(opened(390))
            assert opened(1280) == before
        opened(390)
        page.reload()
        assert not any(opened(390))
        assert all(opened(1280))


def test_every_format_of_an_export_can_be_read_on_a_phone(
    demo: Path, browser: Any, serving: Callable[..., Any]
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 900})
    page = watched(context)
    with serving(demo) as address:
        page.goto(f"{address}datasets/planted/run/export")
        for name, words in verbs()["export"].names["to"]().items():
            label = page.locator("label", has=page.get_by_role("radio", name=name, exact=False))
            shown = label.filter(has_text=words).first
            box = shown.bounding_box()
            assert box is not None, name
            assert box["x"] + box["width"] <= 390, name
        assert page.get_by_role("radio", checked=True).get_attribute("value") == "csv"
        page.get_by_role("radio", name="jsonl").check()
        page.locator(".command code", has_text="--to jsonl").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_a_script_in_a_record_does_not_run(
    tmp_path: Path, page: Any, serving: Callable[..., Any]
) -> None:
    bad = "<script>alert(1)</script><img src=x onerror=alert(2)><a href='javascript:alert(3)'>x</a>"
    rows = {
        "id": [bad, "other"],
        "text": [bad, f"{bad} too"],
        "kind": ["claim"] * 2,
        "url": ["javascript:alert(4)"] * 2,
    }
    Dataset.build("x", pl.DataFrame(rows)).write(tmp_path / "x")
    review = review_create(tmp_path / "x", tmp_path / "review", task="note", per_item=1)
    token = review.add_person("ana")[1]
    review.close()
    with serving(tmp_path) as address:
        page.goto(f"{address}datasets/x")
        assert bad in page.locator("td.text").first.inner_text()
        page.locator("td.id a").first.click()
        assert bad in page.locator("blockquote").inner_text()
        assert page.locator("main script, main img, main a[href^=javascript]").count() == 0
        page.goto(f"{address}reviews/review/sign-in#token={token}")
        page.locator("#item blockquote").wait_for()
        assert bad in page.locator("#item").inner_text()
        assert page.locator("#item script, #item img, #item a").count() == 0


def test_answers_survive_a_lost_connection_and_a_reload(
    tmp_path: Path, browser: Any, serving: Callable[..., Any]
) -> None:
    clean_twin(size=12).write(tmp_path / "data")
    review = review_create(
        tmp_path / "data", tmp_path / "review", task="rating", per_item=1, sample=3
    )
    token = review.add_person("ana")[1]
    review.close()
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True)
    page = watched(context)
    # Every request of the page goes through here from its first on: a browser that begins to
    # intercept while a page is open may let one request by.
    lost, slow, held = False, False, []

    def network(route: Any) -> None:
        if lost:
            route.abort()
        elif slow and route.request.url.endswith("/skip"):
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/**", network)
    with serving(tmp_path) as address:
        page.goto(f"{address}reviews/review/sign-in#token={token}")
        page.get_by_text("0 of 3 done").wait_for()
        page.locator(".answer", has_text="7").tap()  # as on a phone
        page.get_by_text("1 of 3 done").wait_for()
        lost = True  # the connection is lost in the middle of saving
        page.keyboard.press("4")
        page.get_by_text("Not connected").wait_for()
        assert decisions(tmp_path) == 1
        lost = False
        page.reload()
        page.get_by_text("2 of 3 done").wait_for()
        slow = True  # the keys that follow come before the server has answered
        page.keyboard.press("s")
        page.keyboard.press("u")
        page.keyboard.press("c")
        page.keyboard.type("not sure, 5 or 6")  # keys in a field are words, not answers
        page.keyboard.press("Escape")
        page.keyboard.press("t")
        while not held:  # the browser asks in its own time
            page.wait_for_timeout(20)
        held[0].continue_()
        page.get_by_text("Nothing is left to do").wait_for()
        page.screenshot(path=SHOTS / "13-phone.png")
    context.close()
    assert decisions(tmp_path) == 3
    review = Review.open(tmp_path / "review")
    assert "10" in review.results()["value"].cast(pl.String).to_list()
    assert "undo" in review.events()["kind"].to_list()
    assert "not sure, 5 or 6" in [ballot.comment for ballot in review.ballots()]
    review.close()


def test_two_annotators_and_an_adjudicator_finish_200_items_by_keyboard(
    tmp_path: Path, browser: Any, serving: Callable[..., Any]
) -> None:
    clean_twin(size=220).write(tmp_path / "data")
    review = review_create(
        tmp_path / "data", tmp_path / "review", task="keep", per_item=2, sample=200
    )
    roles = {"ana": "annotator", "ben": "annotator", "olga": "adjudicator"}
    tokens = {name: review.add_person(name, role)[1] for name, role in roles.items()}
    review.close()
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = watched(context)
    with serving(tmp_path) as address:
        for name, every in (("ana", 1), ("ben", 10)):  # ben differs on one item in ten
            page.goto(f"{address}reviews/review/sign-in#token={tokens[name]}")
            for n in range(200):
                page.get_by_text(f"{n} of 200 done").wait_for()
                page.keyboard.press("1" if n % every or every == 1 else "2")
            page.get_by_text("Nothing is left to do").wait_for()
        page.goto(f"{address}reviews/review/sign-in#token={tokens['olga']}")
        disputed = int(page.get_by_text("to decide").inner_text().split()[0])
        page.keyboard.press("1")
        page.get_by_text(f"{disputed - 1} to decide").wait_for()
        page.keyboard.press("u")  # the adjudicator changes her mind
        for n in range(disputed, 0, -1):
            page.get_by_text(f"{n} to decide").wait_for()
            page.keyboard.press("2")
        page.get_by_text("Nothing is disputed").wait_for()
    context.close()
    review = Review.open(tmp_path / "review")
    values = review.results()["value"].value_counts()
    review.close()
    assert disputed == 20
    assert sorted(values.get_column("count")) == [20, 180]


def decisions(folder: Path) -> int:
    review = Review.open(folder / "review")
    count = int(review.progress().people["decisions"].sum())
    review.close()
    return count
