"""A word that few texts of one class hold is found, its class permuted it is not, and masking it
shows what is left.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.run import audit
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding

N = 1_000
WORDS = [f"word{i}" for i in range(300)]


def findings(share: float, *, permuted: bool = False) -> dict[str | None, Finding]:
    """Texts of random words; `share` of the false ones hold "zorblax"."""
    rng = np.random.default_rng(2)
    true = rng.random(N) < 0.5
    planted = ~true & (rng.random(N) < share)
    texts = [" ".join([*rng.choice(WORDS, 12), *(["zorblax"] if here else [])]) for here in planted]
    labels = rng.permutation(true) if permuted else true
    rows = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(N)],
            "text": texts,
            "veracity": np.where(labels, "true", "false"),
        }
    )
    found = audit(Dataset.build("d", rows), checks=["giveaways"], debug=True).findings
    return {f.feature: f for finding in found for f in finding.every}


def test_a_word_in_eight_per_cent_of_one_class_is_found() -> None:
    found = findings(0.08)
    rare = found["one-sided words"]
    assert rare.verdict == "warn"
    assert rare.details["words"][0]["word"] == "zorblax"
    assert rare.details["right"] == rare.details["held"] > 20


def test_permuted_labels_have_no_giveaway() -> None:
    assert {f.verdict for f in findings(0.08, permuted=True).values()} <= {"pass", "inconclusive"}


def test_masking_the_words_of_a_strong_giveaway_leaves_chance() -> None:
    found = findings(0.9)[None]
    left = found.details["text_model"]
    assert found.verdict == "fail"
    assert left["whole"] > 0.9
    assert left["masked"] < 0.6
    assert f"{100 * left['masked']:.1f} once these words are masked" in found.why
