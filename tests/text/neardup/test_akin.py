"""Akin's figures, against a plain reading of what Akin 0.1.0 does: same hash, same seeds, same
bands.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from claimlab.core.errors import UsageError
from claimlab.text.neardup import akin_clusters, find_pairs
from claimlab.text.neardup.akin import murmur3_upper

FULL = (1 << 64) - 1


def murmur3(data: bytes, seed: int) -> int:
    """MurmurHash3 x64 128 on Python's whole numbers, from its public description."""

    def turn(x: int, r: int) -> int:
        return ((x << r) | (x >> (64 - r))) & FULL

    def finish(k: int) -> int:
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            k = (k ^ (k >> 33)) * factor & FULL
        return k ^ (k >> 33)

    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = seed
    whole = len(data) // 16 * 16
    for at in range(0, whole, 16):
        k1, k2 = (
            int.from_bytes(data[at : at + 8], "little"),
            int.from_bytes(data[at + 8 : at + 16], "little"),
        )
        h1 ^= turn(k1 * c1 & FULL, 31) * c2 & FULL
        h1 = ((turn(h1, 27) + h2) * 5 + 0x52DCE729) & FULL
        h2 ^= turn(k2 * c2 & FULL, 33) * c1 & FULL
        h2 = ((turn(h2, 31) + h1) * 5 + 0x38495AB5) & FULL
    k1, k2 = (
        int.from_bytes(data[whole : whole + 8], "little"),
        int.from_bytes(data[whole + 8 :], "little"),
    )
    h2 ^= turn(k2 * c2 & FULL, 33) * c1 & FULL
    h1 ^= turn(k1 * c1 & FULL, 31) * c2 & FULL
    h1, h2 = h1 ^ len(data), h2 ^ len(data)
    h1 = (h1 + h2) & FULL
    h2 = (h2 + h1) & FULL
    h1, h2 = finish(h1), finish(h2)
    h1 = (h1 + h2) & FULL
    return ((h2 + h1) & FULL) << 64 | h1


def akin_pairs(texts: list[str], threshold: float, seed: int) -> dict[tuple[int, int], float]:
    seeds = np.random.RandomState(seed).randint(1, 100000000, size=100).tolist()
    signatures = []
    for text in texts:
        shingles = {text[i : i + 5].encode() for i in range(len(text) - 4)}
        signatures.append(
            [min((murmur3(s, seed) for s in shingles), default=None) for seed in seeds]
        )
    found = {}
    for i, one in enumerate(signatures):
        for j in range(i):
            bands = sum(
                one[k : k + 2] == signatures[j][k : k + 2]
                for k in range(0, 100, 2)
                if one[0] is not None
            )
            if bands / 50 >= threshold:
                found[j, i] = bands / 50
    return found


def test_the_reference_hash_itself() -> None:
    """Values that any MurmurHash3 gives (x64, 128 bits), taken from its published test strings."""
    assert murmur3(b"", 0) == 0
    assert f"{murmur3(b'hello', 0):032x}" == "5b1e906a48ae1d19cbd8a7b341bd9b02"


def test_the_hash_on_arrays() -> None:
    strings = [bytes(range(200, 200 + n)) for n in range(21)] + [
        "añb漢😀".encode(),
        "😀😀😀😀😀".encode(),
    ]
    words = np.frombuffer(b"".join(s.ljust(32, b"\0") for s in strings), "<u8").reshape(-1, 4)
    lengths = np.array([len(s) for s in strings])
    for seed in (1, 12345, 99_999_999):
        assert murmur3_upper(words, lengths, seed).tolist() == [
            murmur3(s, seed) >> 64 for s in strings
        ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 8])
def test_same_pairs_as_akin(truth: SimpleNamespace, seed: int) -> None:
    texts = [t[:60] for t in truth.planted(40, seed=seed, families=25)]
    texts = [
        *dict.fromkeys(texts),
        "Ação! 👍🏽👍🏽 漢字かな交じり文",
        "Ação! 👍🏽👍🏽 漢字かな交じり",
    ]
    expected = akin_pairs(texts, 0.5, seed)
    clusters = akin_clusters(texts, threshold=0.5, seed=seed)
    assert len(expected) > 5
    assert {(a, b): round(s, 6) for a, b, s in clusters.pairs} == {
        p: round(s, 6) for p, s in expected.items()
    }


def test_raw_texts_copies_and_short_ones() -> None:
    line = "the council closes the old bridge until the end of next summer, officials say"
    clusters = akin_clusters(
        [line, line.upper(), line, "abcd", "abcd", "", None, line, "abcde", "abcde"]
    )
    assert [(a, b) for a, b, _ in clusters.pairs] == [(0, 2), (0, 7), (8, 9)]
    assert clusters.labels.tolist() == [0, -1, 0, -1, -1, -1, -1, 0, 1, 1]


def test_its_threshold_is_near_the_square_of_jaccard() -> None:
    plan = akin_clusters(["some text", "other text"]).pairs.plan
    assert (plan.bands, plan.rows, plan.needed) == (50, 2, 35)
    assert plan.recall_at(0.7) < 0.01
    assert 0.4 < plan.recall_at(0.837) < 0.6
    assert plan.recall_at(0.95) > 0.99


def test_it_finds_fewer_than_the_true_similarity(truth: SimpleNamespace) -> None:
    texts = truth.planted(400, seed=2, families=200)
    ours, akin = find_pairs(texts, recall=0.9999), akin_clusters(texts)
    assert set(np.flatnonzero(akin.labels >= 0)) < set(ours.rows())


@pytest.mark.parametrize(
    "options", [{"seed": 0}, {"seed": -1}, {"threshold": 0}, {"threshold": 1.1}]
)
def test_wrong_options(options: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        akin_clusters(["a text"], **options)  # type: ignore[arg-type]
