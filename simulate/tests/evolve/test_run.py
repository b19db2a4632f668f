"""Runs: paths follow the network, votes count as named, failures are events, and nothing depends on
speed or stops.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from parts import forked

from claimlab.core.dataset import Dataset
from claimlab.core.errors import BudgetSpent, DataError, ReplayMiss, UnknownName, UsageError
from claimlab.core.progress import reporting
from claimlab.core.run import Run
from claimlab_simulate.evolve.auditor import Question, Vote, majority
from claimlab_simulate.evolve.auditors.known.replay import ReplayAuditor
from claimlab_simulate.evolve.auditors.known.rules import rule_auditors
from claimlab_simulate.evolve.claims.model import Target
from claimlab_simulate.evolve.contracts import ActorSettings as AuditorSettings
from claimlab_simulate.evolve.front import evolve
from claimlab_simulate.evolve.hop import TraceRecording
from claimlab_simulate.evolve.propagation import PropagationPlan
from claimlab_simulate.evolve.rewrite.known.null import Null
from claimlab_simulate.evolve.rewrite.known.replay import Replay
from claimlab_simulate.evolve.rewrite.weights import Weights
from claimlab_simulate.evolve.rewriter import Request, Rewrite
from claimlab_simulate.evolve.scene import Scene
from claimlab_simulate.evolve.simulate import simulate
from claimlab_simulate.evolve.society.draws import numbers
from claimlab_simulate.evolve.society.engine import Model
from claimlab_simulate.evolve.society.network import Network

COLLOQUIAL = Target("style", "colloquial-emotional")


def noise() -> Null:
    return Null(Weights.read().null, {})


def meta(table: pl.DataFrame) -> list[dict[str, Any]]:
    return [json.loads(m) for m in table["meta"].to_list()]


def kept(output: Path, claims: Dataset, stage: Scene, **settings: Any) -> Dataset:
    """A run whose finished lives are kept beside `output`, which is never written: as if it were
    always killed.
    """
    with Run("evolve", claims, output, seed=settings.get("seed")) as run:
        return simulate(claims, stage, run=run, **settings)


class Juror:
    """Votes by a list of answers, one per step, and remembers when it was asked."""

    def __init__(self, name: str, answers: dict[tuple[int, int], bool | None]) -> None:
        self.name, self.answers = name, answers
        self.asked: list[tuple[int, int]] = []

    async def judge(self, question: Question) -> Vote:
        self.asked.append((question.round, question.step))
        passed = self.answers.get((question.round, question.step), False)
        return Vote(
            self.name,
            passed,
            f"{self.name} looked.",
            None if passed else f"{self.name} misses something.",
        )

    async def close(self) -> None: ...

    def describe(self) -> dict[str, Any]:
        return {"auditor": self.name}


def follows(network: Network, agents: Iterable[int]) -> bool:
    return all(after in network.neighbours(before) for before, after in pairwise(agents))


@pytest.mark.parametrize("kind", ["random", "scale-free", "clustered"])
def test_a_walk_follows_the_network_and_chains_its_texts(kind: str, town: Any) -> None:
    stage = town.stage(kind, within=kind == "clustered")
    made = simulate(town.claims(), stage, rewriter=noise(), plan=PropagationPlan(steps=12), seed=5)
    traces = made.tables["traces"]
    assert traces.height == 8 * 12
    groups = dict(stage.population.agents.select("id", "group").iter_rows())
    for (record,), rows in traces.group_by("trace_id", maintain_order=True):
        agents = stage.population.positions(rows["agent"].to_list())
        assert follows(stage.network, agents)
        assert rows["input"].to_list()[1:] == rows["output"].to_list()[:-1]
        assert rows["step"].to_list() == list(range(1, 13))
        assert (rows["input"] != rows["output"]).to_list() == [
            r == "producer" for r in rows["role"]
        ]
        assert (
            made.records.filter(pl.col("id") == record)["text"].item()
            == rows["output"].to_list()[-1]
        )
        if kind == "clustered":
            assert len({groups[a] for a in rows["agent"].to_list()}) == 1
    hubs = {m.get("hub") for m in meta(traces)}
    assert (hubs == {None}) == (kind != "scale-free")


def test_what_they_became_says_what_it_is(town: Any) -> None:
    claims = town.claims(source="Riverton Herald")
    made = simulate(claims, town.stage(), rewriter=noise(), plan=PropagationPlan(steps=6), seed=5)
    assert made.synthetic
    for before, after, said in zip(
        claims.records.iter_rows(named=True),
        made.records.iter_rows(named=True),
        meta(made.records),
        strict=True,
    ):
        note = said["synthetic"]
        assert note["label"] == "1"
        assert note["origin"]["base_claim"] == before["text"]
        assert note["origin"]["claim"] == before["id"] == after["group"]
        assert bool(note["changes"]) == (after["text"] != before["text"])
        assert after["text"] == before["text"] or (
            after["authorship"] == "HAT" and after["veracity"] is None
        )
        assert note["origin"]["source"] == "Riverton Herald"
        assert (after["source"] is None) == (after["text"] != before["text"]), (
            "the outlet did not print this text"
        )
    assert made.tables["evidence"]["record_id"].to_list() == made.records["id"].to_list()
    assert set(made.tables["agents"]["id"]) >= set(made.tables["traces"]["agent"])
    step = made.lineage[-1]
    assert step.counts["turns"] == 48
    assert step.seed == 5
    assert step.parameters["rewriter"]["rates"] == Weights.read().null.model_dump()


def test_noise_adds_up(town: Any) -> None:
    made = simulate(
        town.claims(40), town.stage(), rewriter=noise(), plan=PropagationPlan(steps=30), seed=1
    )
    first: dict[str, set[str]] = {}
    share: dict[int, list[float]] = {}
    for row in made.tables["traces"].iter_rows(named=True):
        base = first.setdefault(row["record_id"], set(row["input"].lower().split()))
        words = set(row["output"].lower().split())
        share.setdefault(row["step"], []).append(1 - len(words & base) / len(words | base))
    mean = {step: sum(v) / len(v) for step, v in share.items()}
    assert 0.1 < mean[1] < mean[2] < mean[5] < mean[10] < mean[30] < 1


def test_a_cascade_is_a_tree_of_rewrites(town: Any) -> None:
    stage = town.stage(n=60)
    made = simulate(
        town.claims(4),
        stage,
        rewriter=noise(),
        plan=PropagationPlan("cascade", steps=4, fan_out=2, reach=12),
        seed=2,
    )
    assert made.tables["traces"]["trace_id"].n_unique() == 4
    for _, rows in made.tables["traces"].group_by("trace_id", maintain_order=True):
        said = meta(rows)
        assert rows.height <= 12
        assert rows["agent"].n_unique() == rows.height, "nobody is told twice"
        outputs = dict(zip(rows["step"].to_list(), rows["output"].to_list(), strict=True))
        agents = dict(
            zip(
                rows["step"].to_list(),
                stage.population.positions(rows["agent"].to_list()),
                strict=True,
            )
        )
        told: dict[int, int] = {}
        for row, m in zip(rows.iter_rows(named=True), said, strict=True):
            assert m["depth"] <= 4
            if m["parent"]:
                assert row["input"] == outputs[m["parent"]]
                assert follows(stage.network, [agents[m["parent"]], agents[row["step"]]])
                told[m["parent"]] = told.get(m["parent"], 0) + 1
        assert max(told.values()) <= 2


def test_all_auditors_vote_after_each_step_in_the_paper(town: Any, scripted: Any) -> None:
    says = scripted(lambda r: Rewrite(f"{r.text} {r.step}", "producer"))
    jurors = [
        Juror("a", {(1, 2): True, (1, 3): True}),
        Juror("b", {(1, 1): True, (1, 3): True}),
        Juror("c", {(1, 3): None}),
    ]
    plan = PropagationPlan("intervened", steps=10)
    made = simulate(
        town.claims(1), town.ring(), rewriter=says, auditors=jurors, targets=[COLLOQUIAL], plan=plan
    )
    traces = made.tables["traces"]
    assert traces["passed"].to_list() == [False, False, True], (
        "two of three, and a null vote is no yes"
    )
    assert all(j.asked == [(1, 1), (1, 2), (1, 3)] for j in jurors)
    assert [len(m["votes"]) for m in meta(traces)] == [3, 3, 3]
    assert [r.diagnosis for r in says.asked] == [
        None,
        "a misses something. c misses something.",
        "b misses something. c misses something.",
    ]
    assert meta(made.records)[0]["status"] == "success"


def test_the_first_auditor_votes_alone_until_the_round_ends_as_released(
    town: Any, scripted: Any
) -> None:
    says = scripted(lambda r: Rewrite(f"{r.text} {r.round}.{r.step}", "producer"))
    jurors = [Juror("a", {(1, 2): True}), Juror("b", {(2, 3): True}), Juror("c", {(2, 3): True})]
    plan = PropagationPlan("intervened", steps=3, rounds=3, vote="released")
    made = simulate(
        town.claims(1), town.ring(), rewriter=says, auditors=jurors, targets=[COLLOQUIAL], plan=plan
    )
    traces = made.tables["traces"]
    assert list(traces.select("round", "step").iter_rows()) == [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
        (2, 3),
    ]
    assert jurors[0].asked == [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3)]
    assert jurors[1].asked == jurors[2].asked == [(1, 2), (2, 3)]
    assert traces["passed"].to_list() == [False, True, False, False, False], (
        "the step's mark is the first auditor's"
    )
    assert meta(made.records)[0]["status"] == "success", "though the majority decides"


def test_rerouting_goes_to_neighbours_in_the_paper_and_anywhere_as_released(
    town: Any, scripted: Any
) -> None:
    says = scripted(lambda r: Rewrite(r.text, "bystander"))
    stage = town.ring(30)
    far = {}
    for vote in ("paper", "released"):
        plan = PropagationPlan(
            "intervened",
            steps=1 if vote == "released" else 12,
            rounds=12 if vote == "released" else 1,
            vote=vote,
        )
        made = simulate(
            town.claims(2),
            stage,
            rewriter=says,
            auditors=[Juror("a", {})],
            targets=[COLLOQUIAL],
            plan=plan,
        )
        assert {m["status"] for m in meta(made.records)} == {"failure"}
        agents = stage.population.positions(made.tables["traces"]["agent"].to_list()[:12])
        far[vote] = not follows(stage.network, agents)
    assert far == {"paper": False, "released": True}


def test_rerouting_prefers_who_is_near_the_target(town: Any) -> None:
    stage = town.stage(n=90)
    pull = stage.affinities(COLLOQUIAL)
    weights = stage.weights
    by_profile = [
        sum(
            weights.base.get(habit, 1.0)
            * prod(weights.factor(a, value, habit) for a, value in stage.profile(i).items())
            for habit in weights.habits(COLLOQUIAL)
        )
        for i in range(90)
    ]
    assert pull.tolist() == pytest.approx(by_profile)
    model = Model(np.zeros(4000), numbers(np.arange(4000, dtype=np.uint64), 0), agents=90)
    anybody = model.pass_on(stage.near(COLLOQUIAL, among_all=True)).agent
    assert pull[anybody].mean() == pytest.approx((pull**2).sum() / pull.sum(), rel=0.02)
    model = Model(np.zeros(400), numbers(np.arange(400, dtype=np.uint64), 0), agents=90)
    near = model.pass_on(stage.near(COLLOQUIAL, among_all=False)).agent
    assert set(near.tolist()) == set(stage.network.neighbours(0).tolist())


def test_without_auditors_one_agent_speaks_once_and_nothing_passes(town: Any) -> None:
    made = simulate(
        town.claims(),
        town.stage(),
        rewriter=noise(),
        targets=[COLLOQUIAL],
        plan=PropagationPlan("intervened"),
    )
    assert made.tables["traces"].height == 8
    assert made.tables["traces"]["passed"].null_count() == 8
    assert {m["status"] for m in meta(made.records)} == {"unaudited"}


def test_a_failing_agent_is_an_event(town: Any, scripted: Any) -> None:
    def say(request: Request) -> Rewrite:
        if request.step == 2:
            raise ValueError("a fault in the rewriter")
        if request.step == 3:
            return Rewrite.failed(request, "refusal", "I cannot help with that.")
        return Rewrite(request.text + "!", "producer")

    made = simulate(
        town.claims(3), town.stage(), rewriter=scripted(say), plan=PropagationPlan(steps=4)
    )
    traces = made.tables["traces"].filter(pl.col("record_id") == "c0")
    assert traces["role"].to_list() == ["producer", "failed", "failed", "producer"]
    assert [m.get("failure") for m in meta(traces)] == [None, "crash", "refusal", None]
    assert traces["output"].to_list()[2] == traces["output"].to_list()[0]
    counts = made.lineage[-1].counts
    assert (counts["failures: crash"], counts["failures: refusal"], counts["turns: failed"]) == (
        3,
        3,
        6,
    )


def test_what_no_turn_can_get_past_stops_the_run_and_keeps_what_is_done(
    town: Any, scripted: Any, tmp_path: Path
) -> None:
    def say(request: Request) -> Rewrite:
        if request.claim == "c5" and not raised:
            raised.append(1)
            raise BudgetSpent("The budget is spent.", "Raise it.")
        return Rewrite(request.text + "!", "producer")

    raised: list[int] = []
    writer = scripted(say)
    with pytest.raises(BudgetSpent):
        kept(
            tmp_path / "out",
            town.claims(),
            town.stage(),
            rewriter=writer,
            plan=PropagationPlan(steps=2),
            concurrency=1,
        )
    before = len(writer.asked)
    made = kept(
        tmp_path / "out",
        town.claims(),
        town.stage(),
        rewriter=writer,
        plan=PropagationPlan(steps=2),
        concurrency=1,
    )
    assert made.records.height == 8
    assert {r.claim for r in writer.asked[before:]} == {"c5", "c6", "c7"}, (
        "finished claims are not told again"
    )


def test_neither_concurrency_nor_company_changes_a_life(town: Any) -> None:
    def lives(n: int, concurrency: int) -> pl.DataFrame:
        made = simulate(
            town.claims(n),
            town.stage(),
            rewriter=noise(),
            plan=PropagationPlan(steps=8),
            seed=9,
            concurrency=concurrency,
        )
        return made.tables["traces"].filter(pl.col("record_id").is_in(["c1", "c4"]))

    assert lives(8, 1).equals(lives(8, 64))
    assert lives(8, 1).equals(lives(5, 3))
    other = simulate(
        town.claims(8), town.stage(), rewriter=noise(), plan=PropagationPlan(steps=8), seed=10
    )
    assert not lives(8, 1).equals(
        other.tables["traces"].filter(pl.col("record_id").is_in(["c1", "c4"]))
    )


def test_another_seed_takes_up_no_lives_of_a_stopped_run(town: Any, tmp_path: Path) -> None:
    """Agents and ties are files, so that the seed shows nowhere in the description of the
    society.
    """
    people = "".join(f"a{i},g,baker\n" for i in range(8))
    (tmp_path / "agents.csv").write_text(f"id,group,job\n{people}")
    (tmp_path / "ties.csv").write_text(
        "source,target\n" + "".join(f"a{i},a{(i + 1) % 8}\n" for i in range(8))
    )
    files = {
        "population": str(tmp_path / "agents.csv"),
        "network": str(tmp_path / "ties.csv"),
        "steps": 6,
    }

    def stop_late(label: str, done: int, total: int | None) -> None:
        if done == total:
            raise BudgetSpent("Stopped.", "Go on.")

    with pytest.raises(BudgetSpent), reporting(stop_late):
        evolve(
            town.claims(),
            output=tmp_path / "out",
            seed=1,
            concurrency=1,
            **files,
        )  # type: ignore[arg-type]
    assert list((tmp_path / ".out.work").glob("*/lives/*.json")), (
        "something was kept to be taken up"
    )
    resumed = evolve(town.claims(), output=tmp_path / "out", seed=2, **files)  # type: ignore[arg-type]
    alone = {seed: evolve(town.claims(), seed=seed, **files).tables["traces"] for seed in (1, 2)}  # type: ignore[arg-type]
    assert not alone[1].equals(alone[2])
    assert resumed.tables["traces"].equals(alone[2])


def test_cut_anywhere_and_resumed_is_the_same(town: Any, tmp_path: Path) -> None:
    """What a killed process leaves behind: some lives are there, some are not, and a loss of power
    empties others.
    """
    claims, stage, auditors = town.claims(12), town.stage(), rule_auditors(AuditorSettings(), 3)
    plan = PropagationPlan("intervened", steps=4, rounds=2, vote="released")
    settings = {"rewriter": noise(), "auditors": auditors, "targets": [COLLOQUIAL], "plan": plan}
    whole = kept(tmp_path / "whole", claims, stage, **settings)
    shards = sorted((tmp_path / ".whole.work").glob("*/lives/*.json"))
    assert len(shards) == 12
    draw = random.Random(4)
    for _ in range(10):
        for shard in draw.sample(shards, 5):
            shard.unlink()
        for shard in draw.sample([s for s in shards if s.exists()], 2):
            shard.write_text(shard.read_text()[: draw.randrange(20)])
        again = kept(tmp_path / "whole", claims, stage, **settings)
        assert again.tables["traces"].equals(whole.tables["traces"])
        assert again.records.equals(whole.records)
        assert all(shard.exists() for shard in shards)


@pytest.mark.slow
def test_killed_ten_times_the_resumed_run_writes_the_same_bytes(town: Any, tmp_path: Path) -> None:
    town.claims(240).write(tmp_path / "claims")
    command = [
        sys.executable,
        "-c",
        "from claimlab.cli.app import main; main()",
        "evolve",
        "run",
        str(tmp_path / "claims"),
    ]
    more = ["--network", "scale-free", "--steps", "30", "--set", "concurrency=7", "-o"]

    def finished() -> int:
        return len(list((tmp_path / ".killed.work").glob("*/lives/0*.json")))

    draw = random.Random(8)
    killed = 0
    for _ in range(10):
        wanted = finished() + draw.randrange(2, 14)
        with forked.Popen(
            [*command, *more, str(tmp_path / "killed")],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        ) as run:
            while run.poll() is None and finished() < wanted:
                time.sleep(0.005)
            if run.poll() is None:
                os.kill(run.pid, signal.SIGKILL)
                killed += 1
    assert killed == 10
    forked.run([*command, *more, str(tmp_path / "killed")], check=True, capture_output=True)
    evolve(tmp_path / "claims", network="scale-free", steps=30, output=tmp_path / "whole")
    for file in ("records.parquet", "traces.parquet", "dataset.json"):
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    assert not finished()


def test_a_recording_is_lived_again(town: Any, tmp_path: Path) -> None:
    claims, stage = town.claims(), town.stage()
    auditors = rule_auditors(AuditorSettings(), 3)
    plan = PropagationPlan("intervened", steps=5)
    made = simulate(
        claims, stage, rewriter=noise(), auditors=auditors, targets=[COLLOQUIAL], plan=plan
    )
    made.write(tmp_path / "made")
    recording = TraceRecording.open(tmp_path / "made")
    same = [ReplayAuditor(recording, n) for n in range(3)]
    again = simulate(
        claims,
        stage,
        rewriter=Replay(recording),
        auditors=same,
        targets=[COLLOQUIAL],
        plan=plan,
        seed=99,
    )
    assert again.tables["traces"].equals(made.tables["traces"])
    jury = [Juror("a", {(1, 1): True})]
    judged = simulate(
        claims, stage, rewriter=Replay(recording), auditors=jury, targets=[COLLOQUIAL], plan=plan
    )
    assert judged.tables["traces"]["output"].equals(made.tables["traces"]["output"])
    assert judged.tables["traces"]["passed"].to_list() == [
        s == 1 for s in judged.tables["traces"]["step"]
    ]
    with pytest.raises(ReplayMiss, match="'c0'"):
        simulate(
            claims,
            stage,
            rewriter=Replay(recording),
            auditors=jury,
            targets=[Target("stance", "oppose")],
            plan=plan,
        )


def test_a_majority_is_of_all_who_were_asked() -> None:
    def votes(*said: bool | None) -> list[Vote]:
        return [Vote(str(i), v) for i, v in enumerate(said)]

    assert majority(votes(True, True, False)) is True
    assert majority(votes(True, False, None)) is False
    assert majority(votes(True, None, None)) is False
    assert majority(votes(None, None)) is None
    assert majority([]) is None


def test_a_tie_of_auditors_is_no_pass(town: Any, scripted: Any) -> None:
    assert majority([Vote("a", True), Vote("b", False)]) is False
    says = scripted(lambda r: Rewrite(f"{r.text} {r.step}", "producer"))
    for vote, steps, rounds in (("paper", 3, 1), ("released", 1, 3)):
        jurors = [Juror("a", {(r, s): True for r in (1, 2, 3) for s in (1, 2, 3)}), Juror("b", {})]
        plan = PropagationPlan("intervened", steps=steps, rounds=rounds, vote=vote)  # type: ignore[arg-type]
        made = simulate(
            town.claims(1),
            town.ring(),
            rewriter=says,
            auditors=jurors,
            targets=[COLLOQUIAL],
            plan=plan,
        )
        assert meta(made.records)[0]["status"] == "failure"
        assert made.tables["traces"].height == 3


def test_wrong_calls_are_explained(town: Any) -> None:
    with pytest.raises(UsageError, match="needs a target"):
        simulate(town.claims(), town.stage(), rewriter=noise(), plan=PropagationPlan("intervened"))
    with pytest.raises(UsageError, match="'stroll' is not a valid kind"):
        PropagationPlan("stroll")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="colloquial"):
        Target.parse("style=coloquial-emotional")
    with pytest.raises(UsageError, match="The veracity level of a claim cannot be a target"):
        Target.parse("veracity=false")
    with pytest.raises(UsageError, match="DIMENSION=VALUE"):
        Target.parse("style")
    with pytest.raises(UnknownName, match="group of agents"):
        town.stage(group="Nobody")
    empty = town.claims(2)
    empty.records = empty.records.with_columns(pl.lit(None, pl.String).alias("text"))
    with pytest.raises(DataError, match="no claim with a text"):
        simulate(empty, town.stage(), rewriter=noise())


def test_progress_is_told_turn_by_turn(town: Any) -> None:
    steps: list[tuple[str, int, int | None]] = []
    with reporting(lambda *at: steps.append(at)):
        simulate(town.claims(3), town.stage(), rewriter=noise(), plan=PropagationPlan(steps=5))
    assert steps[0] == ("Turns", 0, 15)
    assert [done for _, done, _ in steps] == sorted(done for _, done, _ in steps)
    assert {done for _, done, _ in steps} == set(range(16)), (
        "every turn of every claim moves the bar"
    )
