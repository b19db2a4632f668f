"""Fifty annotators at once, and a server that is killed while they save: every answer is there,
once.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from parts.planted import clean_twin

from claimlab.review.create import review_create
from claimlab.review.project import STORE
from claimlab.review.review import Review
from claimlab.review.store import STORE_VARIABLE

pytestmark = [pytest.mark.slow, pytest.mark.alone]
ANNOTATORS = 50
SECONDS = float(
    os.environ.get("CLAIMLAB_LOAD_SECONDS", "20")
)  # per store; 60 for the figures of docs/serve.md


def made(folder: Path, size: int, people: int, store: str = STORE) -> dict[str, str]:
    """A review in which everybody is asked everything; the tokens by name."""
    clean_twin(size=size).write(folder / "data")
    review = review_create(
        folder / "data",
        folder / "review",
        task="rating",
        per_item=people,
        store=None if store == STORE else store,
    )
    tokens = review.add_people([f"p{i}" for i in range(people)])
    review.close()
    return tokens


@contextlib.contextmanager
def server(
    folder: Path, port: int = 0, store: str = STORE
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [
        sys.executable,
        "-c",
        "from claimlab.cli.app import main; main()",
        "serve",
        str(folder),
        "--port",
        str(port),
    ]
    named = {} if store == STORE else {STORE_VARIABLE: store}
    environment = {**os.environ, **named}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    address = re.search(r"http://(\S+?)/", process.stderr.readline())
    assert address
    try:
        yield process, address[1]
    finally:
        process.kill()
        process.wait()


def call(host: str, token: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """One request; it raises where no answer came."""
    connection = http.client.HTTPConnection(*urlsplit(f"//{host}").netloc.split(":"), timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        connection.request(
            "GET" if body is None else "POST",
            path,
            None if body is None else json.dumps(body),
            headers,
        )
        answer = connection.getresponse()
        content: dict[str, Any] = json.loads(answer.read())
    finally:
        connection.close()
    assert answer.status == 200, content
    return content


def work(host: str, token: str, stop: threading.Event, saved: list[tuple[str, float]]) -> None:
    """Decide one item after the other; an answer that was not confirmed is sent again, under the
    same key.
    """
    seen = None
    while not stop.is_set():
        with contextlib.suppress(OSError, http.client.HTTPException):
            seen = seen or call(host, token, "/api/reviews/review/annotate")["seen"]
            if seen is None:
                return
            body = {"item": seen["item"]["id"], "value": 5, "key": str(uuid.uuid4())}
            began = time.monotonic()
            for _ in range(1_200):
                try:
                    seen = call(host, token, "/api/reviews/review/decide", body)["seen"]
                except (OSError, http.client.HTTPException):
                    time.sleep(0.1)
                    continue
                saved.append((body["key"], time.monotonic() - began))
                break


def keys_in(folder: Path, store: str) -> list[str]:
    review = Review.open(folder / "review", store=None if store == STORE else store)
    rows = review.events()
    review.close()
    return [
        json.loads(detail)["key"]
        for kind, detail in rows.select("kind", "detail").iter_rows()
        if kind == "decide"
    ]


@pytest.mark.alone
def test_fifty_annotators_save_at_once(
    tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = made(tmp_path, 600, ANNOTATORS, store)
    saved: list[tuple[str, float]] = []
    with server(tmp_path, store=store) as (_, host):
        stop = threading.Event()
        threading.Timer(SECONDS, stop.set).start()
        threads = [
            threading.Thread(target=work, args=(host, token, stop, saved))
            for token in tokens.values()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    times = sorted(seconds for _, seconds in saved)
    p50, p95 = (1000 * times[int(share * len(times))] for share in (0.5, 0.95))
    where = store.partition(":")[0]
    with capsys.disabled():
        print(  # noqa: T201 (figures to read)
            f"\n{where}: {ANNOTATORS} annotators for {SECONDS:.0f} s over HTTP: {len(saved):,} decisions, "
            f"p50 {p50:.0f} ms, p95 {p95:.0f} ms"
        )
    assert len(saved) > ANNOTATORS
    assert sorted(keys_in(tmp_path, store)) == sorted(key for key, _ in saved)


def test_a_server_killed_while_saving_loses_nothing_and_doubles_nothing(
    tmp_path: Path, store: str
) -> None:
    tokens = made(tmp_path, 300, ANNOTATORS, store)
    saved: list[tuple[str, float]] = []
    with contextlib.ExitStack() as stack:
        process, host = stack.enter_context(server(tmp_path, store=store))
        stop = threading.Event()
        threads = [
            threading.Thread(target=work, args=(host, token, stop, saved))
            for token in tokens.values()
        ]
        for thread in threads:
            thread.start()
        for kill in range(5):
            while len(saved) < 40 * (kill + 1):  # somebody is saving whenever it is killed
                assert process.poll() is None
                time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process, _ = stack.enter_context(server(tmp_path, int(host.split(":")[1]), store))
        stop.set()
        for thread in threads:
            thread.join()
    keys = keys_in(tmp_path, store)
    assert len(saved) >= 200
    assert len(set(keys)) == len(keys)
    assert sorted(keys) == sorted(key for key, _ in saved)
