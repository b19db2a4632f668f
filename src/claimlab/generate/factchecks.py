"""Made-up fact-checks of made-up claims, as ClaimReview, so that evidence can be searched for offline.

Some repeat a claim whole, so that a first search finds them; some say only its core, so that the claim has to be
extracted first; most claims have none. Which is which is known, so tests can hold a search to it.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import Any

import numpy as np

from claimlab.core import packaged
from claimlab.core.dataset import Dataset

WHOLE, CORE = "whole", "core"


def fact_checks(dataset: Dataset, *, seed: int = 20, each: int = 40) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """ClaimReviews for `each` claims repeated whole and `each` of which only the main clause is said; and which record
    has which."""
    rng = np.random.default_rng(seed)
    rows = [r for r in dataset.records.iter_rows(named=True) if r["veracity"] and len((r["text"] or "").split()) > 24]
    drawn = [rows[int(i)] for i in rng.permutation(len(rows))]
    brief = [row for row in drawn if _core(row) is not None][:each]
    whole = [row for row in drawn if row not in brief][:each]
    reviews, truth = [], {}
    for number, (row, kind) in enumerate([*((r, WHOLE) for r in whole), *((r, CORE) for r in brief)]):
        claim = _sentence(row) if kind == WHOLE else str(_core(row))
        reviews.append(_review(row, claim, number, rng))
        truth[row["id"]] = kind
    return reviews, truth


def _sentence(row: dict[str, Any]) -> str:
    return str(row["text"].split(". ")[0].rstrip("."))


def _core(row: dict[str, Any]) -> str | None:
    """The main clause, where another says why it happened; null where none does."""
    sentence = _sentence(row)
    ends = [at for word in _material()[row["language"]]["reasons"] if (at := sentence.find(f" {word} ")) > 0]
    return sentence[: min(ends)] if ends else None


def _review(row: dict[str, Any], claim: str, number: int, rng: np.random.Generator) -> dict[str, Any]:
    words = _material()[row["language"]]
    return {
        "@type": "ClaimReview",
        "claimReviewed": claim,
        "name": words["title"].format(claim=" ".join(claim.split()[:6]) + " …"),
        "url": f"https://checks.example.org/{row['language']}/{number + 1}",
        "datePublished": (row["date"] + timedelta(days=int(rng.integers(-20, 60)))).date().isoformat(),
        "inLanguage": row["language"],
        "author": {"@type": "Organization", "name": str(rng.choice(_material()["publishers"]))},
        "reviewRating": {"@type": "Rating", "alternateName": str(rng.choice(words[row["veracity"]]))},
    }


@cache
def _material() -> dict[str, Any]:
    return packaged.toml("claimlab.generate", "factchecks.toml")
