"""A fake vendor for tests: a small HTTP server on loopback that speaks the wire format, with faults
on demand.

    with StandIn(latency=0.2, slots=64) as server: ... server.url ...      a thread, for tests and
    notebooks
    python bench/parts/standin.py --latency 0.2 --slots 64                 a process; prints its URL

It exists so that retries, caps, resuming and throughput are tried against a real socket without a
key or a bill. It counts every request it answers by its body, so that "no paid call was repeated"
is a count and not a hope. A fault is a word: see `_FAULTS` and the ones `_reply` knows.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

Body = dict[str, Any]
HUGE = 10 << 20
_FAULTS: dict[str, tuple[int, bytes]] = {
    "html": (200, b"<!DOCTYPE html><html><body>Sign in to this network</body></html>"),
    "empty": (200, b""),
    "truncated": (200, b'{"id": "x", "choices": [{"index": 0, "message": {"role": "assist'),
    "no-choices": (200, b'{"id": "x", "choices": []}'),
    "filter": (
        400,
        b'{"error": {"code": "content_filter", "message": "The prompt was filtered."}}',
    ),
    "quota": (
        429,
        b'{"error": {"code": "insufficient_quota", "message": "You exceeded your quota."}}',
    ),
}


def echo(body: Body) -> str:
    """The default answer: a deterministic function of the messages."""
    digest = hashlib.sha256(json.dumps(body["messages"], sort_keys=True).encode()).hexdigest()
    return json.dumps({"answer": digest[:12]})


class StandIn:
    """`answer(body)` is the text; `fault(body, seen)` may name a fault, `seen` being how often this
    body came before.

    `slots`: how many requests are worked on at once; more wait in line, or get status 429 when
    `strict`.
    """

    def __init__(
        self,
        answer: Callable[[Body], str] = echo,
        fault: Callable[[Body, int], str | tuple[int, bytes] | None] = lambda body, seen: None,  # noqa: ARG005
        *,
        latency: float = 0.0,
        slots: int | None = None,
        strict: bool = False,
        retry_after: str | None = "0.05",
        usage: bool = True,
        finish: str = "stop",
    ) -> None:
        self.answer, self.fault = answer, fault
        self.latency, self.slots, self.strict = latency, slots, strict
        self.retry_after, self.usage, self.finish = retry_after, usage, finish
        self.url = ""
        self.requests = self.served = self.working = self.most_working = 0
        self.seen: Counter[str] = Counter()
        self.last: Body = {}
        self.last_headers: dict[str, str] = {}
        self._line: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def counts(self) -> dict[str, int]:
        """How many requests came, were answered, were repeats of an earlier body, and ran at once
        at most.
        """
        repeated = sum(n - 1 for n in self.seen.values())
        return {
            "requests": self.requests,
            "served": self.served,
            "repeated": repeated,
            "most": self.most_working,
        }

    async def start(self, port: int = 0) -> asyncio.Server:
        if self.slots is not None and not self.strict:
            self._line = asyncio.Semaphore(self.slots)
        server = await asyncio.start_server(
            self._talk, "127.0.0.1", port, limit=1 << 24, backlog=512
        )
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        return server

    def __enter__(self) -> StandIn:
        ready = threading.Event()

        async def serve() -> None:
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            server = await self.start()
            ready.set()
            await self._stop.wait()
            server.close()

        self._thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                first, *lines = head.decode("latin-1").split("\r\n")
                headers = {
                    k.lower(): v.strip()
                    for k, _, v in (line.partition(":") for line in lines if line)
                }
                raw = await reader.readexactly(int(headers.get("content-length", 0)))
                self.last_headers = headers if first.startswith("POST") else self.last_headers
                method, path, *_ = first.split(" ")
                reply = await self.respond(method, path, raw)
                if reply is None:
                    return
                writer.write(reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return  # the client went away
        finally:
            writer.close()

    async def respond(self, method: str, path: str, raw: bytes) -> bytes | None:  # noqa: ARG002
        """The whole reply to a request; null closes the connection."""
        return (
            http(200, json.dumps(self.counts()).encode())
            if method == "GET"
            else await self._work(raw)
        )

    async def _work(self, raw: bytes) -> bytes | None:
        """One request, within the slots."""
        self.requests += 1
        self.working += 1
        self.most_working = max(self.most_working, self.working)
        try:
            if self.strict and self.slots is not None and self.working > self.slots:
                return self._status("429")
            if self._line is None:
                return await self._reply(raw)
            async with self._line:
                return await self._reply(raw)
        finally:
            self.working -= 1

    async def _reply(self, raw: bytes) -> bytes | None:
        body: Body = json.loads(raw)
        key = hashlib.sha256(raw).hexdigest()
        seen, self.last = self.seen[key], body
        self.seen[key] += 1
        fault = self.fault(body, seen)
        if self.latency:
            await asyncio.sleep(self.latency)
        if fault == "hang":
            await asyncio.sleep(3600)
        if fault == "cut":
            return None  # the connection is closed without a word
        if isinstance(fault, tuple):  # a status and a body of the caller's own
            return http(*fault)
        if fault in _FAULTS:
            return http(*_FAULTS[fault])
        if fault is not None and fault.isdigit():
            return self._status(fault)
        self.served += 1
        message = {
            "role": "assistant",
            "content": "x" * HUGE if fault == "huge" else self.answer(body),
        }
        if fault == "refusal":
            message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}  # type: ignore[dict-item]
        return http(200, json.dumps(self.completion(body, message)).encode())

    def completion(self, body: Body, message: Body) -> Body:
        prompt_tokens = sum(len(m["content"]) for m in body["messages"]) // 4
        reply_tokens = len(message.get("content") or "") // 4
        usage = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": reply_tokens,
            "total_tokens": prompt_tokens + reply_tokens,
        }
        return {
            "id": "stand-in",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
            "choices": [{"index": 0, "finish_reason": self.finish, "message": message}],
            **({"usage": usage} if self.usage else {}),
        }

    def _status(self, status: str) -> bytes:
        wait = [f"retry-after: {self.retry_after}"] if status == "429" and self.retry_after else []
        return http(
            int(status), json.dumps({"error": {"message": f"planned {status}"}}).encode(), wait
        )


def http(status: int, body: bytes, headers: list[str] | None = None) -> bytes:
    lines = [
        f"HTTP/1.1 {status} X",
        "content-type: application/json",
        f"content-length: {len(body)}",
        *(headers or []),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


async def _serve(arguments: argparse.Namespace) -> None:
    answer = echo if arguments.answer is None else lambda _: str(arguments.answer)
    stand_in = StandIn(
        answer, latency=arguments.latency, slots=arguments.slots, strict=arguments.strict
    )
    server = await stand_in.start(arguments.port)
    sys.stdout.write(stand_in.url + "\n")
    sys.stdout.flush()
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description="A stand-in for a model endpoint, on loopback.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before every answer")
    parser.add_argument("--slots", type=int, default=64, help="requests worked on at once")
    parser.add_argument("--answer", help="what it says to everything")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="say 429 to more than that, instead of letting them wait",
    )
    asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()


def own_profile(file: Path, text: str) -> None:
    """Write a model profile that the user has allowed: its host may be asked."""
    from claimlab.core.grants import allow
    from claimlab.llm.profiles import read_profiles, wanted_of

    file.write_text(text, encoding="utf-8")
    allow(file, wanted_of(read_profiles(file)))
