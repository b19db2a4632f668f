"""A download: terms first, hash checked, whole or not at all, resumed, and never from a private
address unasked.
"""

from __future__ import annotations

import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import claimlab as cl
from claimlab.catalog import download as module
from claimlab.catalog.card import Address, Card
from claimlab.catalog.download import download
from claimlab.catalog.load import DATASETS
from claimlab.cli.app import run
from claimlab.core.errors import DataError, UsageError
from claimlab.search.addresses import Guard


class Server(ThreadingHTTPServer):
    """Serves `body` at any path but /moved (a redirect) and /gone; `cut` breaks off after so many
    bytes, once.
    """

    def __init__(self, body: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.body, self.cut, self.version = body, 0, '"one"'
        self.ranges: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.guard = Guard(ports=[self.server_port], allowed_numbers=["127.0.0.1"])


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if self.path in ("/moved.zip", "/gone.zip"):
            self.send_response(302 if self.path == "/moved.zip" else 404)
            self.send_header("Location", "/files/liar.zip")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        self.server.ranges.append(self.headers.get("Range"))
        same = (
            self.headers.get("If-Range", self.server.version) == self.server.version
        )  # who does not ask gets a part
        start = int(wanted[1]) if wanted and same else 0
        rest = self.server.body[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.send_header("ETag", self.server.version)
        self.end_headers()
        cut, self.server.cut = self.server.cut, 0
        self.wfile.write(rest[:cut] if cut else rest)
        if cut:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


def archive() -> bytes:
    """Two statements in the layout of LIAR, and padding that takes several pieces to send."""
    row = "{0}.json\t{1}\tThe mill of Riverton is {0} years old.\tmills\ts\tj\ti\tp\t0\t0\t0\t0\t0\tc\n"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for first, name in ((1, "train"), (5, "valid"), (9, "test")):
            rows = [row.format(i, ("true", "false")[i % 2]) for i in range(first, first + 4)]
            packed.writestr(f"{name}.tsv", "".join(rows))
        packed.writestr("README", b"x" * 3_000_000)
    return file.getvalue()


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server(archive())
    thread = threading.Thread(target=one.serve_forever, daemon=True)
    thread.start()
    yield one
    one.shutdown()
    one.server_close()
    thread.join(60)


def card(server: Server, path: str = "/liar.zip", *, sha256: str | None = None) -> Card:
    return DATASETS.get("liar").card.model_copy(
        update={"download": Address(url=f"{server.url}{path}", sha256=sha256)}
    )


def test_the_terms_come_first_and_the_file_comes_whole(server: Server, tmp_path: Path) -> None:
    events: list[str] = []
    known = hashlib.sha256(server.body).hexdigest()
    wanted = card(server, "/moved.zip", sha256=known)
    file = download(
        wanted, tmp_path / "liar.zip", on_terms=lambda terms: events.append(f"{terms} {len(server.ranges)}"),
        guard=server.guard,
    )  # fmt: skip
    assert events == [f"LIAR: licence research only; from {server.url}/moved.zip 0"], (
        "before a byte was asked for"
    )
    assert file.read_bytes() == server.body
    assert [p.name for p in tmp_path.iterdir()] == ["liar.zip"]
    assert download(wanted, file, on_terms=events.append, guard=server.guard) == file
    assert (len(server.ranges), len(events)) == (1, 1), "what is there is not fetched again"


def test_a_download_that_broke_off_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.cut = 1_000_000
    with pytest.raises(
        DataError, match=r"LIAR was not downloaded.*broke off.*Run the same again to continue"
    ):
        download(card(server), tmp_path / "liar.zip", guard=server.guard)
    assert not (tmp_path / "liar.zip").exists()
    have = (tmp_path / "liar.zip.part").stat().st_size
    assert 0 < have <= 1_000_000
    download(card(server), tmp_path / "liar.zip", guard=server.guard)
    assert server.ranges == [None, f"bytes={have}-"]
    assert (tmp_path / "liar.zip").read_bytes() == server.body


def test_a_part_of_another_version_is_thrown_away(server: Server, tmp_path: Path) -> None:
    server.cut = 1_000_000
    with pytest.raises(DataError):
        download(card(server), tmp_path / "liar.zip", guard=server.guard)
    server.body, server.version = server.body[::-1], '"two"'
    assert (
        download(card(server), tmp_path / "liar.zip", guard=server.guard).read_bytes()
        == server.body
    )


def test_another_file_than_the_catalogue_knows_is_refused(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not the file of LIAR that the catalogue knows"):
        download(card(server, sha256="0" * 64), tmp_path / "liar.zip", guard=server.guard)
    assert list(tmp_path.iterdir()) == [], "neither under its name, nor as a part"
    (tmp_path / "liar.zip").write_bytes(b"mine")
    with pytest.raises(DataError, match="is not the file of LIAR"):
        download(card(server, sha256="0" * 64), tmp_path / "liar.zip", guard=server.guard)
    assert (tmp_path / "liar.zip").read_bytes() == b"mine", "a file of the user is never removed"


def test_errors_are_sentences(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="was answered with 404"):
        download(card(server, "/gone.zip"), tmp_path / "a.zip", guard=server.guard)
    with pytest.raises(DataError, match="does not lead to the public web|only 80 and 443"):
        download(card(server), tmp_path / "a.zip")
    with pytest.raises(UsageError, match="no address of a file of FibVID"):
        download(DATASETS.get("fibvid").card)
    assert list(tmp_path.iterdir()) == []


def test_the_verb_fetches_and_loads(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "Guard", lambda: server.guard)
    monkeypatch.setattr(DATASETS.get("liar"), "card", card(server))
    assert run(["load", "liar", "-o", str(tmp_path / "out")]) == 2
    assert "--download" in capsys.readouterr().err
    assert run(["load", "liar", "--download", "-o", str(tmp_path / "out")]) == 0
    assert "LIAR: licence research only" in capsys.readouterr().err
    assert cl.Dataset.open(tmp_path / "out").records.height == 12
    assert (tmp_path / "cache" / "downloads" / "liar" / "liar.zip").is_file()
