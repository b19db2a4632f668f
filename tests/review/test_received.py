"""A review from a stranger: its `review.json` opens nothing but a file of its own folder."""

from __future__ import annotations

import json
import socket
import sqlite3
from pathlib import Path

import pytest

from claimlab.core.errors import SchemaError, UsageError
from claimlab.review.review import Review

from .made import review


def received(tmp_path: Path, store: str) -> Path:
    made = review(tmp_path / "gift" / "r")
    made.close()
    for file in (tmp_path / "gift" / "r").glob("review.sqlite*"):
        file.unlink()
    file = tmp_path / "gift" / "r" / "review.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**content, "store": store}), encoding="utf-8")
    return file.parent


@pytest.fixture(autouse=True)
def gift(tmp_path: Path) -> None:
    (tmp_path / "gift").mkdir()


def test_a_database_that_the_file_names_is_never_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAIMLAB_REVIEW_STORE", raising=False)
    monkeypatch.setenv("PGPASSWORD", "not-for-strangers")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)
        folder = received(tmp_path, f"postgresql://root@127.0.0.1:{server.getsockname()[1]}/x")
        with pytest.raises(UsageError, match="only you can say"):
            Review.open(folder).progress()
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize(
    "store", ["../../victim.sqlite", "/tmp/victim.sqlite", "a/b.sqlite", "..", "."]
)
def test_a_path_outside_the_folder_is_refused(tmp_path: Path, store: str) -> None:
    folder = received(tmp_path, store)
    with pytest.raises(SchemaError, match="outside its folder"):
        Review.open(folder)
    assert not (tmp_path / "victim.sqlite").exists()


def test_a_link_and_a_foreign_database_stay_as_they_are(tmp_path: Path) -> None:
    victim = tmp_path / "cookies.sqlite"
    with sqlite3.connect(victim) as database:
        database.execute("create table cookies (name text)")
    before = victim.read_bytes()
    folder = received(tmp_path, "review.sqlite")
    (folder / "review.sqlite").symlink_to(victim)
    with pytest.raises(SchemaError, match="link"):
        Review.open(folder).progress()
    (folder / "review.sqlite").unlink()
    (folder / "review.sqlite").write_bytes(before)
    with pytest.raises(SchemaError, match="another program"):
        Review.open(folder).progress()
    assert (victim.read_bytes(), (folder / "review.sqlite").read_bytes()) == (before, before)
