"""Labels that look wrong: the rows of cleanlab, planted errors on top, silence where the model
knows nothing.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from claimlab.audit.checks.label_errors import suspects
from claimlab.audit.run import audit
from claimlab.core.dataset import Dataset


@pytest.mark.needs("cleanlab")
@pytest.mark.parametrize("seed", range(5))
def test_the_same_rows_as_cleanlab(seed: int) -> None:
    from cleanlab.filter import find_label_issues

    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 400)
    raw = rng.dirichlet(np.ones(3), 400) + 1.2 * np.eye(3)[y] * rng.random((400, 1))
    chances = raw / raw.sum(axis=1, keepdims=True)
    flagged = find_label_issues(
        y,
        chances,
        filter_by="confident_learning",
        return_indices_ranked_by=None,
        n_jobs=1,
        min_examples_per_class=0,
    )
    ours = np.zeros(400, bool)
    ours[suspects(y, chances)[0]] = True
    assert (ours == flagged).mean() > 0.99  # it spares a handful of rows by rules of its own


def learnable(n: int, seed: int = 1) -> tuple[pl.DataFrame, list[str]]:
    """Texts that give their label away, and labels of which 4% are flipped; the ids of those."""
    rng = np.random.default_rng(seed)
    sides = {
        "true": ["river", "bridge", "school", "garden"],
        "false": ["comet", "dragon", "cure", "secret"],
    }
    labels = rng.permutation(["true", "false"] * (n // 2)).tolist()
    texts = [" ".join(rng.choice(sides[y], 8)) + f" number {i}" for i, y in enumerate(labels)]
    wrong = set(rng.choice(n, n // 25, replace=False).tolist())
    other = {"true": "false", "false": "true"}
    given = [other[y] if i in wrong else y for i, y in enumerate(labels)]
    frame = pl.DataFrame({"id": [f"r{i}" for i in range(n)], "text": texts, "veracity": given})
    return frame, [f"r{i}" for i in sorted(wrong)]


def test_planted_errors_are_named_with_a_suggestion() -> None:
    frame, wrong = learnable(600)
    (finding,) = audit(Dataset.build("made", frame), checks=["label-errors"], debug=True).findings
    assert len(set(wrong) & set(finding.records)) >= len(wrong) - 1
    assert len(finding.records) <= len(wrong) + 3
    assert all(row["suggested"] != row["label"] for row in finding.details["review"])


def test_labels_at_random_are_not_measured() -> None:
    frame, _ = learnable(600)
    labels = np.random.default_rng(3).permutation(frame["veracity"].to_numpy())
    (finding,) = audit(
        Dataset.build("made", frame.with_columns(pl.Series("veracity", labels))),
        checks=["label-errors"],
    ).findings
    assert finding.verdict == "not-measured"
    assert "cannot tell wrong labels" in finding.why
