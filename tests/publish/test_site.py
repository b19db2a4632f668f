"""A site shows what audits came to, holds no record, and says what changed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from parts.planted import clean_twin, planted

import claimlab as cl
from claimlab.audit.result import Audit, read_audits
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.finding import Finding
from claimlab.publish.aggregates import aggregate, unquoted
from claimlab.publish.dataset_page import badge
from claimlab.publish.site import MOST_PAGE_BYTES

DAY = date(2026, 1, 31)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`audits` of two datasets with their `overlap`, and `public`, the site of them."""
    folder = tmp_path_factory.mktemp("site")
    data = {"planted": planted(size=300)[0], "clean-twin": clean_twin(size=300)}
    for name, dataset in data.items():
        dataset.write(folder / name)
        cl.audit(folder / name, output=folder / "audits" / name)
    cl.overlap([folder / name for name in data], output=folder / "audits" / "overlap")
    cl.publish_site(folder / "audits", folder / "public", as_of=DAY)
    return folder


def texts(folder: Path) -> Iterator[str]:
    yield from (p.read_text("utf-8") for p in sorted(folder.rglob("*")) if p.is_file())


def test_a_dataset_without_labels_is_counted_apart(tmp_path: Path) -> None:
    table = {"id": ["1", "2"], "text": ["One claim of the town.", "Another claim of the town."]}
    bare = Dataset.build("bare", pl.DataFrame(table))
    for data in (bare, clean_twin(size=60)):
        cl.audit(data, checks=["one-class"], output=tmp_path / "audits" / data.name)
    cl.publish_site(tmp_path / "audits", tmp_path / "public", as_of=DAY)
    front = (tmp_path / "public" / "index.html").read_text("utf-8")
    assert re.findall(r"<dd[^>]*>(\d+)</dd>", front)[:4] == ["1", "0", "0", "1"]


@pytest.mark.slow
def test_every_dataset_has_its_page_figures_errata_and_badge(place: Path) -> None:
    for name in ("planted", "clean-twin"):
        folder = place / "public" / "datasets" / name
        page = (folder / "index.html").read_text("utf-8")
        assert "As of 2026-01-31, claimlab" in page
        assert "Overlap with other datasets" in page
        (audit,) = read_audits(folder)
        (whole,) = read_audits(place / "audits" / name)
        assert audit.counts() == whole.counts()
        assert [f.score for f in audit.findings] == [f.score for f in whole.findings]
        assert json.loads((folder / "errata.json").read_text("utf-8"))["errata"] == []
    front = (place / "public" / "index.html").read_text("utf-8")
    assert 'href="datasets/planted/index.html#length"' in front


def test_no_record_leaves(place: Path) -> None:
    records = cl.Dataset.open(place / "planted").records
    whole = "\n".join(texts(place / "public"))
    assert not [i for i in records["id"].to_list() if i in whole]
    assert not [text for text in records["text"].drop_nulls().to_list() if text[:40] in whole]
    for column in ("source", "author"):
        assert not [name for name in records[column].drop_nulls().unique() if name in whole]
    assert "bombshell" not in whole, "a word that gives the label away is of the data"


def test_pages_are_small_and_ask_for_nothing_outside(place: Path) -> None:
    for page in (place / "public").rglob("*.html"):
        text = page.read_text("utf-8")
        assert len(text.encode()) < MOST_PAGE_BYTES
        assert "default-src 'none'" in text
        assert not re.search(r'(?:src|action)="(?!data:)', text)
        assert not re.search(r"https?://", re.sub(r'xmlns[:\w]*="[^"]*"', "", text))


@pytest.mark.slow
def test_a_hundred_datasets_fit_on_the_front_page(place: Path, tmp_path: Path) -> None:
    (one,) = json.loads((place / "audits" / "planted" / "audit.json").read_text("utf-8"))["audits"]
    audits = [{**one, "dataset": f"dataset-{n:03d}"} for n in range(100)]
    (tmp_path / "audits").mkdir()
    (tmp_path / "audits" / "audit.json").write_text(json.dumps({"audits": audits}), "utf-8")
    site = cl.publish_site(tmp_path / "audits", tmp_path / "public", as_of=DAY)
    assert len(site) == 100
    assert (tmp_path / "public" / "index.html").stat().st_size < MOST_PAGE_BYTES


