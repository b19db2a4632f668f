"""Hosts of data on loopback: files as GitHub, the hub, Zenodo and others serve them, and faults."""

from __future__ import annotations

import gzip
import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from claimlab.core.fetch.addresses import Guard
from claimlab.core.fetch.download import Reach

PUBLIC = (
    "raw.githubusercontent.com", "api.github.com", "codeload.github.com", "huggingface.co",
    "cdn.huggingface.co", "zenodo.org", "api.figshare.com", "figshare.com", "gitlab.com",
    "dataverse.harvard.edu", "data.example.org", "elsewhere.example.org",
)  # fmt: skip

BOMB = gzip.compress(bytes(16 << 20), 1)  # 16 MB in 70 kB
Answer = Callable[["Handler"], None]


@dataclass
class Hosts:
    """What is served: (host, path) -> bytes, or a function that answers as it likes."""

    files: dict[tuple[str, str], bytes | Answer] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    port: int = 0

    def put(self, host: str, path: str, content: bytes | Answer | object) -> None:
        served = (
            content
            if isinstance(content, bytes) or callable(content)
            else json.dumps(content).encode()
        )
        self.files[host, path] = served

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reach(self, **more: object) -> Reach:
        """Where each public host is played by this server."""
        settings = {
            "guard": Guard(ports=(self.port,), allowed_numbers=("127.0.0.1",)),
            "schemes": ("http", "https"),
            "moved_to": dict.fromkeys(PUBLIC, self.base),
            "silence": 1.0,
            "backoff": 0.01,
            "longest_wait": 1.0,
            **more,
        }
        return Reach(**settings)  # type: ignore[arg-type]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hosts: Hosts

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        host, _, rest = parts.path.lstrip("/").partition("/")
        place = "/" + unquote(rest) + (f"?{parts.query}" if parts.query else "")
        self.hosts.asked.append((host, place, dict(self.headers)))
        content = self.hosts.files.get((host, place))
        if content is None:
            self.answer(404, b"404: Not Found")
        elif callable(content):
            content(self)
        else:
            serve(content)(self)

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def serve(content: bytes, tag: str | None = None, ranges: bool = True) -> Answer:
    """An ordinary file server, with Range and If-Range."""
    etag = tag or f'"{hashlib.sha256(content).hexdigest()[:16]}"'

    def answer(handler: Handler) -> None:
        asked = handler.headers.get("Range", "")
        matches = handler.headers.get("If-Range", etag) == etag
        if ranges and asked and matches:
            start = int(asked.removeprefix("bytes=").split("-")[0])
            if start >= len(content):
                handler.answer(416, b"")
                return
            span = f"bytes {start}-{len(content) - 1}/{len(content)}"
            handler.answer(206, content[start:], Content_Range=span, ETag=etag)
        else:
            handler.answer(200, content, ETag=etag)

    return answer


def cut(content: bytes, at: int, times: int, tag: str | None = None) -> Answer:
    """Breaks off after `at` bytes, the first `times` times."""
    left = [times]

    def answer(handler: Handler) -> None:
        if left[0] <= 0:
            serve(content, tag)(handler)
            return
        left[0] -= 1
        etag = tag or f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.send_header("ETag", etag)
        handler.end_headers()
        handler.wfile.write(content[:at])
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    return answer


def status(code: int, times: int, then: bytes, **headers: str) -> Answer:
    left = [times]

    def answer(handler: Handler) -> None:
        if left[0] > 0:
            left[0] -= 1
            handler.answer(code, b"not now", **headers)
        else:
            serve(then)(handler)

    return answer


def redirect(to: str) -> Answer:
    return lambda handler: handler.answer(302, b"", Location=to)


def slow(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"a")
    handler.wfile.flush()
    time.sleep(3)


def packed(content: bytes) -> Answer:
    """Packs what it sends, though it was asked not to."""
    return lambda handler: handler.answer(200, gzip.compress(content), Content_Encoding="gzip")


def bomb(handler: Handler) -> None:
    handler.answer(200, BOMB, Content_Encoding="gzip")


def endless(handler: Handler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.close_connection = True
    try:
        for _ in range(10_000):
            handler.wfile.write(b"x" * 65_536)
    except OSError:
        return


@contextmanager
def serving() -> Iterator[Hosts]:
    hosts = Hosts()
    handler = type("Served", (Handler,), {"hosts": hosts})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hosts.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hosts
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
