"""The matching sets at hand: an archive of fact-checks, queries, and the answers among both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.search.fusion import Candidates
from claimlab.tasks.matching import qrels_of


@dataclass(frozen=True)
class MatchingSet:
    """`family` says whose queries it has: sets of one family share some."""

    name: str
    family: str
    archive: Dataset
    queries: Dataset

    @property
    def answers(self) -> dict[str, set[str]]:
        return qrels_of(self.queries) or {}


SETS = (
    ("vo-lee-politifact", "politifact tweets", "queries", "archive"),
    ("known-lie", "debates", "sentences", "politifact"),
    ("checkthat-2020-task2", "snopes tweets", "queries", "archive"),
)


def matching_sets(folder: Path) -> list[MatchingSet]:
    return [
        MatchingSet(
            name,
            family,
            cl.load(name, folder / f"{name}.zip", variant=archive),
            cl.load(name, folder / f"{name}.zip", variant=queries),
        )
        for name, family, queries, archive in SETS
    ]


Asked = list[tuple[Candidates, set[int]]]  # what both retrievers say, and the answers


def learned(sets: list[Asked]) -> tuple[np.ndarray, float]:
    """Each set weighs the same, whatever its size."""
    parts, labels, weights = [], [], []
    for asked in sets:
        rows = np.concatenate([candidates.features() for candidates, _ in asked])
        right = np.concatenate([[one in truth for one in c.documents] for c, truth in asked])
        parts.append(rows)
        labels.append(right)
        weights.append(np.full(len(right), 1 / len(asked)))
    # eight weights, tens of thousands of candidates: hardly regularised
    model = LogisticRegression(C=1e4, max_iter=3_000)
    model.fit(np.concatenate(parts), np.concatenate(labels), np.concatenate(weights))
    return model.coef_[0], float(model.intercept_[0])
