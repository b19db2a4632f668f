"""An endpoint that wants more than it is owed: our texts elsewhere, our memory, our key."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import quote

import pytest
from parts.standin import StandIn

from claimlab.core.budget import Budget
from claimlab.core.errors import BudgetSpent, EndpointRefused

KEY = "sk-Proj/1234+echo_me"


class Server:
    """Answers every request on a socket with the same head, then `size` bytes in pieces."""

    def __init__(self, head: str, size: int = 0, body: str = "") -> None:
        self.head, self.size, self.body, self.requests = head, size, body, 0
        self.sent = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(line,), daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        with line, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += line.recv(1 << 16)
            self.requests += 1
            line.sendall(
                self.head.replace("SELF", self.url).encode() + b"\r\n\r\n" + self.body.encode()
            )
            piece = b"x" * (1 << 20)
            for _ in range(self.size >> 20):
                line.sendall(piece)
                self.sent += len(piece)

    def close(self) -> None:
        self._socket.close()


@contextmanager
def serving(head: str, size: int = 0, body: str = "") -> Iterator[Server]:
    server = Server(head, size, body)
    try:
        yield server
    finally:
        server.close()


def moved(where: str, status: int = 307) -> str:
    return f"HTTP/1.1 {status} Moved\r\nlocation: {where}\r\ncontent-length: 0\r\nconnection: close"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_takes_no_text_elsewhere(status: int, lab: Any) -> None:
    with StandIn() as other, serving(moved(f"{other.url}/chat/completions", status)) as server:
        budget = Budget(calls=10)
        answer = lab.ask(lab.open(server.url, budget=budget))
    assert (answer.failure, answer.transient) == (f"http-{status}", False)
    assert other.url in (answer.detail or "")
    assert (other.requests, server.requests, budget.spent.calls) == (0, 1, 1)


def test_every_request_of_a_loop_of_redirects_counts(lab: Any) -> None:
    with serving(moved("SELF/chat/completions")) as server:
        budget = Budget(calls=5)
        done, error = lab.ask_until(
            lab.open(server.url, budget=budget), lab.questions(20), concurrency=4
        )
    assert isinstance(error, BudgetSpent)
    assert server.requests == budget.spent.calls == 5
    assert all(answer.failure == "http-307" for answer in done.values())


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ("<!DOCTYPE html><html><body>Sign in</body></html>", "not JSON"),
        ('{"choices": []}', "choices"),
        ("[1, 2", "not JSON"),
    ],
)
def test_an_endpoint_that_is_none_stops_the_run_with_the_cause(
    lab: Any, answer: str, cause: str
) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(answer)}\r\nconnection: close"
    with serving(head, body=answer) as server:
        budget = Budget(calls=60)
        done, error = lab.ask_until(
            lab.open(server.url, budget=budget), lab.questions(12), concurrency=4
        )
    assert isinstance(error, EndpointRefused)
    assert cause in str(error)
    assert server.requests <= 5 + 4, "five in a row, and what was under way"
    assert not done


MEMORY = """
import asyncio, resource, sys
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.retries import Retries
from claimlab.llm.messages import Request
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import Profile

profile = Profile(name="p", base_url=sys.argv[1], model="m", timeout=60)
provider = open_provider(profile, calls=Calls(mode="live"), retries=Retries(faults=0))
asyncio.run(provider.ask(Request.of("warm up")))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
answer = asyncio.run(provider.ask(Request.of("hello")))
print(answer.failure, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("status", [500, 400])
def test_an_error_of_400_mb_is_not_read(status: int) -> None:
    size = 400 << 20
    with serving(
        f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {size}", size
    ) as server:
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, server.url],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    failure, grown = done.stdout.split()
    assert failure == f"http-{status}"
    assert int(grown) < 20_000, "kilobytes"
    assert server.sent < 2 * (64 << 20), "both answers together, with what the sockets hold"


@pytest.mark.slow
def test_a_small_reply_that_unpacks_to_a_huge_one_is_cut(lab: Any) -> None:
    import gzip

    body = gzip.compress(b'{"choices": "' + b"a" * (200 << 20) + b'"}')
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {len(body)}"
    with serving(head) as server:
        server.head += "\r\n\r\n"
        server._answer = lambda line: _send(line, head.encode() + b"\r\n\r\n" + body)  # type: ignore[method-assign]
        answer = lab.ask(lab.open(server.url))
    assert answer.failure == "too-large"


def _send(line: socket.socket, whole: bytes) -> None:
    with line, suppress(OSError):
        line.recv(1 << 16)
        line.sendall(whole)


FORMS = {
    "plain": KEY,
    "reversed": KEY[::-1],
    "in an address": quote(KEY, safe=""),
    "base64": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "hex": KEY.encode().hex(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", ["reply", "error", "html"])
def test_a_key_that_is_repeated_is_neither_stored_nor_shown(
    where: str, form: str, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from parts import standin

    echoed = FORMS[form]
    faults = {
        "error": (400, json.dumps({"error": {"message": f"bad key {echoed}"}}).encode()),
        "html": (200, f"<html>{echoed}</html>".encode()),
    }
    if where in faults:
        monkeypatch.setitem(standin._FAULTS, "echo", faults[where])
    monkeypatch.setenv("LAB_KEY", KEY)
    fault = lab.faulty("echo") if where in faults else lab.faulty("", 0)
    with StandIn(
        answer=lab.says(json.dumps({"answer": f"your key: {echoed}"})), fault=fault
    ) as server:
        answer = lab.ask(lab.open(server, settings={"key_variable": "LAB_KEY"}))
    assert echoed not in repr(answer)
    assert "[key]" in repr(answer)
    stored = b"".join(file.read_bytes() for file in lab.cache.glob("*"))
    assert not any(known.encode() in stored for known in FORMS.values())
    assert where != "reply" or b"your key: " in stored
