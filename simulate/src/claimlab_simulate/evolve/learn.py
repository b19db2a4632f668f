"""Teach the embedded model to rewrite as the agents of some traces did: the Python twin of
`claimlab evolve learn`.

    cl.evolve_learn("traces", output="adapter")
    cl.evolve("claims", rewriter="learned", adapter="adapter", kind="intervened", target=["all"])
"""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import asdict, dataclass
from typing import Annotated

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.options import OUTPUT, Argument, Force, Limit, Place, Seed
from claimlab.core.run import Run, Source
from claimlab.core.shown import Shown
from claimlab.core.words import several
from claimlab.llm.adapter import KIND, RECIPE, Base, Lesson, device, trained, write
from claimlab_simulate.evolve.hop import TraceRecording
from claimlab_simulate.evolve.rewrite.known.learned import prompt

HELD = 10  # of so many seeds one is held out
SECONDS = {"cuda": 0.015, "cpu": 3}  # to train on a hop once: an H200, one core of a processor


@dataclass(frozen=True, repr=False)
class Adapter(Shown):
    """How many hops an adapter learned from and how many were held out; the loss per token on
    these, before and after.
    """

    hops: int
    held_out: int
    loss_before: float
    loss_after: float

    @property
    def table(self) -> pl.DataFrame:
        return pl.DataFrame([asdict(self)])

    def headline(self) -> str:
        return (
            f"learned from {self.hops:,} hops: loss {self.loss_before:.3f} -> {self.loss_after:.3f}"
        )


@repeatable(recorded="claimlab.evolve.learn.evolve_learn")
def evolve_learn(
    data: Annotated[Source, Argument("A claimlab dataset folder with a table `traces`.")],
    *,
    output: Annotated[Place, OUTPUT],
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
) -> Adapter:
    """Teach the embedded model to rewrite as in traces: minutes on a GPU, hours on a CPU.

    It learns from hops with a target that the auditors passed. A tenth of the seeds is held out,
    and the epoch with the lowest loss on them is kept. The result is an adapter for `evolve run`.
    """
    with Run("evolve learn", data, output, kind=KIND, limit=limit, force=force, seed=seed) as run:
        learning, held_out = divided(run.dataset)
        base = Base.open()
        pairs, *losses = trained(base, learning, held_out, seed)
        learned = Adapter(len(learning), len(held_out), *losses)
        about = {
            **asdict(learned),
            "traces": TraceRecording(run.dataset).digest,
            "seed": seed,
            "note": "What a model writes with this adapter is synthetic text.",
        }
        run.fill(lambda folder: write(folder, pairs, base.heads, about))
    return learned


def divided(dataset: Dataset) -> tuple[list[Lesson], list[Lesson]]:
    """The hops to learn from, and those of a tenth of the seeds, by the hash of their texts."""
    passed = [
        Lesson(" ".join(text.lower().split()), prompt(hop.input, target), hop.output)
        for text, target, life in TraceRecording(dataset).lives()
        for hop in life.hops
        if target is not None and hop.passed and hop.output
    ]
    seeds = sorted(
        {hop.group for hop in passed}, key=lambda text: hashlib.sha256(text.encode()).digest()
    )
    if len(seeds) < 2:
        raise DataError(
            f"'{dataset.name}' holds too few hops to learn from: they must have a target, be passed"
            " by the auditors, and come from two claims or more.",
            "Pass traces of an intervened run, or the released ones.",
        )
    apart = set(seeds[: math.ceil(len(seeds) / HELD)])
    learning = [hop for hop in passed if hop.group not in apart]
    return learning, [hop for hop in passed if hop.group in apart]


def forecast(data: Source, limit: int | None = None) -> str:
    """How many hops there are to learn from, and about how long that takes on this machine."""
    learning, held_out = divided(Dataset.of(data, limit))
    where, cores = device(), os.cpu_count() or 1
    speed, machine = (1, "a GPU") if where == "cuda" else (cores, several(cores, "core"))
    minutes = math.ceil(SECONDS[where] * RECIPE["epochs"] * len(learning) / speed / 60)
    about = several(minutes, "minute") if minutes < 90 else several(round(minutes / 60), "hour")
    return (
        f"Learning from {several(len(learning), 'hop')}, with {len(held_out):,} held out:"
        f" about {about} on {machine}."
    )
