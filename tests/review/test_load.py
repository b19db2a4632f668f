"""Fifty annotators save at once, and savers are killed in the middle: every decision is there
once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from claimlab.review.review import Review
from claimlab.review.store import decision, sa

from .made import review, task

READ = {"capture_output": True, "text": True, "check": True}
ANNOTATORS, PROCESSES, SECONDS = 50, 2, float(os.environ.get("CLAIMLAB_LOAD_SECONDS", "20"))

WORKER = """
import sys, time, uuid
from concurrent.futures import ThreadPoolExecutor
from claimlab.review.review import Review

folder, seconds, names = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
review = Review.open(folder)
end = time.monotonic() + seconds

def work(name):
    lines = []
    while time.monotonic() < end and (item := review.next_item(name)) is not None:
        key, start = str(uuid.uuid4()), time.perf_counter()
        review.decide(name, item.id, "yes", key=key)
        lines.append(f"{name} {item.id} {key} {time.perf_counter() - start:.6f}")
    return lines

with ThreadPoolExecutor(len(names)) as pool:
    for lines in pool.map(work, names):
        print("\\n".join(lines))
"""

SAVER = """
import sys, uuid
from claimlab.review.review import Review

review = Review.open(sys.argv[1])
print("ready", flush=True)
while (item := review.next_item("ana")) is not None:
    key = str(uuid.uuid4())
    print("saving", item.id, key, flush=True)
    review.decide("ana", item.id, "yes", key=key)
    print("saved", item.id, key, flush=True)
"""


def keys_in(made: Review) -> Counter[str]:
    with made.store.read() as connection:
        rows = connection.execute(
            sa.select(decision.c.key).where(decision.c.superseded == sa.false())
        )
        return Counter(row.key for row in rows)


@pytest.fixture(autouse=True)
def named_by_the_user(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder does not say which database holds its decisions: the processes below are told."""
    if "://" in store:
        monkeypatch.setenv("CLAIMLAB_REVIEW_STORE", store)


@pytest.mark.slow
@pytest.mark.alone
def test_fifty_annotators_save_in_parallel(
    tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"a{n:02d}" for n in range(ANNOTATORS)]
    made = review(
        tmp_path / "r", task(per_item=2, order="random"), items=5_000, people=names, store=store
    )
    groups = [names[n::PROCESSES] for n in range(PROCESSES)]
    command = [sys.executable, "-c", WORKER, str(tmp_path / "r"), str(SECONDS)]
    with ThreadPoolExecutor(PROCESSES) as pool:
        started = [pool.submit(subprocess.run, [*command, *group], **READ) for group in groups]
    runs = [future.result() for future in started]
    lines = [line.split() for done in runs for line in done.stdout.split("\n") if line]
    times = np.array([float(line[3]) for line in lines])
    with capsys.disabled():
        p50, p95 = np.quantile(times, [0.5, 0.95])
        where = store.partition(":")[0]
        rate = (
            f"{len(times) / SECONDS:,.0f} saves/s, p50 {1000 * p50:.0f} ms, p95 {1000 * p95:.0f} ms"
        )
        print(f"\n{where}: {ANNOTATORS} annotators, {rate}")  # noqa: T201
    assert len(times) > 2 * ANNOTATORS
    assert keys_in(made) == Counter(line[2] for line in lines)
    assert {line[0] for line in lines} == set(names)
    assert (
        max(Counter((line[0], line[1]) for line in lines).values()) == 1
    )  # nothing twice to one person


@pytest.mark.slow
@pytest.mark.alone
def test_a_killed_saver_loses_and_doubles_nothing(tmp_path: Path, store: str) -> None:
    made = review(tmp_path / "r", items=4_000, people=["ana"], store=store)
    rng = np.random.default_rng(0)
    saved: dict[str, str] = {}
    unsure: list[tuple[str, str]] = []
    for _ in range(6):
        command = [sys.executable, "-c", SAVER, str(tmp_path / "r")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline().split() for _ in range(int(rng.integers(8, 30)))]
            time.sleep(float(rng.uniform(0, 0.05)))
            os.kill(process.pid, signal.SIGKILL)
            rest = process.stdout.read().split("\n")
        lines = [
            words
            for words in (*lines, *(line.split() for line in rest))
            if len(words) == 3 and len(words[2]) == 36
        ]
        done = {key: item for word, item, key in lines if word == "saved"}
        unsure += [(item, key) for word, item, key in lines if word == "saving" and key not in done]
        saved |= done
    assert len(saved) > 20
    stored = keys_in(made)
    assert set(saved) <= set(stored)  # nothing that was acknowledged is lost
    assert set(stored) <= {*saved, *(key for _, key in unsure)}
    for item, key in unsure:  # the client asks again with the same key: then it is there, once
        made.decide("ana", item, "yes", key=key)
    ballots = Counter(b.item for b in made.ballots())
    assert max(ballots.values()) == 1
    assert set(ballots) == {*saved.values(), *(item for item, _ in unsure)}


def test_a_review_in_a_database(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same work in SQLite and in PostgreSQL."""
    monkeypatch.setenv("CLAIMLAB_REVIEW_STORE", store)
    made = review(tmp_path / "r", store=store)
    for who, answer in {"ana": "yes", "ben": "no"}.items():
        while (item := made.next_item(who)) is not None:
            made.decide(who, item.id, answer, key=str(uuid.uuid4()), comment="Nul \x00 here.")
    made.add_person("ola", "owner")
    made.adjudicate("ola", "1", "no", key=str(uuid.uuid4()))
    made.undo("ben")
    assert made.progress().items == {"disputed": 4, "final": 1, "open": 1}
    made.close()
    again = Review.open(tmp_path / "r")
    assert next(b.comment for b in again.ballots()) == "Nul \x00 here."
    assert [p.name for p in again.people()] == ["ana", "ben", "ola"]
    again.close()
