"""What may be done with datasets, by their licences: terms are those of `data/licences.toml` with
their sources, and what is not known stays unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from claimlab.catalog.load import DATASETS
from claimlab.core import packaged
from claimlab.core.types import JsonObject

UNKNOWN = "unknown"
QUESTIONS = ("merge", "publish", "train", "sell")


@dataclass(frozen=True)
class LicenceTerms:
    """A row for each dataset and one for all together; `notes` say why."""

    table: pl.DataFrame
    notes: tuple[str, ...]


def licence(names: Sequence[str]) -> LicenceTerms:
    """May these datasets be merged, published, trained on, sold?"""
    licences = packaged.toml("claimlab.catalog", "licences.toml")
    rows = []
    notes = []
    alike = set()
    for card in (DATASETS.get(name).card for name in names):
        terms: JsonObject = next((t for t in licences.values() if card.licence in t["names"]), {})
        answers = {question: terms.get(question, UNKNOWN) for question in QUESTIONS}
        source = terms.get("source", card.homepage)
        stated = card.licence or "not known"
        rows.append({"dataset": card.name, "licence": stated, **answers, "source": source})
        alike |= {terms["share_alike"]} if "share_alike" in terms else set()
        if not terms:
            notes.append(f"{card.title}: ask its authors ({card.homepage}).")
    together = {question: _together([str(row[question]) for row in rows]) for question in QUESTIONS}
    if len(alike) > 1:
        together["publish"] = together["sell"] = "no"
        notes.append(f"One work cannot be under {' and '.join(sorted(alike))} at once.")
    rows.append({"dataset": "all together", "licence": "", **together, "source": None})
    return LicenceTerms(pl.DataFrame(rows), tuple(notes))


def _together(answers: Sequence[str]) -> str:
    """No if any says no; unknown if any is unknown; else every condition."""
    conditions = dict.fromkeys(c for a in answers if a != "yes" for c in a.split(", "))
    for word in ("no", UNKNOWN):
        if word in conditions:
            return word
    return ", ".join(conditions) or "yes"
