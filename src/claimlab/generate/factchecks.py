"""Synthetic fact-checks of synthetic claims, as ClaimReview, so that evidence can be searched
offline.

Some repeat the whole claim, so that the first search finds them; some repeat only its main clause,
so that the claim must be extracted first; most claims have no fact-check. The assignment is
returned, so that tests can check the search.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache

import numpy as np

from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.core.types import JsonObject

WHOLE, CORE = "whole", "core"


def fact_checks(
    dataset: Dataset, *, seed: int = 20, each: int = 40
) -> tuple[list[JsonObject], dict[str, str]]:
    """ClaimReviews of `each` whole claims and `each` main clauses, and the kind of fact-check by
    record.
    """
    rng = np.random.default_rng(seed)
    rows = [
        r
        for r in dataset.records.iter_rows(named=True)
        if r["veracity"] and len((r["text"] or "").split()) > 24
    ]
    shuffled = [rows[int(i)] for i in rng.permutation(len(rows))]
    brief = [row for row in shuffled if _core(row) is not None][:each]
    whole = [row for row in shuffled if row not in brief][:each]
    reviews, truth = [], {}
    for number, (row, kind) in enumerate(
        [*((r, WHOLE) for r in whole), *((r, CORE) for r in brief)]
    ):
        claim = _sentence(row) if kind == WHOLE else str(_core(row))
        reviews.append(_review(row, claim, number, rng))
        truth[row["id"]] = kind
    return reviews, truth


def _sentence(row: JsonObject) -> str:
    return str(row["text"].split(". ")[0].rstrip("."))


def _core(row: JsonObject) -> str | None:
    """The main clause of a claim that also has a clause of reason; null if it has none."""
    sentence = _sentence(row)
    ends = [
        at
        for word in _material()[row["language"]]["reasons"]
        if (at := sentence.find(f" {word} ")) > 0
    ]
    return sentence[: min(ends)] if ends else None


def _review(row: JsonObject, claim: str, number: int, rng: np.random.Generator) -> JsonObject:
    words = _material()[row["language"]]
    return {
        "@type": "ClaimReview",
        "claimReviewed": claim,
        "name": words["title"].format(claim=" ".join(claim.split()[:6]) + " …"),
        "url": f"https://checks.example.org/{row['language']}/{number + 1}",
        "datePublished": (
            (row["date"] + timedelta(days=int(rng.integers(-20, 60)))).date().isoformat()
        ),
        "inLanguage": row["language"],
        "author": {"@type": "Organization", "name": str(rng.choice(_material()["publishers"]))},
        "reviewRating": {
            "@type": "Rating",
            "alternateName": str(rng.choice(words[row["veracity"]])),
        },
    }


@cache
def _material() -> JsonObject:
    return packaged.toml("claimlab.generate", "factchecks.toml")