def entries(folder: Path) -> list[tuple[str | None, str | None]]:
    space = "{http://www.w3.org/2005/Atom}"
    root = ElementTree.parse(folder / "feed.xml").getroot()
    assert root.find(f"{space}id") is not None
    found = root.iter(f"{space}entry")
    return [(e.findtext(f"{space}title"), e.findtext(f"{space}summary")) for e in found]


def test_the_feed_says_what_changed_since_the_site_before(place: Path, tmp_path: Path) -> None:
    def publish(day: int) -> list[tuple[str | None, str | None]]:
        cl.publish_site(
            tmp_path / "audits", tmp_path / "public", as_of=date(2026, 2, day), force=True
        )
        return entries(tmp_path / "public")

    (tmp_path / "audits").mkdir()
    file = tmp_path / "audits" / "audit.json"
    saved = json.loads((place / "audits" / "planted" / "audit.json").read_text("utf-8"))
    file.write_text(json.dumps(saved), "utf-8")
    first = publish(1)
    assert [title for title, _ in first] == ["planted"]
    assert publish(2) == first, "nothing has changed"
    finding = next(f for f in saved["audits"][0]["findings"] if f["check"] == "length")
    finding["verdict"] = "inconclusive"
    file.write_text(json.dumps(saved), "utf-8")
    second = publish(3)
    assert second == [("planted", "length: fail to inconclusive."), *first]


def test_a_badge_and_a_page_say_the_verdict_of_the_audit() -> None:
    """What leaves is aggregated, and decides the same."""
    audited = cl.audit(planted()[0], checks=["source", "length", "near-duplicates"])
    left = aggregate(audited)
    assert left.conclusion.verdict == audited.conclusion.verdict
    text = ElementTree.fromstring(badge(left)).findtext("{http://www.w3.org/2000/svg}text")
    assert text == f"claimlab: {audited.conclusion.verdict.words}"
    assert text.startswith("claimlab: usable beside ")


def test_advice_on_a_site_names_the_column() -> None:
    data, _ = planted()
    some = pl.when(pl.col("veracity") == "true").then("author").alias("author")
    audited = cl.audit(Dataset.build("one", data.records.with_columns(some)), checks=["missing"])
    (advice,) = aggregate(audited).conclusion.advice
    assert "Drop the column 'author'" in advice.text


def test_a_page_says_why_it_lists_more_findings_than_it_counts(place: Path) -> None:
    for name in ("planted", "clean-twin"):
        (audited,) = read_audits(place / "audits" / name)
        listed = sum(len(finding.every) for finding in audited.findings)
        page = (place / "public" / "datasets" / name / "index.html").read_text("utf-8")
        said = "that measure the same fact count once" in page
        assert said == (listed > sum(audited.counts().values()))


def test_examples_of_the_data_are_left_out_of_a_sentence() -> None:
    why = "Words ('one', 'two' and 7 more) lean: 5 of 10, such as 'three', do."
    assert unquoted(why) == "Words lean: 5 of 10, such as …, do."
    why = "Cramér's V 0.9; the most one-sided is 'Don't Panic Weekly' with 100% of one class."
    assert unquoted(why) == "Cramér's V 0.9; the most one-sided is … with 100% of one class."


def test_a_dataset_of_the_catalogue_brings_errata_licence_and_citation(tmp_path: Path) -> None:
    finding = Finding(check="length", protocol="fair", verdict="pass", why="Fair.")
    audits = [
        Audit(name, "0", "fair", "veracity", 0, 9, 9, [finding], card=name, folder=name).to_json()
        for name in ("liar", "claimskg")
    ]
    (tmp_path / "audit").mkdir()
    raw = json.dumps({"audits": audits})
    (tmp_path / "audit" / "audit.json").write_text(raw, "utf-8")
    cl.publish_site(tmp_path / "audit", tmp_path / "public", as_of=DAY)
    folder = tmp_path / "public" / "datasets" / "liar"
    page = (folder / "index.html").read_text("utf-8")
    assert "research only" in page
    assert "claimlab load liar" in page
    assert json.loads((folder / "errata.json").read_text("utf-8"))["errata"]
    assert (folder / "cite.bib").read_text("utf-8").startswith("@misc{wang2017")
    assert "left of its texts" not in page
    decayed = (folder.parent / "claimskg" / "index.html").read_text("utf-8")
    assert "What is left of its texts: 510 listed, 386 with a text" in decayed


