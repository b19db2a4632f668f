"""One file over HTTPS, and never a wrong byte of it.

Every hop of every redirect is checked (core/fetch/addresses), bytes are counted and hashed while
they are written, and a file that is not what was expected is deleted. A download that was cut goes
on where it stopped, if the server still has the same file: by its ETag, or because the hash decides
in the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urljoin, urlsplit

from claimlab.core.atomic import quick_text, read_object
from claimlab.core.calls.http import USER_AGENT, retry_after, trust
from claimlab.core.errors import DownloadFailed
from claimlab.core.fetch.addresses import CheckedAddress, Guard
from claimlab.core.types import Json

if TYPE_CHECKING:
    import httpx2

MOST_HOPS = 5
MOST_TRIES = 4  # of one file: cut in the middle, 429 and 5xx
MOST_BYTES = 20 << 30  # of a file of unstated size
MOST_API_BYTES = 32 << 20  # of a list of files
LONGEST_WAIT_SECONDS = 120.0  # that a server may ask for before the next try
SILENCE_SECONDS = 60.0  # without a byte, after which a server counts as gone
BACKOFF_SECONDS = 1.0  # before the second try; doubled for each further one
BYTES_AT_A_TIME = 1 << 20
BYTES_LOOKED_AT = 512  # at the start of a file, to see whether it is a page or a pointer
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
PAGE_STARTS = (b"<!doctype html", b"<html", b'<?xml version="1.0"?><!doctype html')
PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".xml")
NOT_FOUND_BODIES = (b"404: not found", b"404 not found", b"not found", b"entry not found")
PACKED_SUFFIXES = (".gz", ".tgz")
MOVED = (301, 302, 303, 307, 308)
TRY_AGAIN = (429, 500, 502, 503, 504)
_TOTAL = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")

OnBytes = Callable[[int], None]


@dataclass(frozen=True)
class Expected:
    """What is known of a file before it is fetched; null: not known."""

    size: int | None = None  # bytes
    sha256: str | None = None
    blob: str | None = None  # the id that git gives these bytes
    md5: str | None = None


@dataclass(frozen=True)
class ReceivedFile:
    """What came: the part file's own hashes, and where the last redirect led."""

    size: int
    sha256: str
    blob: str
    final_url: str


@dataclass(frozen=True)
class Reach:
    """What may be reached, and how long it may take; tests widen it to a server on loopback.

    `tokens` are sent to the host that they are for, and never across a redirect.
    """

    guard: Guard = field(default_factory=lambda: Guard(ports=(443,)))
    schemes: tuple[str, ...] = ("https",)
    certificates: ssl.SSLContext | None = None
    tokens: Mapping[str, str] = field(default_factory=dict)
    silence: float = SILENCE_SECONDS
    longest_wait: float = LONGEST_WAIT_SECONDS
    backoff: float = BACKOFF_SECONDS
    moved_to: Mapping[str, str] = field(default_factory=dict)  # tests: a public address -> ours

    def placed(self, url: str) -> str:
        """`url`, or what plays its host in a test."""
        parts = urlsplit(url)
        base = self.moved_to.get(parts.netloc)
        if base is None:
            return url
        query = f"?{parts.query}" if parts.query else ""
        return f"{base}/{parts.netloc}{parts.path}{query}"


