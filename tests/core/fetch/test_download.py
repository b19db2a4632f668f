"""What hosts may do, honest, broken and hostile: never a wrong byte, never an endless wait, and a
sentence that names the address.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parts.hosts import (
    Answer,
    Handler,
    Hosts,
    bomb,
    cut,
    endless,
    packed,
    redirect,
    serve,
    slow,
    status,
)

from claimlab.core.errors import ClaimlabError, DownloadFailed, PageRefused
from claimlab.core.fetch import download as downloads
from claimlab.core.fetch import store
from claimlab.core.fetch.download import Expected, download
from claimlab.core.fetch.front import bring, bring_files
from claimlab.core.fetch.hosts import RemoteFile

HOST, PLACE = "data.example.org", "/set/train.csv"
URL = f"https://{HOST}{PLACE}"
CONTENT = b"id,text,label\n" + b"".join(
    b"%d,a claim about the river,false\n" % n for n in range(5000)
)
OTHER = CONTENT.replace(b"false", b"true!")
PINNED = Expected(
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    blob=hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest(),
    md5=hashlib.md5(CONTENT).hexdigest(),
)
UNPINNED = Expected()
PAGE = b"<!DOCTYPE html><html><body>Sign in to download</body></html>"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n"


def fetched(hosts: Hosts, expected: Expected = PINNED, **reach: Any) -> bytes:
    """The bytes that the store has after a download."""
    with store.part_of(URL) as part:
        received = asyncio.run(download(URL, part, expected, hosts.reach(**reach)))
        kept = store.keep(part, received.sha256)
    return kept.read_bytes()


HONEST: dict[str, Answer] = {
    "plain": serve(CONTENT),
    "no ranges": serve(CONTENT, ranges=False),
    "cut once, resumed": cut(CONTENT, 40_000, 1),
    "cut three times": cut(CONTENT, 70_000, 3),
    "500 three times": status(500, 3, CONTENT),
    "503 with Retry-After": status(503, 1, CONTENT, Retry_After="0"),
    "429 with Retry-After": status(429, 2, CONTENT, Retry_After="0"),
    "502 once": status(502, 1, CONTENT),
    "packs in transit": packed(CONTENT),
    "redirects on its own host": redirect(f"https://{HOST}/moved"),
    "redirects to another host": redirect("https://elsewhere.example.org/moved"),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_server_gives_the_file(hosts: Hosts, name: str) -> None:
    hosts.put(HOST, PLACE, HONEST[name])
    hosts.put(HOST, "/moved", CONTENT)
    hosts.put("elsewhere.example.org", "/moved", CONTENT)
    assert fetched(hosts) == CONTENT


def lies_about_length(handler: Handler) -> None:
    handler.answer(200, CONTENT, Content_Length=str(len(CONTENT) + 10))
    handler.close_connection = True


def wrong_range(handler: Handler) -> None:
    """Always answers a range with the beginning of the file, as if it were the part."""
    if "Range" in handler.headers:
        span = f"bytes 0-{len(CONTENT) - 1}/{len(CONTENT)}"
        handler.answer(206, CONTENT, Content_Range=span)
    else:
        cut(CONTENT, 50_000, 9)(handler)


def changes_between(first: bytes, second: bytes) -> Answer:
    """Breaks off in the middle of one file, and has another when it is asked for the rest; it
    ignores If-Range.
    """
    started: list[int] = []

    def answer(handler: Handler) -> None:
        if not started:
            started.append(1)
            cut(first, 50_000, 1, '"a"')(handler)
        elif asked := handler.headers.get("Range"):
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            span = f"bytes {start}-{len(second) - 1}/{len(second)}"
            handler.answer(206, second[start:], Content_Range=span, ETag='"a"')
        else:
            serve(second)(handler)

    return answer


REFUSED: dict[str, tuple[Answer, Expected, str]] = {
    "another file of the same size": (serve(OTHER), PINNED, "not the file that was pinned"),
    "one byte less": (serve(CONTENT[:-1]), PINNED, "bytes expected"),
    "one byte more": (serve(CONTENT + b"x"), PINNED, "bytes expected"),
    "empty": (serve(b""), PINNED, "bytes expected"),
    "404": (status(404, 9, b""), PINNED, "is gone"),
    "410": (status(410, 9, b""), PINNED, "is gone"),
    "403": (status(403, 9, b""), PINNED, "not public"),
    "401": (status(401, 9, b""), PINNED, "not public"),
    "400": (status(400, 9, b""), PINNED, "status 400"),
    "204": (status(204, 9, b""), PINNED, "status 204"),
    "500 for ever": (status(500, 99, b""), PINNED, "500"),
    "429 for an hour": (status(429, 9, b"", Retry_After="3600"), PINNED, "pause of 3600"),
    "a page with status 200": (serve(PAGE), UNPINNED, "a web page"),
    "a page with the pin's size": (serve(PAGE.ljust(len(CONTENT))), PINNED, "a web page"),
    "a page after a mark": (serve(b"\xef\xbb\xbf\n " + PAGE), UNPINNED, "a web page"),
    "404 as a body": (serve(b"404: Not Found"), UNPINNED, "was not found"),
    "Not Found as a body": (serve(b"Not Found\n"), UNPINNED, "was not found"),
    "a pointer": (serve(POINTER), UNPINNED, "Git LFS"),
    "a pointer that was pinned": (
        serve(POINTER),
        Expected(size=len(POINTER), sha256=hashlib.sha256(POINTER).hexdigest()),
        "Git LFS",
    ),
    "a wrong sha256": (serve(CONTENT), Expected(sha256="0" * 64), "sha256"),
    "a wrong blob": (serve(CONTENT), Expected(blob="0" * 40), "git blob"),
    "a wrong md5": (serve(CONTENT), Expected(md5="0" * 32), "md5"),
    "breaks off for ever": (cut(CONTENT, 10, 99), PINNED, "tries"),
    "sends nothing more": (slow, PINNED, "sent nothing"),
    "a bomb in transit": (bomb, PINNED, "bytes expected"),
    "endless": (endless, PINNED, "bytes expected"),
    "unknown packing": (
        lambda h: h.answer(200, CONTENT, Content_Encoding="zstd"),
        PINNED,
        "packed in a way",
    ),
    "damaged packing": (
        lambda h: h.answer(200, b"\x1f\x8bnot really", Content_Encoding="gzip"),
        PINNED,
        "does not unpack",
    ),
    "lies about its length": (lies_about_length, UNPINNED, "tries"),
    "answers a range with the start": (wrong_range, PINNED, "tries"),
    "another file for the rest": (
        changes_between(CONTENT, OTHER),
        PINNED,
        "not the file that was pinned",
    ),
    "a loop of redirects": (redirect(URL), PINNED, "redirects more than"),
    "a redirect to nowhere": (lambda h: h.answer(302, b""), PINNED, "without saying where"),
    "closes at once": (lambda h: setattr(h, "close_connection", True), PINNED, "tries"),
    "not HTTP": (lambda h: h.wfile.write(b"\0\1\2\3" * 40) and None, PINNED, "tries"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_broken_or_hostile_server_leaves_nothing(hosts: Hosts, name: str) -> None:
    answer, expected, words = REFUSED[name]
    hosts.put(HOST, PLACE, answer)
    with pytest.raises(DownloadFailed, match=words) as refusal:
        bring_files([RemoteFile("train.csv", URL, expected)])
    assert URL in str(refusal.value)
    assert refusal.value.todo
    kept = [file for file in store.downloads_folder().rglob("*") if file.is_file()]
    assert [file for file in kept if file.suffix not in (".lock", ".etag")] == []


INSIDE = (
    "http://127.0.0.1:1/x", "https://10.0.0.1/x", "https://169.254.169.254/latest/meta-data",
    "https://[::1]/x", "https://192.168.1.1/x", "https://localhost/x", "file:///etc/passwd",
    "ftp://example.org/x", "https://user:word@example.org/x", "https://0x7f000001/x",
    "https://[::ffff:127.0.0.1]/x",
)  # fmt: skip


@pytest.mark.parametrize("target", INSIDE)
def test_no_redirect_leads_inside(hosts: Hosts, target: str) -> None:
    hosts.put(HOST, PLACE, redirect(target))
    with pytest.raises((PageRefused, DownloadFailed)):
        # only the port of the stand-in is allowed on 127.0.0.1
        fetched(hosts)


def test_a_name_that_leads_inside_is_refused(hosts: Hosts) -> None:
    from claimlab.core.fetch.addresses import Guard

    async def inside(host: str, port: int) -> list[str]:
        return ["10.1.2.3"]

    guard = Guard(ports=(443,), resolve=inside)
    with pytest.raises(PageRefused, match="public web"):
        fetched(hosts, guard=guard, moved_to={})


def test_an_http_address_is_refused(hosts: Hosts) -> None:
    hosts.put(HOST, PLACE, CONTENT)
    with pytest.raises(DownloadFailed, match="not https"):
        fetched(hosts, schemes=("https",))
    with pytest.raises(ClaimlabError, match="not https"):
        bring(f"http://{HOST}{PLACE}")


def test_only_what_is_missing_is_asked_for_again(hosts: Hosts) -> None:
    hosts.put(HOST, PLACE, cut(CONTENT, 40_000, 1))
    assert fetched(hosts) == CONTENT
    ranges = [headers.get("Range") for _, _, headers in hosts.asked]
    assert ranges[0] is None
    assert ranges[1] is not None
    assert int(ranges[1].removeprefix("bytes=").rstrip("-")) > 0


def test_what_an_earlier_start_left_is_used(hosts: Hosts) -> None:
    """As after a kill: a part file without its process."""
    hosts.put(HOST, PLACE, CONTENT)
    with store.part_of(URL) as part:
        part.write_bytes(CONTENT[:60_000])
    assert fetched(hosts) == CONTENT
    assert hosts.asked[0][2]["Range"] == "bytes=60000-"


def test_what_an_earlier_start_left_is_not_believed(hosts: Hosts) -> None:
    """The rest fits no other beginning: the hash says so, and the next start begins anew."""
    hosts.put(HOST, PLACE, CONTENT)
    with store.part_of(URL) as part:
        part.write_bytes(OTHER[:60_000])
    with pytest.raises(DownloadFailed, match="not the file"):
        fetched(hosts)
    assert fetched(hosts) == CONTENT


def test_without_a_pin_a_part_is_used_only_under_its_tag(hosts: Hosts) -> None:
    hosts.put(HOST, PLACE, CONTENT)
    with store.part_of(URL) as part:
        part.write_bytes(OTHER[:60_000])
    assert fetched(hosts, UNPINNED) == CONTENT
    assert "Range" not in hosts.asked[0][2]


def test_tokens_stay_with_their_host(hosts: Hosts) -> None:
    hosts.put(HOST, PLACE, redirect("https://elsewhere.example.org/moved"))
    hosts.put("elsewhere.example.org", "/moved", CONTENT)
    assert fetched(hosts, tokens={HOST: "canary"}) == CONTENT
    sent = {host: headers.get("Authorization") for host, _, headers in hosts.asked}
    assert sent == {HOST: "Bearer canary", "elsewhere.example.org": None}


def test_a_packed_file_sent_as_if_packed_in_transit_stays_as_it_is(hosts: Hosts) -> None:
    import gzip

    content = gzip.compress(CONTENT)
    hosts.put(HOST, "/a.csv.gz", lambda h: h.answer(200, content, Content_Encoding="gzip"))
    url = f"https://{HOST}/a.csv.gz"
    pinned = Expected(size=len(content), sha256=hashlib.sha256(content).hexdigest())
    assert bring_files([RemoteFile("a.csv.gz", url, pinned)]) == {"a.csv.gz": pinned.sha256}


def test_nothing_is_asked_offline(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts.put(HOST, PLACE, CONTENT)
    files = [RemoteFile("train.csv", URL, PINNED)]
    monkeypatch.setenv("CLAIMLAB_OFFLINE", "1")
    with pytest.raises(DownloadFailed, match="switched off"):
        bring_files(files)
    assert hosts.asked == []
    monkeypatch.delenv("CLAIMLAB_OFFLINE")
    bring_files(files)
    asked = len(hosts.asked)
    monkeypatch.setenv("CLAIMLAB_OFFLINE", "1")
    assert bring_files(files) == {"train.csv": PINNED.sha256}
    assert len(hosts.asked) == asked


def test_a_changed_cache_is_noticed(hosts: Hosts) -> None:
    hosts.put(HOST, PLACE, CONTENT)
    files = [RemoteFile("train.csv", URL, PINNED)]
    bring_files(files)
    assert PINNED.sha256 is not None
    file = store.stored(PINNED.sha256)
    assert file is not None
    damage: list[Callable[[], object]] = [
        lambda: (file.chmod(0o644), file.write_bytes(OTHER)),
        lambda: (file.chmod(0o644), file.write_bytes(CONTENT[:100])),
        lambda: (file.unlink(), file.symlink_to("/etc/hostname")),
        lambda: file.unlink(),
    ]
    for act in damage:
        act()
        asked = len(hosts.asked)
        assert bring_files(files) == {"train.csv": PINNED.sha256}
        assert len(hosts.asked) == asked + 1
        assert file.read_bytes() == CONTENT
        assert not file.is_symlink()


def test_a_file_at_hand_is_found_by_its_hash(hosts: Hosts, tmp_path: Path) -> None:
    folder = tmp_path / "Downloads"
    folder.mkdir()
    (folder / "renamed (1).csv").write_bytes(CONTENT)
    (folder / "same-size.csv").write_bytes(OTHER)
    assert bring_files([RemoteFile("train.csv", URL, PINNED)], [folder]) == {
        "train.csv": PINNED.sha256
    }
    assert hosts.asked == []


def test_a_full_disk_is_said_before(hosts: Hosts) -> None:
    hosts.put(HOST, PLACE, CONTENT)
    huge = Expected(size=1 << 60)
    with pytest.raises(ClaimlabError, match="Make room"):
        bring_files([RemoteFile("train.csv", URL, huge)])
    assert hosts.asked == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written_is_an_error(hosts: Hosts) -> None:
    hosts.put(HOST, PLACE, CONTENT)
    store.downloads_folder().mkdir(parents=True)
    store.downloads_folder().chmod(0o500)
    with pytest.raises(PermissionError):
        bring_files([RemoteFile("train.csv", URL, PINNED)])


def test_limits_hold_where_nothing_is_pinned(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MOST_BYTES", 1 << 20)
    hosts.put(HOST, PLACE, endless)
    with pytest.raises(DownloadFailed, match="larger than"):
        fetched(hosts, UNPINNED)


@pytest.mark.parametrize(
    "name", ["../up", "/abs", "a/../../b", "a\\b", "c:/x", "", "a//b", "nul\0"]
)
def test_unsafe_names_are_refused(hosts: Hosts, name: str) -> None:
    with pytest.raises(ClaimlabError, match="safe name"):
        store.safe_name(name)
