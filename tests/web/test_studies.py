"""Studies in the workspace: a list, tables over any two axes, and figures that lead to their
runs.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from parts.planted import planted
from starlette.testclient import TestClient

import claimlab as cl

STUDY = """
name = "Two guesses"
seeds = [0, 1]
[datasets.data]
folder = "data"
[grid]
split = ["random", "group"]
detector = ["stratified", "broken"]
[detector.broken]
detector = "shortcut"
settings = { feature = "no-such-column" }
"""


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studied")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        planted(size=240)[0].write("data")
        Path("mine.toml").write_text(STUDY, encoding="utf-8")
        cl.study_run("mine.toml", "studies/first")
    return folder


@pytest.fixture
def client(studied: Path, client_of: Callable[[Path], TestClient]) -> TestClient:
    return client_of(studied)


def test_the_home_page_lists_the_study_and_not_its_steps(client: TestClient) -> None:
    home = client.get("/api").json()
    assert {entry["id"]: entry["kind"] for entry in home["entries"]} == {
        "data": "dataset",
        "studies~first": "study",
    }
    assert home["states"] == {"studies~first": "16 cells, 4 failed"}
    page = client.get("/").text
    assert '<a href="/studies/studies~first"><bdi>studies/first</bdi></a>' in page
    assert "16 cells, 4 failed" in page
    for kind in ("Datasets", "Studies"):
        assert f'<summary>{kind} <span class="count">1</span></summary>' in page


def test_the_tables_are_those_of_the_study_and_every_figure_leads_to_its_run(
    client: TestClient, studied: Path
) -> None:
    twin = client.get("/api/studies/studies~first").json()
    (table,) = cl.study_table(studied / "studies" / "first")[:1]
    assert twin["name"] == "Two guesses"
    assert twin["tables"][0]["columns"] == list(table.columns)
    assert [[c["text"] for c in row] for row in twin["tables"][0]["rows"]] == [
        [getattr(c, "text", c) for c in row] for row in table.rows
    ]
    links = [
        c["link"] for row in twin["tables"][0]["rows"] for c in row if re.match(r"\d", c["text"])
    ]
    assert len(links) == 6
    assert all(client.get(link).status_code == 200 for link in links)
    first = next(
        s
        for s in twin["settings"]
        if s["name"] == "dataset data, split random, detector stratified"
    )
    assert len(first["runs"]) == 2
    assert client.get(f"/api{first['runs'][0]}").json()["detector"] == "stratified"
    assert [s["failed"] is None for s in twin["settings"]].count(False) == 2
    page = client.get("/studies/studies~first").text
    for link in links:
        assert f'href="{link}"' in page


def test_other_axes_and_measures_can_be_chosen(client: TestClient) -> None:
    twin = client.get("/api/studies/studies~first?rows=split&columns=detector&cells=records").json()
    assert twin["tables"][0]["columns"] == [
        "split",
        "majority",
        "length alone",
        "stratified",
        "broken",
    ]
    assert [row[0]["text"] for row in twin["tables"][0]["rows"]] == ["random", "group"]
    for wrong in ("rows=nothing", "cells=nothing"):
        response = client.get(f"/api/studies/studies~first?{wrong}")
        assert (response.status_code, "nothing" in response.json()["problem"]) == (422, True)
    assert client.get("/studies/data").status_code == 404


def test_the_links_of_the_saved_page_lead_to_runs_here_and_to_folders_on_disk(
    client: TestClient, studied: Path
) -> None:
    saved = (studied / "studies" / "first" / "report" / "index.html").read_text(encoding="utf-8")
    on_disk = re.findall(r'href="\.\./(steps/[^"]+)"', saved)
    assert len(on_disk) > 6
    assert all(
        (studied / "studies" / "first" / link / "dataset.json").is_file() for link in on_disk
    )
    served = client.get("/reports/studies~first~report/index.html").text
    links = re.findall(r'href="(/runs/[^"]+)"', served)
    assert len(links) == len(on_disk)
    assert "../steps" not in served
    assert client.get(links[0]).status_code == 200


def test_the_study_may_be_the_workspace_itself(
    studied: Path, client_of: Callable[[Path], TestClient]
) -> None:
    client = client_of(studied / "studies" / "first")
    twin = client.get("/api/studies/~").json()
    link = next(c["link"] for row in twin["tables"][0]["rows"] for c in row if c["link"])
    assert client.get(link).status_code == 200
    assert client.get(twin["report"]).status_code == 200


def test_a_study_that_is_under_way_says_how_far_it_is(
    studied: Path, tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    shutil.copytree(studied / "studies" / "first", tmp_path / "half")
    shutil.rmtree(tmp_path / "half" / "report")
    (tmp_path / "half" / "cells.json").unlink()
    client = client_of(tmp_path)
    assert client.get("/api").json()["states"] == {"half": "Not finished: 16 steps done."}
    twin = client.get("/api/studies/half").json()
    assert (twin["conclusion"], twin["tables"]) == ("Not finished: 16 steps done.", [])
    assert "Not finished" in client.get("/studies/half").text