class _Cut(Exception):
    """The connection ended, or the server asked for a pause, before the file was whole."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


async def download(
    url: str, part: Path, expected: Expected, reach: Reach, on_bytes: OnBytes = lambda _: None
) -> ReceivedFile:
    """Write the file at `url` to `part`, which is kept when a later start can go on with it."""
    why = ""
    for attempt in range(MOST_TRIES):
        try:
            final = await _one_try(url, part, expected, reach, on_bytes)
            return verified(url, part, expected, final)
        except _Cut as cut:
            why = str(cut)
            wait = reach.backoff * 2**attempt if cut.wait is None else cut.wait
            if wait > reach.longest_wait:
                raise DownloadFailed(
                    url, f"asks for a pause of {wait:.0f} seconds", "Try again later."
                ) from None
            if attempt + 1 < MOST_TRIES:
                await asyncio.sleep(wait)
    raise DownloadFailed(url, f"{why} ({MOST_TRIES} tries)", "Try again later.")


async def _one_try(
    url: str, part: Path, expected: Expected, reach: Reach, on_bytes: OnBytes
) -> str:
    """One request from where `part` ends; returns the address after redirects."""
    start, tag = _begun(part, expected)
    headers = {"Accept-Encoding": "identity", "Accept": "*/*"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if tag:
            headers["If-Range"] = tag
    async with requested(url, headers, reach) as (response, final):
        start = _start_of_body(url, response, start, part)
        stated = response.headers.get("content-length", "")
        limit = MOST_BYTES if expected.size is None else expected.size
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding in ("", "identity") and stated.isdigit() and start + int(stated) > limit:
            raise _too_large(url, start + int(stated), expected)
        _note_tag(part, response.headers.get("etag", ""))
        unpack = _unpacking(url, encoding)
        size = start
        on_bytes(size)
        with part.open("r+b" if part.exists() else "wb") as file:
            file.seek(start)
            file.truncate()
            async for chunk in _chunks(response, reach.silence):
                size += _write(file, chunk, unpack, limit - size, url, expected)
                on_bytes(size)
        whole = start + int(stated) if stated.isdigit() and unpack is None else expected.size
        if whole is not None and size < whole:
            raise _Cut(f"ended after {size:,} of {whole:,} bytes")
    return final


@contextlib.asynccontextmanager
async def requested(
    url: str, headers: Mapping[str, str], reach: Reach
) -> AsyncIterator[tuple[httpx2.Response, str]]:
    """The answer to a GET, each hop checked; tokens go to the first host only."""
    import httpx2

    at, own_host = reach.placed(url), urlsplit(url).hostname
    async with httpx2.AsyncClient(
        verify=reach.certificates or trust(), timeout=reach.silence, follow_redirects=False
    ) as client:
        for hop in range(MOST_HOPS + 1):
            target = await _checked(at, reach)
            sent = {**headers, "User-Agent": USER_AGENT}
            token = reach.tokens.get(own_host or "")
            if hop == 0 and token:
                sent["Authorization"] = f"Bearer {token}"
            async with _streamed(client, target, sent, url) as response:
                if response.status_code not in MOVED:
                    yield response, at
                    return
                location = response.headers.get("location", "").strip()
                if not location:
                    raise DownloadFailed(url, "redirects without saying where", "Try again later.")
                at = reach.placed(urljoin(at, location))
    raise DownloadFailed(url, f"redirects more than {MOST_HOPS} times", "Check the address.")


async def _checked(url: str, reach: Reach) -> CheckedAddress:
    target = await reach.guard.check(url)
    if target.scheme not in reach.schemes:
        raise DownloadFailed(url, "is not https", "Give an https address.")
    return target


@contextlib.asynccontextmanager
async def _streamed(
    client: httpx2.AsyncClient, target: CheckedAddress, headers: Mapping[str, str], url: str
) -> AsyncIterator[httpx2.Response]:
    """Behind a proxy of the environment the name is asked for, else the number that was checked."""
    import httpx2

    proxied = any(
        os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    )
    where = target.url if proxied else target.direct_url()
    named = {} if proxied else {"Host": target.host_header()}
    extensions = {} if proxied else {"sni_hostname": target.host}
    try:
        async with client.stream(
            "GET", where, headers={**headers, **named}, extensions=extensions
        ) as response:
            yield response
    except httpx2.TimeoutException:
        raise _Cut("gave no answer in time") from None
    except httpx2.InvalidURL:
        raise DownloadFailed(url, "is not a well-formed address", "Check the address.") from None
    except (httpx2.TransportError, httpx2.StreamError) as error:
        raise _Cut(f"could not be reached ({type(error).__name__})") from None


def _begun(part: Path, expected: Expected) -> tuple[int, str]:
    """How much of the file is there, and the ETag under which it came; from the start where
    nothing would tell another file apart.
    """
    size = part.stat().st_size if part.is_file() else 0
    tag = str(read_object(_tag_file(part)).get("etag", "")) if size else ""
    strong = tag if tag.startswith('"') else ""
    decided = expected.sha256 or expected.blob or expected.md5
    whole = expected.size is not None and size >= expected.size
    return (size, strong) if (strong or decided) and not whole else (0, "")


def _tag_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.etag")


def _note_tag(part: Path, tag: str) -> None:
    quick_text(_tag_file(part), json.dumps({"etag": tag}))


def _start_of_body(url: str, response: httpx2.Response, asked: int, part: Path) -> int:
    """At which byte of the file the body begins."""
    if response.status_code == 206:
        match = _TOTAL.match(response.headers.get("content-range", ""))
        if match is not None and int(match[1]) == asked:
            return asked
        part.unlink(missing_ok=True)
        raise _Cut("sent another part than was asked for", 0.0)
    if response.status_code == 416:
        part.unlink(missing_ok=True)
        raise _Cut("no longer has the part that was left", 0.0)
    _refuse_failure(url, response)
    return 0


def _refuse_failure(url: str, response: httpx2.Response) -> None:
    """Raise for whatever is not a whole answer."""
    status = response.status_code
    if status in TRY_AGAIN:
        raise _Cut(f"was answered with {status}", retry_after(response.headers))
    if status in (404, 410):
        raise DownloadFailed(
            url, f"is gone (status {status})", "Look for the file at the publisher's own page."
        )
    if status in (401, 403):
        raise DownloadFailed(
            url, f"is not public (status {status})", "Ask the publisher for access, or set a token."
        )
    if status != 200:
        raise DownloadFailed(url, f"was answered with status {status}", "Try again later.")


async def _chunks(response: httpx2.Response, silence: float) -> AsyncIterator[bytes]:
    import httpx2

    stream = response.aiter_raw().__aiter__()  # as it comes: what is cut off is kept
    while True:
        try:
            chunk = await asyncio.wait_for(anext(stream), silence)
        except StopAsyncIteration:
            return
        except (TimeoutError, httpx2.TimeoutException):
            raise _Cut(f"sent nothing for {silence:g} seconds") from None
        except (httpx2.TransportError, httpx2.StreamError) as error:
            raise _Cut(f"broke off ({type(error).__name__})") from None
        yield chunk


def _unpacking(url: str, encoding: str) -> zlib._Decompress | None:
    """For a body that the server packs though it was asked not to. A file that is a .gz itself is
    often sent as if its own packing were the transfer's: it stays as it is.
    """
    if encoding in ("", "identity") or urlsplit(url).path.lower().endswith(PACKED_SUFFIXES):
        return None
    if encoding in ("gzip", "x-gzip"):
        return zlib.decompressobj(31)
    raise DownloadFailed(url, f"is packed in a way that is not read ({encoding})", "Report it.")


def _write(
    file: BinaryIO,
    chunk: bytes,
    unpack: zlib._Decompress | None,
    room: int,
    url: str,
    expected: Expected,
) -> int:
    """Write a chunk, unpacked a piece at a time; how many bytes it was."""
    if unpack is None:
        if len(chunk) > room:
            raise _too_large(url, None, expected)
        file.write(chunk)
        return len(chunk)
    written = 0
    try:
        while chunk:
            piece = unpack.decompress(chunk, BYTES_AT_A_TIME)
            written += len(piece)
            if written > room:
                raise _too_large(url, None, expected)
            file.write(piece)
            chunk = unpack.unconsumed_tail
    except zlib.error:
        raise DownloadFailed(url, "does not unpack", "Try again later.") from None
    return written


def _too_large(url: str, size: int | None, expected: Expected) -> DownloadFailed:
    sent = "more" if size is None else f"{size:,} bytes"
    if expected.size is None:
        return DownloadFailed(url, f"is larger than {MOST_BYTES >> 30} GB", "Download it by hand.")
    return DownloadFailed(
        url,
        f"is not the file that was pinned: {expected.size:,} bytes expected, {sent} sent",
        "It was changed at its source; nothing was kept.",
    )


def verified(url: str, part: Path, expected: Expected, final: str) -> ReceivedFile:
    """What is in `part`, if it is what was expected; else `part` is deleted."""
    size = part.stat().st_size
    sha256, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    digests = [sha256, blob, *([md5] if expected.md5 else [])]
    with part.open("rb") as file:
        head = file.read(BYTES_LOOKED_AT)
        file.seek(0)
        while chunk := file.read(BYTES_AT_A_TIME):
            for digest in digests:
                digest.update(chunk)
        os.fsync(file.fileno())
    received = ReceivedFile(size, sha256.hexdigest(), blob.hexdigest(), final)
    problem = _problem(url, head, received, md5.hexdigest(), expected)
    _tag_file(part).unlink(missing_ok=True)
    if problem:
        part.unlink(missing_ok=True)
        raise DownloadFailed(url, problem, "Nothing was kept. Try again, or get the file by hand.")
    return received


def _problem(url: str, head: bytes, received: ReceivedFile, md5: str, expected: Expected) -> str:
    """Why these bytes are not the file; empty where they are."""
    wrong = [
        f"{name} {want[:12]} expected, {got[:12]} sent"
        for name, want, got in (
            ("sha256", expected.sha256, received.sha256),
            ("git blob", expected.blob, received.blob),
            ("md5", expected.md5, md5),
        )
        if want is not None and want != got
    ]
    if expected.size is not None and expected.size != received.size:
        wrong.insert(0, f"{expected.size:,} bytes expected, {received.size:,} sent")
    instead = _instead(url, head, received.size)
    if head.startswith(LFS_POINTER):
        return f"is {instead}"
    if not wrong:
        pinned = expected.sha256 or expected.blob or expected.md5
        return f"is {instead}" if instead and not pinned else ""
    return (
        f"is not the file that was pinned: {'; '.join(wrong)}{f' ({instead})' if instead else ''}"
    )


def _instead(url: str, head: bytes, size: int) -> str:
    """What was sent in the place of a file."""
    start = head.lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    if head.startswith(LFS_POINTER):
        return "a pointer of Git LFS, not the file itself"
    if not urlsplit(url).path.lower().endswith(PAGE_SUFFIXES) and start.startswith(PAGE_STARTS):
        return "a web page"
    if size < BYTES_LOOKED_AT and start.strip() in NOT_FOUND_BODIES:
        return "a sentence that it was not found"
    return ""


async def fetch_json(url: str, reach: Reach) -> tuple[Json, Mapping[str, str]]:
    """A host's answer about its files, with its headers."""
    body, answered = await fetch_bytes(url, reach, {"Accept": "application/json"})
    try:
        return json.loads(body), answered
    except (ValueError, RecursionError):
        raise DownloadFailed(
            url, "answered with something that is not JSON", "Try again later."
        ) from None


async def fetch_bytes(
    url: str, reach: Reach, headers: Mapping[str, str]
) -> tuple[bytes, Mapping[str, str]]:
    """A short answer whole, with its headers."""
    why = ""
    for attempt in range(MOST_TRIES):
        try:
            sent = {"Accept-Encoding": "identity", **headers}
            async with requested(url, sent, reach) as (response, _):
                _refuse_failure(url, response)
                body = bytearray()
                async for chunk in _chunks(response, reach.silence):
                    body += chunk
                    if len(body) > MOST_API_BYTES:
                        raise DownloadFailed(url, "sends an endless list", "Name a path in it.")
                return bytes(body), response.headers
        except _Cut as cut:
            why = str(cut)
            wait = reach.backoff * 2**attempt if cut.wait is None else cut.wait
            if wait > reach.longest_wait:
                break
            await asyncio.sleep(wait)
    raise DownloadFailed(url, why, "Try again later.")
