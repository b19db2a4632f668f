"""TF-IDF on many rows: counted in parts to the same matrix, and learnt from a sample that keeps the
classes.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.detect.detector import Part
from claimlab.detect.detectors import tfidf
from claimlab.detect.detectors.tfidf import sampled
from claimlab.detect.run import detect
from claimlab.text import ngrams
from claimlab.text.ngrams import Characters, Terms, TfIdf, Words


def texts(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [f"word{i}" for i in range(30)]
    return [" ".join(rng.choice(words, 6)) for _ in range(n)]


@pytest.mark.parametrize("terms", [Words(), Characters()])
def test_parts_make_the_same_matrix(terms: Terms, monkeypatch: pytest.MonkeyPatch) -> None:
    train, test = pl.Series(texts(50)), pl.Series([*texts(20, seed=1), "", None], dtype=pl.String)
    whole = TfIdf(terms, most=40)
    expected = [whole.fit_transform(train), whole.transform(test)]
    monkeypatch.setattr(ngrams, "TEXTS_PER_PART", 7)
    parts = TfIdf(terms, most=40)
    matrices = [parts.fit_transform(train), parts.transform(test)]
    assert parts.vocabulary.equals(whole.vocabulary)
    for ours, theirs in zip(matrices, expected, strict=True):
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def test_a_sample_keeps_the_shares_and_the_rare_classes() -> None:
    labels = ["true"] * 6_000 + ["false"] * 3_000 + ["mixed"] * 40
    part = Part(pl.DataFrame({"id": np.arange(len(labels))}), labels)
    sample = sampled(part, 3_000, seed=1)
    counts = Counter(sample.labels)
    assert abs(counts["true"] / counts["false"] - 2) < 0.02
    assert counts["mixed"] == 40
    assert [labels[row] for row in sample.records["id"].to_list()] == sample.labels
    assert sample.records["id"].is_sorted()
    assert sampled(part, 3_000, seed=1).labels == sample.labels
    assert not sampled(part, 3_000, seed=2).records.equals(sample.records)
    assert sampled(part, len(labels), seed=1) is part


def test_a_run_that_learnt_from_a_sample_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    false = rng.random(400) < 0.5
    rows = {
        "id": [f"r{i}" for i in range(400)],
        "text": [
            f"{t} {'hoax' if f else 'report'}" for t, f in zip(texts(400), false, strict=True)
        ],
        "veracity": np.where(false, "false", "true"),
        "split": ["train"] * 300 + ["test"] * 100,
    }
    data = Dataset.build("posts", pl.DataFrame(rows))
    assert not any("sample" in note for note in detect(data, "tfidf").notes)
    monkeypatch.setattr(tfidf, "MOST_ROWS", 120)
    monkeypatch.setattr(tfidf, "FEWEST_ROWS_OF_CLASS", 10)
    run = detect(data, "tfidf")
    assert "The model learnt from a random sample of about 120 of 300 training rows." in run.notes
    assert run.report["scores"]["macro_f1"] > 0.95
