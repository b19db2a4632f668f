"""Do steered claims arrive, and are models kept busy? Figures for docs/benchmarks, as Markdown.

    python bench/evolve_run.py auditor [ARCHIVE]                    trained auditors, folds grouped
    by base claim
    python bench/evolve_run.py attainment [ARCHIVE] [--claims 48]   direct, one auditor, three; by a
    judge of its own
    python bench/evolve_run.py attainment --model embedded --claims 20 --one-target --steps 5
    python bench/evolve_run.py throughput                           share of an endpoint's ideal
    rate

ARCHIVE is the released evolved-claims archive (default: in ../shared/data). In `attainment` the
base claims are dealt into three parts: auditors learn from one, the judge from another, and the
claims of the third are steered; nobody has seen what it judges.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from harness import begin, parser
from llm_throughput import standing_in
from parts.evolved import show
from sklearn.model_selection import GroupKFold

from claimlab.catalog.load import load
from claimlab.core.budget import Budget
from claimlab.core.calls.calls import Calls
from claimlab.core.dataset import Dataset
from claimlab.core.places import cache_folder
from claimlab.llm.asking import gather
from claimlab.llm.open import open_provider
from claimlab.llm.prices import Price
from claimlab.llm.profiles import Profile
from claimlab.llm.prompts import Prompts
from claimlab_simulate.evolve.auditor import Auditor
from claimlab_simulate.evolve.auditors.known.classifier import VIEWS, View, examples, fit_auditors
from claimlab_simulate.evolve.claims.model import Target, all_targets, steerable
from claimlab_simulate.evolve.contracts import ActorSettings
from claimlab_simulate.evolve.propagation import PropagationPlan
from claimlab_simulate.evolve.rewrite.known.model import ModelRewriter, question
from claimlab_simulate.evolve.rewriter import REWRITERS, Request, Rewrite, Rewriter
from claimlab_simulate.evolve.scene import Scene
from claimlab_simulate.evolve.setup import EvolveSetup
from claimlab_simulate.evolve.simulate import simulate, simulate_async

ANSWER = json.dumps(
    {"claim": "The bridge opened.", "influencing_attributes": ["job"], "influencing_reason": "So."}
)


def auditor(archive: str, folds: int, seed: int) -> Iterator[str]:
    """Accuracy of every view, and of the majority of three; no text's base claim was in its
    training folds.
    """
    data = load("evolved-claims", archive, variant="evolved")
    yield f"| dimension | n | {' | '.join(VIEWS)} | majority of three | most frequent value |"
    yield "|---|---|" + "---|" * (len(VIEWS) + 2)
    for dimension in steerable():
        part = examples(data, dimension)
        votes = np.empty((len(VIEWS), len(part.texts)), dtype=object)
        for train, test in GroupKFold(folds).split(part.texts, part.values, part.groups):
            for i, view in enumerate(VIEWS):
                votes[i, test] = View(view, seed).fit(part.take(train)).predict(part.texts[test])
        right = votes == part.values
        shown = " | ".join(f"{share:.3f}" for share in right.mean(axis=1))
        most = max(float((part.values == value).mean()) for value in steerable()[dimension].values)
        yield (
            f"| {dimension} | {len(part.texts)} | {shown} | {(right.sum(axis=0) >= 2).mean():.3f} |"
            f" {most:.3f} |"
        )


def dealt(archive: str, claims: int, seed: int) -> tuple[Dataset, Dataset, Dataset]:
    """Claims to steer, examples for the auditors, examples for the judge: no base claim is in two
    of them.
    """
    seeds = load("evolved-claims", archive, variant="seed240")
    data = load("evolved-claims", archive, variant="evolved")
    groups = np.array(sorted(set(seeds.records["group"].to_list())))
    np.random.default_rng(seed).shuffle(groups)
    steered, rest = set(groups[:claims]), set(groups[claims:])
    others = sorted(set(data.records["group"].to_list()) - steered)
    half = {g for i, g in enumerate(others) if i % 2}
    assert not steered & set(others)
    assert rest
    return (
        replace(seeds, records=seeds.records.filter(pl.col("group").is_in(steered)), files={}),
        replace(data, records=data.records.filter(pl.col("group").is_in(half)), files={}),
        replace(
            data, records=data.records.filter(pl.col("group").is_in(set(others) - half)), files={}
        ),
    )


def attainment(
    archive: str,
    claims: int,
    model: str | None,
    steps: int,
    seed: int,
    cache: Path,
    one_target: bool,
) -> Iterator[str]:
    """The share of claims that a judge who took no part finds at their target."""
    starts, for_auditors, for_judge = dealt(archive, claims, seed)
    if model:
        starts.tables.clear()  # no abstracts: a small model on a processor reads for minutes
    judge = fit_auditors(for_judge, list(steerable()), 1, seed + 100)[0]
    panel = fit_auditors(for_auditors, list(steerable()), 3, seed)
    stage = EvolveSetup(seed=seed).open_stage()
    name = "model" if model else "null"
    texts: dict[str | None, list[str]] = {"eng": starts.records["text"].to_list()}
    calls = Calls(cache=cache, concurrency=4)
    writer = REWRITERS.get(name)(ActorSettings(profile=model, calls=calls, texts=texts))
    lots = shares(starts, one_target)
    lives = sum(part.records.height * len(targets) for part, targets in lots)
    yield (
        f"{claims} claims, {lives} lives, {name} {model or ''}, at most {steps} steps, seed {seed}."
    )
    yield ""
    yield "| dimension | lives | no rewriting | direct | one auditor | three auditors |"
    yield "|---|---|---|---|---|---|"
    scores: list[dict[str, float]] = []
    for count in (None, 0, 1, 3):
        right: dict[str, list[bool]] = {}
        for part, targets in lots:
            for target, text in ends(part, targets, count, stage, writer, panel, steps, seed):
                hit = judge.reads(target.dimension, text) == target.value
                right.setdefault(target.dimension, []).append(hit)
                right.setdefault("all", []).append(hit)
        scores.append({d: float(np.mean(r)) for d, r in right.items()})
        sizes = {d: len(r) for d, r in right.items()}
        print(count, scores[-1], file=sys.stderr, flush=True)
    for dimension in (*steerable(), "all"):
        shown = " | ".join(f"{score[dimension]:.3f}" for score in scores)
        yield f"| {dimension} | {sizes[dimension]} | {shown} |"


def shares(starts: Dataset, one_target: bool) -> list[tuple[Dataset, list[Target]]]:
    """Every claim with every target, or each claim with one, in turns."""
    if not one_target:
        return [(starts, all_targets())]
    numbered = starts.records.with_row_index("number")
    found = []
    for i, target in enumerate(all_targets()):
        mine = numbered.filter(pl.col("number") % len(all_targets()) == i).drop("number")
        if mine.height:
            found.append((replace(starts, records=mine, files={}), [target]))
    return found


def ends(
    starts: Dataset,
    targets: list[Target],
    count: int | None,
    stage: Scene,
    writer: Rewriter,
    panel: Sequence[Auditor],
    steps: int,
    seed: int,
) -> Iterator[tuple[Target, str]]:
    """What became of the claims with so many auditors; null: nobody touches them."""
    if count is None:
        yield from (
            (target, text) for text in starts.records["text"].to_list() for target in targets
        )
        return
    made = simulate(
        starts,
        stage,
        rewriter=writer,
        auditors=panel[:count],
        targets=targets,
        plan=PropagationPlan("intervened", steps=steps),
        seed=seed,
        concurrency=4,
    )
    print(count, made.lineage[-1].counts, file=sys.stderr, flush=True)
    for meta, text in made.records.select("meta", "text").iter_rows():
        said = json.loads(meta)
        yield Target.of(said["dimension"], said["target_value"]), text


def throughput(
    claims: int, steps: int, latency: float, slots: int, concurrency: int
) -> Iterator[str]:
    """Turns per second with a model that always takes the same time, beside the most that its slots
    allow.

    The same questions are asked of the model without a society in the same run: what that door
    reaches on this machine is the most that a society can.
    """
    with standing_in(latency, slots, ANSWER) as url, tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(_pass(url, claims, steps, concurrency, Path(folder)))
    ideal = slots / latency
    size = f"{claims} claims x {steps} steps, {concurrency} claims at once"
    yield f"{size}; {latency * 1000:.0f} ms a call, {slots} slots: ideal {ideal:.0f} turns/s."
    yield ""
    yield "| | turns | seconds | turns/s | share of ideal | processor ms a turn |"
    yield "|---|---|---|---|---|---|"
    for name, turns, seconds, used in rows:
        rate = turns / seconds
        yield (
            f"| {name} | {turns} | {seconds:.1f} | {rate:.1f} | {rate / ideal:.3f} |"
            f" {1000 * used / turns:.2f} |"
        )


async def _pass(
    url: str, claims: int, steps: int, concurrency: int, folder: Path
) -> list[tuple[str, int, float, float]]:
    profile = Profile(name="bench", base_url=url, model="m", prices={"m": Price(input=1, output=1)})
    rows = [
        {"id": f"c{i}", "text": f"Bridge number {i} of Riverton opened in 1931.", "kind": "claim"}
        for i in range(claims)
    ]
    data = Dataset.build("bench", pl.DataFrame(rows))
    stage = EvolveSetup().open_stage()
    calls = Calls(cache=folder / "cache", budget=Budget(money=1e6), concurrency=concurrency)
    provider = open_provider(profile, calls=calls)
    prompts = Prompts()
    writer = ModelRewriter(provider, prompts)
    warm = replace(data, records=data.records.head(concurrency))
    await simulate_async(
        warm, stage, rewriter=writer, plan=PropagationPlan(steps=1), seed=1, concurrency=concurrency
    )
    found = []
    used, started = time.process_time(), time.perf_counter()
    made = await simulate_async(
        data,
        stage,
        rewriter=writer,
        plan=PropagationPlan(steps=steps),
        seed=2,
        concurrency=concurrency,
    )
    found.append(
        ("in a society", claims * steps, time.perf_counter() - started, time.process_time() - used)
    )
    assert made.lineage[-1].counts.get("turns: producer") == claims * steps, made.lineage[-1].counts
    profiles = [stage.profile(i) for i in range(stage.population.size)]
    asked = (
        question(Request(rows[i % claims]["text"], profiles[i % 90], seed=i), prompts["retell"])
        for i in range(claims * steps)
    )
    used, started = time.process_time(), time.perf_counter()
    async for _, answer in gather(provider, asked, concurrency=concurrency):
        assert answer.ok, answer
    found.append(
        (
            "the model alone",
            claims * steps,
            time.perf_counter() - started,
            time.process_time() - used,
        )
    )
    await writer.close()
    used, started = time.process_time(), time.perf_counter()
    await simulate_async(data, stage, rewriter=Parrot(), plan=PropagationPlan(steps=steps), seed=3)
    found.append(
        (
            "the society alone",
            claims * steps,
            time.perf_counter() - started,
            time.process_time() - used,
        )
    )
    return found


class Parrot:
    """Says what it heard, at once: what is left is the society's own work."""

    name = "parrot"

    async def rewrite(self, request: Request) -> Rewrite:
        await asyncio.sleep(0)
        return Rewrite(request.text, "producer")

    async def close(self) -> None: ...

    def describe(self) -> dict[str, str]:
        return {"rewriter": self.name}


def main() -> None:
    made = parser(__doc__)
    jobs = made.add_subparsers(dest="job", required=True)
    for name in ("auditor", "attainment"):
        job = jobs.add_parser(name)
        job.add_argument("archive", nargs="?")
        job.add_argument("--seed", type=int, default=20)
        if name == "auditor":
            job.add_argument("--folds", type=int, default=5)
        else:
            job.add_argument("--steps", type=int, default=30)
        if name == "attainment":
            job.add_argument("--claims", type=int, default=48)
            job.add_argument("--model", help="a model profile; without it noise")
            job.add_argument(
                "--one-target", action="store_true", help="one target for each claim, in turns"
            )
            job.add_argument("--cache", type=Path, default=cache_folder() / "bench-attainment")
    busy = jobs.add_parser("throughput")
    busy.add_argument("--claims", type=int, default=1200)
    busy.add_argument("--steps", type=int, default=5)
    busy.add_argument("--latency", type=float, default=0.2)
    busy.add_argument("--slots", type=int, default=64)
    busy.add_argument("--concurrency", type=int, default=96)
    show(
        begin(made),
        {"auditor": auditor, "attainment": attainment, "throughput": throughput},
    )


if __name__ == "__main__":
    main()
