"""The synthetic dataset of the demo, with planted defects whose truth is known, its clean twin, and
fact-checks of its claims.

The labels were drawn at random and the claims are invented, so nothing in the clean twin predicts
the label: whatever a check reports there is a false alarm. `bench/demo_data.py` makes the files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from claimlab.core.dataset import Dataset
from claimlab.core.types import JsonObject

FOLDER = Path(str(resources.files("claimlab.core"))) / "data" / "demo"


@dataclass(frozen=True)
class Truth:
    """What was planted: of each defect what it is, and the ids of the records that carry it."""

    defects: dict[str, str]
    records: dict[str, list[str]]


@dataclass(frozen=True)
class FactChecks:
    """ClaimReviews of some claims. `whole` has the records whose claim is repeated, `core` those of
    whose claim only the main clause is, so that it must be extracted before it is found."""

    reviews: list[JsonObject]
    whole: list[str]
    core: list[str]


def planted() -> tuple[Dataset, Truth]:
    """The dataset with every defect, and the truth about them."""
    return _opened("planted"), Truth(**_read("truth.json"))


def clean_twin() -> Dataset:
    """The same claims with random labels, without any defect."""
    return _opened("clean-twin")


def fact_checks() -> FactChecks:
    """Synthetic fact-checks of the first 240 claims; most of these have none."""
    return FactChecks(**_read("fact-checks.json"))


def _opened(name: str) -> Dataset:
    """As if it were made here: no advice may send anybody into the folder of the package."""
    return replace(Dataset.open(FOLDER / name), path=None)


def _read(name: str) -> JsonObject:
    content: JsonObject = json.loads((FOLDER / name).read_text("utf-8"))
    return content