def test_commands_have_lines_of_their_own_and_overlaps_lead_to_pages(place: Path) -> None:
    page = (place / "public" / "datasets" / "planted" / "index.html").read_text("utf-8")
    assert re.search(r'<ul class="steps"><li[^>]*>[^<]+<code>claimlab ', page)
    assert '<a href="../clean-twin/index.html">clean-twin</a>' in page


def test_two_audits_of_one_dataset_are_not_mixed_up(place: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        shutil.copytree(place / "audits" / "planted", tmp_path / "audits" / name)
    with pytest.raises(DataError, match=r"Two of the audits are of 'planted'.*second"):
        cl.publish_site(tmp_path / "audits", tmp_path / "public")


def test_a_study_shows_its_axes_ranks_and_stars(tmp_path: Path) -> None:
    def entry(detector: str, score: float, p: float) -> dict[str, Any]:
        return {
            "axes": {"dataset": "mine", "detector": detector},
            "macro_f1": score,
            "interval": [score - 0.1, score + 0.1],
            "chance": {"p_holm": p},
            "ranks": [1, 2],
            "records": 200,
        }

    study = {"conclusion": "So.", "entries": [entry("a", 0.8, 0.001), entry("b", 0.5, 0.6)]}
    (tmp_path / "grid" / "report").mkdir(parents=True)
    (tmp_path / "grid" / "report" / "study.json").write_text(json.dumps(study), "utf-8")
    cl.publish_site(tmp_path / "grid", tmp_path / "public", as_of=DAY)
    page = (tmp_path / "public" / "results" / "grid.html").read_text("utf-8")
    heads = re.findall(r"<th [^>]*>([^<]*)</th>", page)
    assert heads == ["dataset", "detector", "Macro-F1, %", "95% interval", "Rank", "Records"]
    assert re.findall(r">(\d\d\.0\*?)</td>", page) == ["80.0*", "50.0"]
    assert page.count(">1-2</td>") == 2


def test_what_cannot_be_shown_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "missing"):
        with pytest.raises(DataError, match="holds no audit"):
            cl.publish_site(tmp_path / name, tmp_path / "public")
    (tmp_path / "empty" / "overlap.json").write_text("[]", "utf-8")
    with pytest.raises(DataError, match="does not hold a JSON object"):
        cl.publish_site(tmp_path / "empty", tmp_path / "public")
    assert not (tmp_path / "public").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_address_keeps_filter_and_order(
    browser: Any, place: Path, tmp_path: Path, width: int, scheme: str
) -> None:
    (one,) = json.loads((place / "audits" / "planted" / "audit.json").read_text("utf-8"))["audits"]
    audits = [{**one, "dataset": f"dataset-{n}", "labelled": n} for n in range(12)]
    (tmp_path / "audits").mkdir()
    (tmp_path / "audits" / "audit.json").write_text(json.dumps({"audits": audits}), "utf-8")
    cl.publish_site(tmp_path / "audits", tmp_path / "public", as_of=DAY)
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto((tmp_path / "public" / "index.html").as_uri())
    page.get_by_role("heading", name="Every dataset and check").click()
    page.get_by_role("button", name="Labelled").click()
    page.get_by_label("Show only rows that hold these words").fill("dataset-1")
    page.wait_for_function("location.hash.includes('filter0=dataset-1')")
    address = page.url
    assert "filter0=dataset-1" in address
    other = context.new_page()
    other.goto(address)
    rows = other.locator("tbody tr:visible td:first-child").all_inner_texts()
    assert rows == ["dataset-11", "dataset-10", "dataset-1"]
    assert other.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
