"""Real texts: our pairs against an exhaustive join, and the share that the promise of recall allows
to be missed.
"""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from claimlab.text.neardup import akin_clusters, find_pairs, normalise


def messages(folder: Path) -> list[str]:
    with zipfile.ZipFile(folder / "covid19-br.zip") as archive:
        name = next(n for n in archive.namelist() if n.endswith(".csv"))
        text = archive.read(name).decode("utf-8")
    return [row["text"] for row in csv.DictReader(io.StringIO(text, newline=""))]


def exhaustive(texts: list[str], threshold: float) -> dict[tuple[int, int], float]:
    """Every pair of texts with different normal forms, through the product of the text-by-gram
    matrix with itself.
    """
    normal = [normalise(t) for t in texts]
    number: dict[str, int] = {}
    sets = [{t[i : i + 5] for i in range(max(len(t) - 4, 1))} for t in normal]
    columns = [number.setdefault(g, len(number)) for s in sets for g in s]
    owner = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    matrix = sparse.csr_array(
        (np.ones(len(columns), np.float32), (owner, columns)), shape=(len(sets), len(number))
    )
    common = sparse.triu(matrix @ matrix.T, k=1).tocoo()
    sizes = np.array([len(s) for s in sets])
    score = common.data / (sizes[common.row] + sizes[common.col] - common.data)
    seen: dict[str, int] = {}
    first = np.array([seen.setdefault(t, i) for i, t in enumerate(normal)])
    keep = (
        (score >= threshold)
        & (first == np.arange(len(first)))[common.row]
        & (first == np.arange(len(first)))[common.col]
    )
    rows = zip(
        common.row[keep].tolist(), common.col[keep].tolist(), score[keep].tolist(), strict=True
    )
    return {(a, b): s for a, b, s in rows}


@pytest.mark.realdata
def test_against_the_exhaustive_join(real_data: Path) -> None:
    texts = messages(real_data)
    assert len(texts) == 2898
    expected = exhaustive(texts, 0.7)
    near = {
        (a, b): s for a, b, s in find_pairs(texts, recall=0.9999) if s < 1 or (a, b) in expected
    }
    assert len(expected) > 400
    assert set(near) == set(expected)
    assert max(abs(near[p] - expected[p]) for p in expected) < 1e-6
    usual = {(a, b) for a, b, _ in find_pairs(texts)}
    assert len(usual & set(expected)) / len(expected) >= 0.99


@pytest.mark.realdata
def test_akin_finds_a_part_of_them(real_data: Path) -> None:
    """Akin's 0.7 is stricter than a true 0.7, and cases count for it: nothing it finds may be
    missing here.
    """
    texts = [t for t in messages(real_data) if len(t) > 200][:600]
    akin = {(a, b) for a, b, s in akin_clusters(texts).pairs if s < 1}
    ours = set(find_pairs(texts, threshold=0.6, recall=0.9999).rows().tolist())
    assert akin
    assert {row for pair in akin for row in pair} <= ours
