"""The text model learns from many rare words: a solver that stops too early answers one class for
all.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.subject import Subject
from claimlab.audit.text_model import probabilities, text_score, vectors
from claimlab.core.dataset import Dataset


def test_many_weak_words_are_learnt() -> None:
    rng = np.random.default_rng(0)
    true = rng.random(600) < 0.6
    leans = np.array([f"w{i}" for i in range(400)])
    texts = [" ".join(rng.choice(leans[:250] if t else leans[150:], 14)) for t in true]
    rows = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(600)],
            "text": texts,
            "veracity": np.where(true, "true", "false"),
        }
    )
    subject = Subject.of(Dataset.build("d", rows))
    assert text_score(subject, subject.rows["text"]).score > 0.8
    assert probabilities(subject, vectors(subject.rows["text"])).std() > 0.05
