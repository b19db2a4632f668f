"""A real server on loopback that stands in for a provider or a web site: it speaks what it is told
to, faults included.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from claimlab.search import terms
from claimlab.search.http import RETRIES, Http

ANSWERS = Path(__file__).parent / "answers"
Act = Callable[[BaseHTTPRequestHandler], None]


def answer(name: str) -> Any:
    return json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))


class StandIn:
    """Plays `acts` in turn, the last one for ever, and remembers what it was asked."""

    def __init__(self) -> None:
        self.acts: list[Act] = []
        self.asked: list[dict[str, Any]] = []
        self.closing = threading.Event()
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(size)
                parts = urlsplit(self.path)
                stand_in.asked.append(
                    {
                        "method": self.command,
                        "path": parts.path,
                        "params": dict(parse_qsl(parts.query)),
                        "headers": {k.lower(): v for k, v in self.headers.items()},
                        "body": json.loads(body) if body else None,
                    }
                )
                acts = stand_in.acts
                act = acts[min(len(stand_in.asked), len(acts)) - 1]
                self.close_connection = True
                act(self)

            do_GET = do_POST = handle_any

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self.thread.start()

    def will(self, *acts: Act) -> StandIn:
        self.acts = list(acts)
        return self

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(timeout=5)

    # --- what it can do ---

    def send(self, body: bytes, kind: str, *, status: int = 200, **headers: str) -> Act:
        def act(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            handler.send_header("Connection", "close")
            if kind:
                handler.send_header("Content-Type", kind)
            for name, value in headers.items():
                handler.send_header(name.replace("_", "-"), value)
            if "Content_Length" not in headers:
                handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            with contextlib.suppress(OSError):  # the client has heard enough
                handler.wfile.write(body)

        return act

    def says(self, payload: Any, *, status: int = 200, **headers: str) -> Act:
        return self.send(json.dumps(payload).encode(), "application/json", status=status, **headers)

    def page(
        self, markup: str | bytes, kind: str = "text/html; charset=utf-8", **headers: str
    ) -> Act:
        return self.send(markup.encode() if isinstance(markup, str) else markup, kind, **headers)

    def packed(self, body: bytes, kind: str = "application/json") -> Act:
        return self.send(gzip.compress(body), kind, Content_Encoding="gzip")

    def moves_to(self, where: str, status: int = 302) -> Act:
        return self.send(b"", "text/html", status=status, Location=where)

    def truncated(self, payload: Any) -> Act:
        """JSON that stops half-way, though every byte that was promised came."""
        whole = json.dumps(payload).encode()
        return self.send(whole[: len(whole) // 2], "application/json")

    def breaks_off(self, payload: Any) -> Act:
        """A connection that closes before all promised bytes came."""
        whole = json.dumps(payload).encode()
        return self.send(
            whole[: len(whole) // 2], "application/json", Content_Length=str(len(whole))
        )

    def hangs(self) -> Act:
        return lambda _: void(self.closing.wait(5))

    def drips(self) -> Act:
        """A byte now and then, for ever: no single read ever times out."""

        def act(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.end_headers()
            try:
                while not self.closing.is_set():
                    handler.wfile.write(b" ")
                    handler.wfile.flush()
                    time.sleep(0.05)
            except OSError:
                pass

        return act

    def huge(self, megabytes: int = 10) -> Act:
        return self.send(b'{"results": "' + b"x" * (megabytes << 20) + b'"}', "application/json")


def void(_: object) -> None:
    return None


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    server = StandIn()
    yield server
    server.close()


@pytest.fixture
def second_stand_in() -> Iterator[StandIn]:
    server = StandIn()
    yield server
    server.close()


@pytest.fixture
def waits() -> list[float]:
    """The waits that a client made instead of sleeping."""
    return []


@pytest.fixture
def http(waits: list[float]) -> Http:
    """A client that does not really wait, and gives up on silence quickly."""

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return Http(timeout=0.4, retries=replace(RETRIES, sleep=sleep, chance=lambda: 0.0))


@pytest.fixture(autouse=True)
def fresh_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits for the calls of another."""
    monkeypatch.setattr(terms, "_buckets", {})
