"""The demo finds every planted defect, each by the part that is meant to find it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from parts.planted import DEFECTS

import claimlab as cl
from claimlab.cli.tour import Tour, run


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Tour:
    return run(tmp_path_factory.mktemp("demo"), seed=20)


@pytest.mark.slow
@pytest.mark.parametrize("defect", DEFECTS)
def test_each_planted_defect_is_found(tour: Tour, defect: str) -> None:
    assert defect in tour.found


@pytest.mark.slow
def test_cleaning_finds_what_the_audit_cannot(tour: Tour) -> None:
    assert tour.found["wrong-language"] == "clean: language"
    assert tour.found["too-short"] == "clean: too-short"
    assert cl.clean(tour.twin, seed=tour.seed).dataset.records.equals(tour.twin.records)
    assert "it loses nothing" in Path(tour.folder / "details.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_score_is_taken_apart(tour: Tour) -> None:
    defence = json.loads((tour.folder / "defence" / "defence.json").read_text(encoding="utf-8"))
    assert defence["row"]["repeats_shortcut"] > 0.2, "shortcuts were planted"
    assert "What the score is made of" in (tour.folder / "details.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_is_a_story(tour: Tour) -> None:
    """A newcomer reads it in five minutes; every link on it leads to a page of the demo, and no
    page is too large.
    """
    page = (tour.folder / "index.html").read_text(encoding="utf-8")
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.S)
    assert len(re.sub(r"<[^>]+>", " ", body).split()) < 1_200
    headings = re.findall(r"<h2[^>]*>([^<]+)", page)
    wanted = ["Before and after", "What was planted", "What was found", "What to do"]
    assert headings[:4] == wanted
    for link in set(re.findall(r'href="([^"#]+\.html)(?:#([^"]+))?"', page)):
        target = tour.folder / link[0]
        assert target.is_file()
        assert not link[1] or f'id="{link[1]}"' in target.read_text(encoding="utf-8"), link
    assert [p.name for p in tour.folder.rglob("*.html") if p.stat().st_size >= 2_000_000] == []
