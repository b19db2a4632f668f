"""What this package adds to the steps of a study."""

from __future__ import annotations

from claimlab.study.verb import Verb

FEW = 2  # records: each claim is walked to every target

ENTRIES = [
    Verb("generate", "claimlab_simulate.generate.front", "generate", "chain", "clean", seeded=True),
    Verb(
        *("filter", "claimlab_simulate.generate.filter.front", "quality_filter", "aggregate"),
        after="generate",
    ),
    Verb(
        *("evolve", "claimlab_simulate.evolve.front", "evolve", "target"),
        after="review",
        seeded=True,
        tries=FEW,
        invents=True,
    ),
    Verb("stage", "claimlab_simulate.stage", "stage", "level", "evolve", seeded=True),
    Verb(
        *("drift", "claimlab_simulate.evolve.drift.front", "drift", "data"),
        after="audit",
        kind="report",
        done="drift.json",
    ),
]
