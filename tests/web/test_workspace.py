from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from claimlab.core.errors import NotFound
from claimlab.generate.planted import clean_twin
from claimlab.web.workspace import Workspace


def test_everything_below_the_folder_is_listed_by_its_kind(workspace: Path) -> None:
    kinds = {entry.id: entry.kind for entry in Workspace(workspace).entries()}
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
    assert [entry.id for entry in found.entries()] == ["data"]
    for id in ("link~secret", "..~outside~secret", "../outside/secret", "~"):
        with pytest.raises(NotFound, match="There is no"):
            found.get(id)


def test_a_dataset_that_cannot_be_read_is_listed_with_the_reason(tmp_path: Path) -> None:
    clean_twin(size=20).write(tmp_path / "data")
    raw = json.loads((tmp_path / "data" / "dataset.json").read_text())
    (tmp_path / "data" / "dataset.json").write_text(json.dumps({**raw, "schema_version": 99}))
    (entry,) = Workspace(tmp_path).entries()
    assert "schema version 99" in entry.note


def test_the_folder_itself_may_be_a_dataset(tmp_path: Path) -> None:
    clean_twin(size=20).write(tmp_path / "data")
    (entry,) = Workspace(tmp_path / "data").entries()
    assert (entry.id, entry.name, entry.records) == ("~", "data", 20)


def test_home_and_its_twin_list_the_same(client: TestClient) -> None:
    page, twin = client.get("/").text, client.get("/api").json()
    assert len(twin["entries"]) == 5
    for entry in twin["entries"]:
        assert entry["name"] in page
