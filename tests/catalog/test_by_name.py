"""A dataset by its name: what is pinned is what comes, whatever the hosts do."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.hosts import Hosts, cut, serving

from claimlab.catalog import load as loading
from claimlab.catalog import sources as pins
from claimlab.catalog.load import DATASETS
from claimlab.catalog.sources import FOLDER, Sources, held_against, sources_of
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, DownloadFailed
from claimlab.core.fetch import front, store
from claimlab.core.fetch.download import Expected
from claimlab.core.fetch.front import bring_files
from claimlab.core.fetch.hosts import RemoteFile, raw_url
from claimlab.core.grants import on_behalf_of

NAMES = sorted(file.name.removesuffix(".toml") for file in FOLDER.iterdir())
SAMPLES = Path(__file__).parent / "samples"
COMMIT = "c" * 40
TEN = (
    "liar", "covid-fact", "check-covid", "climate-fever", "fibvid", "factck-br", "politihop",
    "antivax", "covid19-fake-news", "coaid",
)  # fmt: skip


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosts]:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CLAIMLAB_OFFLINE", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with serving() as served:
        monkeypatch.setattr(front, "reach", served.reach)
        yield served


def raw(pinned: str, path: str) -> tuple[str, str]:
    url = raw_url(pinned, path)
    host, _, place = url.removeprefix("https://").partition("/")
    return host, f"/{place}".replace("%20", " ")


def sample(hosts: Hosts, monkeypatch: pytest.MonkeyPatch, name: str = "liar") -> Sources:
    """The synthetic files of a card as if they were published and pinned."""
    pinned, files = f"github:owner/{name}@{COMMIT}", []
    for file in sorted((SAMPLES / name).rglob("*")):
        if file.is_file() and file.name != "expected.json":
            path, content = file.relative_to(SAMPLES / name).as_posix(), file.read_bytes()
            hosts.put(*raw(pinned, path), content)
            digest = hashlib.sha256(content).hexdigest()
            files.append({"path": path, "bytes": len(content), "sha256": digest})
    source = {"from": pinned, "dated": "2020-01-01", "files": files}
    sources = Sources(verified="2026-01-01", sources=[source])
    monkeypatch.setattr(loading, "sources_of", lambda _: sources)
    monkeypatch.setattr(pins, "sources_of", lambda _: sources)
    return sources


@pytest.mark.parametrize("name", NAMES)
def test_a_pin_is_fixed_and_verifiable(name: str) -> None:
    sources = sources_of(name)
    assert sources is not None
    assert name in DATASETS
    assert DATASETS.get(name).variants
    assert sources.number > 0
    for source in sources.sources:
        assert re.fullmatch(r"(github|gitlab|hf):[\w./-]+@[0-9a-f]{40}", source.from_)
        for file in source.files:
            assert store.safe_name(file.called) == file.called
            assert re.fullmatch(r"[0-9a-f]{40}", file.blob or "0" * 40)
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256 or "0" * 64)
            assert file.sha256 or file.blob, "nothing would tell another file apart"
        for tree in source.trees:
            assert re.fullmatch(r"[0-9a-f]{64}", tree.listing)
            assert tree.files > 0
            assert tree.bytes > 0


def test_by_name_is_as_by_hand(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    sample(hosts, monkeypatch)
    by_name = loading.load("liar")
    by_hand = loading.load("liar", SAMPLES / "liar")
    assert by_name.records.equals(by_hand.records)
    (source,) = by_name.lineage[-1].parameters["sources"]
    assert source["pinned"] == f"github:owner/liar@{COMMIT}"
    assert all(len(digest) == 64 for digest in source["files"].values())


def test_a_second_load_opens_no_socket(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sample(hosts, monkeypatch)
    first = loading.load("liar", output=tmp_path / "first")

    def refuse(*_: object, **__: object) -> Any:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    second = loading.load("liar", output=tmp_path / "second")
    assert second.records.equals(first.records)
    for file in (tmp_path / "first").iterdir():
        assert file.read_bytes() == (tmp_path / "second" / file.name).read_bytes()


def test_another_file_at_the_host_is_refused(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (train,) = [
        file.path
        for file in sample(hosts, monkeypatch).sources[0].files
        if file.path.endswith("train.tsv")
    ]
    hosts.put(*raw(f"github:owner/liar@{COMMIT}", train), b"another file")
    with pytest.raises(DownloadFailed, match=r"train\.tsv.*not the file that was pinned"):
        loading.load("liar", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_files_given_by_hand_are_held_against_the_pins(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sources = sample(hosts, monkeypatch)
    same = loading.load("liar", SAMPLES / "liar")
    assert any("These are the files of github:owner/liar at cccccccccccc" in n for n in same.notes)
    changed = tmp_path / "changed"
    changed.mkdir()
    for file in (SAMPLES / "liar").rglob("*.tsv"):
        content = file.read_bytes()
        (changed / file.name).write_bytes(
            content.replace(b"\n", b" \n", 1) if file.name == "train.tsv" else content
        )
    other = loading.load("liar", changed)
    assert any(note.endswith("in raw/train.tsv.") for note in other.notes)
    assert hosts.asked == []
    assert held_against(sources, {"elsewhere.csv": "0" * 64}) == []


def test_files_in_a_folder_are_not_downloaded(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample(hosts, monkeypatch)
    assert loading.load("liar", near=[SAMPLES / "liar"]).records.height > 0
    assert hosts.asked == []
    with pytest.raises(ClaimlabError, match="no folder"):
        loading.load("liar", near=["nowhere"])


def test_the_command_says_what_it_will_get(
    hosts: Hosts,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sample(hosts, monkeypatch)
    assert run(["load", "liar", "-o", str(tmp_path / "liar")]) == 0
    printed = capsys.readouterr().err
    assert re.search(r"LIAR: \d+ files, [\d.]+ MB from github:owner/liar@cccccccccccc\n", printed)
    assert "Licence: research only. Cite: Wang (2017)" in printed
    assert Dataset.open(tmp_path / "liar").name == "liar"


def test_a_received_study_downloads_nothing_by_name(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sample(hosts, monkeypatch)
    with on_behalf_of(tmp_path / "study.toml"), pytest.raises(ClaimlabError, match="Load it first"):
        loading.load("liar")
    assert hosts.asked == []
    with on_behalf_of(tmp_path / "study.toml", trust=True):
        assert loading.load("liar").records.height > 0


def test_what_cannot_be_had_by_name_says_how_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert sources_of("isot") is None
    assert run(["load", "isot", "-o", "nowhere"]) == 2
    printed = capsys.readouterr().err
    assert "cannot be downloaded by name" in printed
    assert "claimlab load isot FILES -o isot" in printed
    assert run(["load", "liaar", "-o", "nowhere"]) == 2
    assert "Did you mean" in capsys.readouterr().err


BRING = """
import sys
sys.path.insert(0, sys.argv[1])
from parts.hosts import Hosts
from claimlab.core.fetch import front
from claimlab.core.fetch.download import Expected
from claimlab.core.fetch.hosts import RemoteFile
front.reach = Hosts(port=int(sys.argv[2])).reach
expected = Expected(int(sys.argv[4]), sys.argv[5])
front.bring_files([RemoteFile(sys.argv[3], f"https://data.example.org/{sys.argv[3]}", expected)])
"""


def brought_by_another(hosts: Hosts, name: str, expected: Expected) -> subprocess.Popen[bytes]:
    """A process of its own that downloads a file."""
    bench = Path(__file__).parents[2] / "bench"
    words = [str(bench), str(hosts.port), name, str(expected.size), str(expected.sha256)]
    return subprocess.Popen([sys.executable, "-c", BRING, *words])


def largest(folder: Path) -> int:
    """Bytes of the largest part of a download."""
    return max((file.stat().st_size for file in folder.glob("*.part")), default=0)


@pytest.mark.slow
def test_killed_at_ten_moments(hosts: Hosts) -> None:
    """Each start goes on with what the last one left; in the end the bytes are those by hand."""
    content = os.urandom(3_000_000)
    expected = Expected(len(content), hashlib.sha256(content).hexdigest())

    def dripping(handler: Any) -> None:
        start = int(handler.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        span = f"bytes {start}-{len(content) - 1}/{len(content)}"
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Length", str(len(content) - start))
        if start:
            handler.send_header("Content-Range", span)
        handler.end_headers()
        for at in range(start, len(content), 50_000):
            handler.wfile.write(content[at : at + 50_000])
            time.sleep(0.02)

    hosts.put("data.example.org", "/big.bin", dripping)
    files = [RemoteFile("big.bin", "https://data.example.org/big.bin", expected)]
    parts = store.downloads_folder() / "parts"
    for moment in range(10):
        with brought_by_another(hosts, "big.bin", expected) as child:
            waited = time.monotonic() + 60
            while largest(parts) < 250_000 * moment and time.monotonic() < waited:
                time.sleep(0.005)
            child.kill()
    digests = bring_files(files)
    file = store.stored(digests["big.bin"])
    assert file is not None
    assert file.read_bytes() == content
    left = [f for f in (store.downloads_folder() / "parts").iterdir() if f.suffix not in (".lock",)]
    assert left == []
    begun = [headers.get("Range") for _, _, headers in hosts.asked]
    assert any(begun), "no start went on with what the last one had left"


@pytest.mark.slow
def test_four_processes_at_once(hosts: Hosts) -> None:
    content = os.urandom(500_000)
    expected = Expected(len(content), hashlib.sha256(content).hexdigest())
    hosts.put("data.example.org", "/big.bin", content)
    with ExitStack() as stack:
        children = [
            stack.enter_context(brought_by_another(hosts, "big.bin", expected)) for _ in range(4)
        ]
        assert [child.wait(120) for child in children] == [0, 0, 0, 0]
    file = store.stored(str(expected.sha256))
    assert file is not None
    assert file.read_bytes() == content


@pytest.mark.slow
def test_ten_sets_by_name(hosts: Hosts, real_data: Path) -> None:
    """The hosts are played with the published files; what comes is what the files by hand give."""
    for name in TEN:
        sources = sources_of(name)
        assert sources is not None
        with zipfile.ZipFile(real_data / f"{name}.zip") as archive:
            at_hand = {
                hashlib.sha256(content).hexdigest(): content
                for member in archive.infolist()
                if (content := archive.read(member))
            }
        for source in sources.sources:
            for n, file in enumerate(source.files):
                content = at_hand[str(file.sha256)]
                served = cut(content, len(content) // 2, 1) if n % 3 == 0 else content
                hosts.put(*raw(source.from_, file.path), served)
        by_name = loading.load(name)
        by_hand = loading.load(name, real_data / f"{name}.zip")
        columns = [c for c in by_hand.records.columns if c != "id"]
        order = by_hand.records.select(columns).sort(pl.all())
        assert by_name.records.select(columns).sort(pl.all()).equals(order), name
        assert any(note.startswith("These are the files of github:") for note in by_hand.notes)


def test_sources_that_are_gone_are_named(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    from manual import pin

    monkeypatch.setattr(pin.DATASETS, "names", lambda: ["liar", "covid-fact"])
    liar, covid = sources_of("liar"), sources_of("covid-fact")
    assert liar is not None
    assert covid is not None
    hosts.put(*raw(liar.sources[0].from_, liar.sources[0].files[0].path), b"x")
    (line,) = asyncio.run(pin.gone(hosts.reach()))
    assert line.startswith("- covid-fact: https://raw.githubusercontent.com/")
    assert line.endswith("(status 404)")
