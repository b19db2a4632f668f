from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from parts.planted import clean_twin, planted
from starlette.testclient import TestClient

import claimlab as cl
from claimlab.core.errors import NotFound
from claimlab.review.create import review_create
from claimlab.web.workspace import Workspace


def test_everything_below_the_folder_is_listed_by_its_kind(workspace: Path) -> None:
    kinds = {entry.id: entry.kind for entry in Workspace(workspace).listed()}
    assert kinds == {
        "data": "dataset",
        "evolved": "traces",
        "reports~audit": "audit",
        "runs~majority": "run",
        "runs~tfidf": "run",
    }


def test_hidden_folders_and_links_are_not_entered(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    clean_twin(size=20).write(outside / "secret")
    clean_twin(size=20).write(tmp_path / "inside" / ".hidden" / "data")
    clean_twin(size=20).write(tmp_path / "inside" / "data")
    (tmp_path / "inside" / "link").symlink_to(outside, target_is_directory=True)
    found = Workspace(tmp_path / "inside")
    assert [entry.id for entry in found.listed()] == ["data"]
    for id in ("link~secret", "..~outside~secret", "../outside/secret", "~"):
        with pytest.raises(NotFound, match="There is no"):
            found.get(id)


def test_a_dataset_that_cannot_be_read_is_listed_with_the_reason(tmp_path: Path) -> None:
    clean_twin(size=20).write(tmp_path / "data")
    raw = json.loads((tmp_path / "data" / "dataset.json").read_text())
    (tmp_path / "data" / "dataset.json").write_text(json.dumps({**raw, "schema_version": 99}))
    (entry,) = Workspace(tmp_path).listed()
    assert "schema version 99" in entry.note


def test_the_folder_itself_may_be_a_dataset(tmp_path: Path) -> None:
    clean_twin(size=20).write(tmp_path / "data")
    (entry,) = Workspace(tmp_path / "data").listed()
    assert (entry.id, entry.name, entry.records) == ("~", "data", 20)


def test_a_folder_inside_that_is_named_like_the_workspace_is_told_apart(tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    for place in (folder, folder / "audit"):
        (place).mkdir()
        (place / ".claimlab.json").write_text('{"kind": "audit report", "files": []}')
    names = {entry.id: entry.name for entry in Workspace(folder).listed()}
    assert names == {"~": "audit (the workspace itself)", "audit": "audit"}
    (folder / "audit").rename(folder / "other")
    assert Workspace(folder).listed()[1].name == "audit"


def test_home_and_its_twin_list_the_same(client: TestClient) -> None:
    page, twin = client.get("/").text, client.get("/api").json()
    assert len(twin["entries"]) == 5
    for entry in twin["entries"]:
        assert entry["name"] in page


def test_datasets_that_were_made_from_one_another_are_one_family(
    client: TestClient, workspace: Path
) -> None:
    (family,) = client.get("/api").json()["families"]
    assert [step["name"] for step in family["steps"]] == ["data"]
    assert {run["name"] for run in family["runs"]} == {"runs/majority", "runs/tfidf"}
    assert [one["name"] for one in family["traces"]] == ["evolved"]
    assert family["audit"]["link"] == "/audits/reports~audit"
    assert family["records"] == sum(family["labels"].values())


def test_a_card_has_the_best_score_as_the_evaluation_gives_it_and_open_reviews(
    tmp_path: Path, workspace: Path, client_of: Callable[[Path], TestClient]
) -> None:
    shutil.copytree(workspace, tmp_path / "here")
    review_create(tmp_path / "here" / "data", tmp_path / "here" / "open", sample=7).close()
    board = cl.evaluate([tmp_path / "here" / "runs" / name for name in ("tfidf", "majority")])
    with client_of(tmp_path / "here") as client:
        figures = client.get("/api/figures").json()["families"]["data"]
        assert figures["best"]["link"] == "/runs/runs~tfidf"
        (tfidf,) = [run for run in board.runs if run.about.detector == "tfidf"]
        assert figures["best"]["macro_f1"] == pytest.approx(tfidf.scores.macro_f1)
        assert figures["best"]["interval"] == pytest.approx(tfidf.intervals["macro_f1"], abs=0.02)
        assert figures["reviews"] == [
            {"name": "open", "link": "/reviews/open", "open": 7, "total": 7}
        ]
        home = client.get("/api").json()
        assert "/reviews/open" in home["on_cards"]  # and is not listed again below
        assert "Other reviews" not in client.get("/").text
        (family,) = home["families"]
        assert family["next"]["verb"] == "compare"
        assert client.get(family["next"]["link"]).status_code == 200


def test_a_step_that_was_not_made_from_the_one_before_it_does_not_follow_it(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    planted(size=120)[0].write(tmp_path / "data")
    cl.clean(tmp_path / "data", output=tmp_path / "cleaned")
    cl.split(tmp_path / "data", output=tmp_path / "divided")
    with client_of(tmp_path) as client:
        (family,) = client.get("/api").json()["families"]
        steps = [(step["name"], step["follows"]) for step in family["steps"]]
        assert steps == [("data", True), ("cleaned", True), ("divided", False)]
        assert 'class="apart"' in client.get("/").text


def test_families_are_apart_and_each_has_its_next_step(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    for seed, name in enumerate(("one", "two")):
        clean_twin(size=40, seed=seed).write(tmp_path / name)
    cl.clean(tmp_path / "one", output=tmp_path / "one-clean")
    with client_of(tmp_path) as client:
        home = client.get("/api").json()
        families = {family["name"]: family for family in home["families"]}
        assert set(families) == {"one", "two"}
        assert [step["name"] for step in families["one"]["steps"]] == ["one", "one-clean"]
        assert families["two"]["next"] | {"why": ""} == {
            "verb": "audit",
            "link": "/datasets/two/run/audit",
            "why": "",
        }
        for family in families.values():
            assert client.get(family["next"]["link"]).status_code == 200
            assert family["link"] in client.get("/").text
