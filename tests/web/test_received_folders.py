"""Folders that a stranger made, in the workspace of `serve`: no file outside, and no page fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from claimlab.web import add

CANARY = "canary-of-the-owner"


def test_a_report_names_no_file_outside_its_folder(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    secret, work = tmp_path / "secret.json", tmp_path / "work"
    secret.write_text(json.dumps(CANARY), encoding="utf-8")
    folder = work / "x"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("<p>drift</p>", encoding="utf-8")
    (folder / "link.json").symlink_to(secret)
    names = ["index.html", str(secret), "../secret.json", "../../secret.json", "link.json", "a//b"]
    mark = {"kind": "drift report", "files": names}
    (folder / ".claimlab.json").write_text(json.dumps(mark), encoding="utf-8")
    client = client_of(work)
    assert client.get("/reports/x/index.html").status_code == 200
    for name in (f"/{secret}", f"%2F{str(secret)[1:]}", "link.json", "..%2f..%2fsecret.json"):
        answer = client.get(f"/reports/x/{name}")
        assert (answer.status_code, CANARY in answer.text) == (404, False), name
    page = client.get("/reports/x").text
    assert "secret" not in page
    assert "link.json" not in page


@pytest.mark.parametrize(
    "content",
    [
        "[]", "null", "{}", '{"entries": 1}', '{"entries": [{}]}', '{"entries": [[]]}',
        '{"entries": [], "conclusion": []}', "[" * 100_000, "9" * 5_000, '{"entries": null}',
    ],
    ids=lambda text: text[:24],
)  # fmt: skip
def test_a_study_that_is_not_ours_is_a_sentence(
    content: str, tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    folder = tmp_path / "s"
    (folder / "report").mkdir(parents=True)
    (folder / "steps").mkdir()
    (folder / "study.toml").write_text(
        '[datasets.d]\nfolder = "d"\n[grid]\ndetector = ["majority"]\n', encoding="utf-8"
    )
    (folder / "cells.json").write_text(content, encoding="utf-8")
    (folder / "report" / "study.json").write_text(content, encoding="utf-8")
    client = client_of(tmp_path)
    for path in ("/studies/s", "/"):
        answer = client.get(path)
        assert answer.status_code < 500, (path, answer.text[:300])


def test_dropped_files_have_a_quota(
    tmp_path: Path, client_of: Callable[[Path], TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(add, "DROPPED_BYTES", 100)
    (tmp_path / "dropped").mkdir()
    (tmp_path / "dropped" / "a.csv").write_bytes(b"x" * 60)

    class Place:
        folder = tmp_path

    async def pieces():  # type: ignore[no-untyped-def]
        yield b"y" * 50

    import asyncio

    from claimlab.core.errors import DataError

    with pytest.raises(DataError, match="may hold"):
        asyncio.run(add._save(Place(), "b.csv", pieces()))  # type: ignore[arg-type]
    assert sorted(file.name for file in (tmp_path / "dropped").iterdir()) == ["a.csv"]
