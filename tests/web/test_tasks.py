"""Eight things that people come for, each done in a browser: found without help, and by key where
there is one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claimlab.cli.app import run
from claimlab.review.create import review_create
from claimlab.review.review import Review

pytestmark = pytest.mark.slow
# How far what is seen moves while a page is loaded; above 0.1, people lose their place.
JUMPS = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value; })
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 300);
})"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "demo"
    assert run(["demo", "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def address(demo: Path, serving: Callable[..., Any]) -> Iterator[str]:
    with serving(demo) as place:
        yield place


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(90_000)
    page.on("pageerror", lambda error: pytest.fail(f"script: {error}"))
    yield page
    context.close()


def test_find_the_worst_shortcut(page: Any, address: str) -> None:
    page.goto(address)
    page.locator(".card", has_text="planted").get_by_role("link", name="Audit", exact=True).click()
    assert "source" in page.locator(".forest a").first.inner_text().lower()
    page.get_by_role("heading", name="All advice").click()
    first = page.locator("ol.advice li").first
    assert "source" in first.inner_text()
    first.get_by_role("link", name="Split").click()
    assert "--by column --column source" in page.locator("#command code").inner_text()


def test_read_the_three_most_confident_errors(page: Any, address: str) -> None:
    page.goto(f"{address}runs/runs~tfidf")
    page.locator("#headline", has_text="95% interval").wait_for()
    total = int(page.locator("#errors").inner_text().split()[2])
    page.locator("#errors").click()
    sure = []
    for number in (1, 2, 3):
        page.get_by_text(f"{number} of {total}", exact=True).wait_for()
        page.locator("#text mark").first.wait_for()
        assert page.locator(".conclusion .wrong").count() == 1
        words = page.locator(".conclusion").inner_text()
        sure.append(int(words.split("with ")[1].rstrip("%.")))
        page.keyboard.press("j")
    assert sure == sorted(sure, reverse=True)
    page.get_by_text(f"4 of {total}", exact=True).wait_for()
    page.keyboard.press("k")
    page.get_by_text(f"3 of {total}", exact=True).wait_for()


def test_records_are_read_beside_their_list_by_key(page: Any, address: str) -> None:
    page.goto(f"{address}datasets/planted?veracity=false&size=3")
    ids = page.locator("table.records td.id").all_inner_texts()
    pane = page.locator("#peek")
    for id in ids:
        page.keyboard.press("j")
        pane.get_by_role("heading", name=f"Record {id}", exact=True).wait_for()
        assert page.locator("tr[aria-current]").count() == 1
        assert id in page.locator("tr[aria-current]").inner_text()
        assert "Label false" in pane.inner_text().replace("\n", " ")
    page.keyboard.press("k")
    pane.get_by_role("heading", name=f"Record {ids[1]}", exact=True).wait_for()
    page.keyboard.press("Escape")
    assert pane.count() == 0
    page.locator("td.text").last.click()  # without a key
    pane.get_by_role("heading", name=f"Record {ids[2]}", exact=True).wait_for()
    page.keyboard.press("j")  # past the end of a page comes the next, with the same filter
    page.wait_for_url("**page=2*")
    page.locator("#peek h2").first.wait_for()
    assert page.locator("table.records tbody tr").first.get_attribute("aria-current") == "true"
    page.keyboard.press("Enter")
    page.get_by_text("4 of 481", exact=True).wait_for()


def test_decide_ten_conflicts(
    page: Any, demo: Path, tmp_path: Path, serving: Callable[..., Any]
) -> None:
    shutil.copytree(demo / "planted", tmp_path / "planted")
    conflicts = tmp_path / "conflicts"
    review = review_create(
        tmp_path / "planted", conflicts, task="conflict", pairs="conflicts", per_item=1
    )
    review.close()
    with serving(tmp_path) as place:
        page.goto(place)
        page.get_by_role("link", name="Review conflicts").click()
        page.get_by_role("link", name="Add yourself").click()
        page.keyboard.type("ana")  # the field has the focus
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Work as ana").click()
        page.locator(".origin a").first.wait_for()  # where both texts come from
        assert page.locator("#guideline").get_attribute("open") is not None
        assert page.evaluate(JUMPS) < 0.1
        page.keyboard.press("?")
        keys = page.locator("#help")
        assert keys.locator("dt").first.is_visible()
        assert "skip" in keys.inner_text()
        page.keyboard.press("2")  # decides nothing while the list is open
        page.keyboard.press("Escape")
        keys.wait_for(state="hidden")
        for done in range(10):
            page.get_by_text(f"{done} of ").wait_for()
            page.keyboard.press("2")
        page.get_by_text("10 of ").wait_for()
        page.reload()
        page.locator(".answer").first.wait_for()
        assert page.locator("#guideline").get_attribute("open") is None  # it was read
        assert page.evaluate(JUMPS) < 0.1
    review = Review.open(conflicts)
    assert int(review.progress().people["decisions"].sum()) == 10
    review.close()


def test_compare_two_runs(page: Any, address: str) -> None:
    page.goto(address)
    page.locator(".card", has_text="planted").get_by_role("link", name="Next: compare").click()
    page.locator("#told", has_text=" above ").wait_for()  # more than chance
    assert "95% interval" in page.locator("#told").inner_text()
    names = page.locator("h1").inner_text().split(" and ")
    for name in names:
        assert page.get_by_role("link", name=f"only {name}").count() == 1
    page.get_by_role("link", name=f"only {names[0]}").click()
    rows = page.locator("table.records tbody tr")
    assert rows.count() == rows.locator("td.right").count() > 0


def test_add_a_csv(page: Any, tmp_path: Path, serving: Callable[..., Any]) -> None:
    (tmp_path / "here").mkdir()
    lines = [f"The bridge of town {n} was closed,{'real' if n % 2 else 'fake'}" for n in range(40)]
    file = tmp_path / "claims.csv"
    file.write_text("\n".join(["claim,label", *lines]), encoding="utf-8")
    with serving(tmp_path / "here") as place:
        page.goto(place)
        page.keyboard.press("g")
        page.keyboard.press("a")
        page.locator("#files").set_input_files(file)
        page.locator("#start").wait_for()
        assert "40 rows" in page.locator(".conclusion").inner_text()
        page.locator("#start").click()
        page.wait_for_url("**/jobs/*")


def test_start_an_audit_and_export(page: Any, demo: Path, tmp_path: Path, serving: Any) -> None:
    shutil.copytree(demo / "clean-twin", tmp_path / "here" / "clean-twin")
    with serving(tmp_path / "here") as place:
        page.goto(place)
        page.get_by_role("link", name="Next: audit").click()
        page.locator("#option-checks-names summary").click()
        page.locator("#option-checks-length").check()
        page.locator("#start").click()
        page.wait_for_url("**/audits/clean-twin-audit")
        page.goto(f"{place}datasets/clean-twin")
        page.get_by_role("link", name="Export").click()
        page.get_by_role("radio", name="csv").check()
        page.locator("#start").click()
        page.wait_for_url("**/jobs/*")
        page.get_by_text("Done in").wait_for()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download records.csv").click()
        assert "cheese market" in Path(download.value.path()).read_text(encoding="utf-8")
    assert list((tmp_path / "here" / "clean-twin-export").rglob("*.csv"))


def test_find_the_fact_check_of_a_claim(page: Any, address: str) -> None:
    page.goto(address)
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url("**/match")
    page.get_by_label("Claim").fill("cheese market in Old Kirrin cancelled evening courses")
    page.get_by_label("Look in").select_option("planted")
    page.get_by_role("button", name="Find").click()
    first = page.locator("table.records tbody tr").first
    assert "cheese market" in first.inner_text()
    first.get_by_role("link").first.click()
    assert "cheese market" in page.locator("blockquote").first.inner_text()


def test_a_claim_is_looked_up_from_home_and_from_a_record_by_key(page: Any, address: str) -> None:
    page.goto(address)
    page.keyboard.press("/")
    page.keyboard.type("cheese market in Old Kirrin cancelled evening courses")
    page.keyboard.press("Enter")
    page.wait_for_url("**/match?*")
    page.locator("table.records tbody tr a").first.click()
    page.get_by_role("link", name="Checked before?").click()
    assert "cheese market" in page.locator("table.records tbody tr").first.inner_text()


def test_keys_are_shown_on_demand(page: Any, address: str) -> None:
    page.goto(f"{address}datasets/planted")
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Keys").click()  # who does not know the key
    page.get_by_role("heading", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("market")
    page.keyboard.press("Enter")
    page.locator("td.text mark").first.wait_for()
