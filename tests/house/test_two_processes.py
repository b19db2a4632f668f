"""Two processes, one output, one cap: one of them wins, the other is told who holds the output, and the endpoint never
sees more calls than the cap allows, not even when the winner is killed and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.generate.planted import planted
from claimlab.llm.standin import Body, StandIn

CAP = 12
SLOW = 30.0  # seconds for an answer: the first process is still waiting when the second one starts


class Searches:
    """A server that answers as SearXNG does, and counts."""

    def __init__(self) -> None:
        self.requests, self.latency = 0, SLOW
        outer, counting = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with counting:
                    outer.requests += 1
                time.sleep(outer.latency)
                body = json.dumps({"results": []}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Iterator[Searches]:
    searches = Searches()
    monkeypatch.setenv("SEARXNG_URL", searches.url)
    yield searches
    searches.server.shutdown()
    searches.server.server_close()


def verdict(_: Body) -> str:
    return json.dumps({"rationale": "Because.", "label": "false", "confidence": 0.8, "evidence": []})


@pytest.fixture
def model(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(answer=verdict, latency=SLOW) as server:
        prices = "prices = { m = { input = 1.0, output = 2.0 } }"
        (tmp_path / "model.toml").write_text(f'[stand-in]\nbase_url = "{server.url}"\nmodel = "m"\n{prices}\n')
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty records that are all different, in `data`; more than the cap allows to ask for."""
    texts = [f"The mill number {i} of Garrow sold {i + 3} looms to the council of Velmore." for i in range(40)]
    records = pl.DataFrame({"id": [f"m{i}" for i in range(40)], "text": texts, "veracity": ["true", "false"] * 20})
    Dataset.build("mills", records).write(tmp_path / "data")
    return tmp_path


def start(folder: Path, command: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(cl.__file__).parents[1])}
    words = [sys.executable, "-c", "from claimlab.cli.app import main; main()", *command.split()]
    return subprocess.Popen(words, cwd=folder, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def wait_for(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + 60
    while not ready():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < ends, "the first process never came that far"
        time.sleep(0.02)


def outcome(process: subprocess.Popen[str]) -> tuple[int, str]:
    message = process.communicate(timeout=120)[1]
    return process.returncode, message


SPENDING = {
    "enrich": f"enrich data -o out --provider searxng --extract none --max-calls {CAP} --concurrency 2",
    "detect": f"detect data -o out --detector llm-zero-shot --profile model.toml --max-calls {CAP}",
}


@pytest.mark.slow
@pytest.mark.parametrize("verb", SPENDING)
def test_one_cap_holds_for_two_processes_and_over_a_kill(
    verb: str, folder: Path, searches: Searches, model: StandIn
) -> None:
    def calls() -> int:
        return searches.requests + model.requests

    first = start(folder, SPENDING[verb])
    wait_for(lambda: calls() >= 2, first)
    code, message = outcome(start(folder, SPENDING[verb]))
    assert code == 1
    assert f"is being written by claimlab {verb}, process {first.pid}" in message
    first.send_signal(signal.SIGKILL)
    first.wait(10)
    searches.latency = model.latency = 0.0
    spent = calls()
    assert spent <= CAP

    code, message = outcome(start(folder, SPENDING[verb]))
    assert (code, "The budget is spent" in message) == (1, True), message
    assert spent <= calls() <= CAP
    at_the_cap = calls()
    code, message = outcome(start(folder, SPENDING[verb]))
    assert (code, "The budget is spent" in message) == (1, True), message
    assert calls() == at_the_cap


@pytest.mark.slow
def test_of_two_cleanings_into_one_output_one_wins(tmp_path: Path) -> None:
    planted(size=4000)[0].write(tmp_path / "data")
    both = [start(tmp_path, "clean data -o out"), start(tmp_path, "clean data -o out")]  # they reach the lock together
    ends = [outcome(process) for process in both]
    winner, loser = (0, 1) if ends[0][0] == 0 else (1, 0)
    assert [ends[winner][0], ends[loser][0]] == [0, 1], ends
    assert f"is being written by claimlab clean, process {both[winner].pid}" in ends[loser][1]
    assert Dataset.open(tmp_path / "out").lineage[-1].step == "clean"
    assert not [p.name for p in tmp_path.iterdir() if p.name.startswith(".")]
