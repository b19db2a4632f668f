"""What the tests of whole commands share: a workspace with one of everything, a model and a search
server on loopback, and commands run as processes of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest
from parts import forked
from parts.forked import MAIN
from parts.packages import HAS_SIMULATE
from parts.planted import planted
from parts.standin import Body, StandIn, own_profile

import claimlab as cl
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.record import to_side_table
from claimlab.evaluate.eqa.study import QUESTIONS

SAMPLE = Path(__file__).parents[1] / "catalog" / "samples" / "covid-fact" / "raw"


def start(
    folder: Path, command: str, child: str = MAIN, *, fork: bool = True, **env: str
) -> subprocess.Popen[str]:
    """`command` as a process of its own, in `folder`; a new start of Python unless it may be forked
    from a warm one.
    """
    env = {**os.environ, "PYTHONPATH": str(Path(cl.__file__).parents[1]), **env}
    words = [sys.executable, "-c", child, *command.split()]
    started = forked.Popen if fork else subprocess.Popen
    return started(
        words, cwd=folder, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )


def outcome(process: subprocess.Popen[str]) -> tuple[int, str]:
    message = process.communicate(timeout=300)[1]
    return process.returncode, message


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`data` is a dataset with a split, `rows.csv` and `rows.jsonl` have its texts, `sample` is a
    catalogued dataset as its authors lay it out, `run` has rationales to judge, `results` has two bundles, `audit` an audit, and `study.toml` is
    a study of `data`. Not to be changed."""
    folder = tmp_path_factory.mktemp("workspace")
    dataset = cl.split(planted(size=240)[0], output=folder / "data").dataset
    rows = dataset.records.select("id", "text", pl.col("veracity").alias("verdict"))
    rows.write_csv(folder / "rows.csv")
    rows.write_ndjson(folder / "rows.jsonl")
    shutil.copytree(SAMPLE, folder / "sample")
    explained(dataset).write(folder / "run")
    for detector in ("majority", "stratified"):
        cl.detect(dataset, detector, output=folder / detector)
        (folder / "results").mkdir(exist_ok=True)
        cl.publish_bundle(folder / detector, folder / "results" / f"{detector}.json", draws=200)
    cl.publish_board(folder / "results", output=folder / "results-board")
    cl.audit(dataset, checks=["length", "near-duplicates"], output=folder / "audit")
    if HAS_SIMULATE:
        from parts.planted_samples import planted_samples

        cl.evolve(dataset, steps=3, limit=4, output=folder / "evolved")
        planted_samples(size=9, each=1)[0].write(folder / "generated")
    unsigned = dataset.records.head(40).with_columns(
        pl.lit(None, pl.String).alias(c) for c in ("authorship", "meta")
    )
    Dataset.build("people", unsigned).write(folder / "people")
    review = cl.review_create(
        folder / "data", folder / "review", sample=4, per_item=1, people=["ana"]
    )
    for number, item in enumerate(review.queue("ana")):
        review.decide("ana", item.id, "mixed", key=f"00000000-0000-4000-8000-{number:012d}")
    review.close()
    answers = "".join(
        f'{name} = "It is said here in a sentence, as asked."\n' for name in QUESTIONS
    )
    grid = '[datasets.data]\nfolder = "data"\n[grid]\nsplit = ["random", "group"]\ndetector = ["stratified"]\n'
    (folder / "grid.toml").write_text(grid, encoding="utf-8")
    study = f'title = "Planted"\n[formulation]\n{answers}[data]\ndatasets = ["data"]\n'
    (folder / "study.toml").write_text(study, encoding="utf-8")
    cl.enrich(
        folder / "data", f"local:{folder / 'rows.jsonl'}", cache=folder / "calls", limit=12
    )  # to be replayed
    return folder


def explained(dataset: Dataset, size: int = 6) -> Dataset:
    """A run whose predictions have rationales, with a fact-checking article for each."""
    records = dataset.records.head(size).with_columns(split=pl.lit("test"))
    ids = records["id"].to_list()
    reasons = [f"The bridge was not opened in {1931 + i}." for i in range(size)]
    articles = {
        "evidence_id": ids,
        "text": ["The bridge was opened in 1931."] * size,
        "rating": ["True"] * size,
    }
    tables = {
        "predictions": pl.DataFrame(
            {"record_id": ids, "label": ["true"] * size, "rationale": reasons}
        ),
        "evidence": pl.DataFrame({"record_id": ids, "rank": [1] * size, **articles}),
    }
    step = Lineage(
        step="detect", parameters={"detector": "x", "settings": {}, "task": "veracity"}, seed=0
    )
    return dataset.derive(
        records, step, {name: to_side_table(name, table) for name, table in tables.items()}
    )


REPLY = {
    "rationale": "Because.", "label": "false", "confidence": 0.8, "evidence": [],  # llm-zero-shot
    "analysis": "Compared.", "score": 7,  # judge
    "explanation": "So it is.", "missing": [], "answer": "feasible",  # audit
    # evolve
    "claim": "They say so.", "influencing_attributes": [], "influencing_reason": "It is so.",
}  # fmt: skip


def reply(_: Body) -> str:
    """An answer that every question about a claim takes: readers ignore the fields of the
    others.
    """
    return json.dumps(REPLY)


@pytest.fixture
def model(tmp_path: Path) -> Iterator[StandIn]:
    """A model endpoint; `model.toml` beside the outputs is its profile."""
    with StandIn(answer=reply, slots=4) as server:
        prices = "prices = { m = { input = 1.0, output = 2.0 } }"
        own_profile(
            tmp_path / "model.toml",
            f'[stand-in]\nbase_url = "{server.url}"\nmodel = "m"\n{prices}\n',
        )
        yield server


class Searches:
    """A server that answers as SearXNG does, and counts."""

    def __init__(self) -> None:
        self.requests, self.latency = 0, 0.0
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
