"""The compiled kernel and its NumPy stand-in give the same numbers, and the compiled one refuses
what would hurt it.
"""

from __future__ import annotations

import sys
import unicodedata
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimlab.core.errors import ClaimlabError
from claimlab.text.neardup import choose, find_across, find_pairs
from claimlab.text.neardup.bands import BandPlan
from claimlab.text.neardup.fallback import NumpyCorpus, NumpyKernel
from claimlab.text.neardup.kernel import Grams
from claimlab.text.neardup.normal import folding_table

compiled = pytest.importorskip(
    "claimlab.text.neardup.compiled", reason="the compiled kernel was not built"
)
raw = pytest.importorskip(
    "claimlab.text.neardup._kernel", reason="the compiled kernel was not built"
)

# what normalising finds hard: marks that combine, jamo, ligatures, odd cases, spaces of all kinds,
# emoji, far planes
HARD = (
    "\u0301\u0327\u0345\u1100\u1161\u11a8\uac00ﬁﬀ…½²ßİıſΣςΐ\u00a0\u2003\u200d\ufe0f\u3000ｱﾞ\u0e33\u093c\u09be"
    "👍🏽\U00020000\U000e0100假嘘カヷ々"
)
ANY = st.characters(exclude_categories=[])
TEXT = st.text(st.one_of(st.sampled_from(HARD + "abcdeABC  \n_1!"), ANY), max_size=40)
GRAMS = st.sampled_from([Grams(5), Grams(1), Grams(2), Grams(1, "word"), Grams(3, "word")])


@settings(max_examples=150, deadline=None)
@given(
    texts=st.lists(TEXT, min_size=1, max_size=12),
    grams=GRAMS,
    bins=st.sampled_from([(1, 1), (4, 3), (17, 4)]),
)
def test_same_sketches_and_same_sizes(
    texts: list[str], grams: Grams, bins: tuple[int, int]
) -> None:
    plan = BandPlan(0.7, 0.99, *bins)
    fast, slow = compiled.CompiledCorpus(texts, grams, 1), NumpyCorpus(texts, grams)
    one, other = fast.sketch(plan, 3, 4), slow.sketch(plan, 3, 4)
    for name in ("counts", "hashes", "bits", "keys"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    rows = np.arange(len(texts), dtype=np.uint64)
    codes = (np.repeat(rows, len(rows)) << np.uint64(32)) | np.tile(rows, len(rows))
    for a, b in zip(fast.verify(codes), slow.verify(codes), strict=True):
        assert np.array_equal(a, b)


def test_every_character_folds_as_in_python() -> None:
    """Each character between two letters, and each composed one taken apart, as Hangul and vowel
    signs often come.
    """
    every = [chr(c) for c in range(0x20200)]
    apart = [text for c in every if (text := unicodedata.normalize("NFD", c)) != c]
    texts = [f"a{c}b" for c in every] + [f"a{text}b" for text in apart]
    assert len(apart) > 12_000
    fast, slow = compiled.CompiledCorpus(texts, Grams(2), 2), NumpyCorpus(texts, Grams(2))
    plan = BandPlan(0.7, 0.99, 1, 1)
    wrong = np.flatnonzero(
        (fast.sketch(plan, 0, 1).hashes != slow.sketch(plan, 0, 1).hashes).any(axis=1)
    )
    assert [ascii(texts[row]) for row in wrong[:5].tolist()] == []


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(TEXT, min_size=2, max_size=8))
def test_sizes_are_those_of_the_sets(truth_of: Any, texts: list[str]) -> None:
    sets = [truth_of(text) for text in texts]
    codes = np.array(
        [(i << 32) | j for i in range(len(texts)) for j in range(len(texts))], dtype=np.uint64
    )
    both, either = compiled.CompiledCorpus(texts, Grams(), 1).verify(codes)
    assert both.tolist() == [len(a & b) for a in sets for b in sets]
    assert either.tolist() == [len(a | b) for a in sets for b in sets]


@pytest.fixture(scope="module")
def truth_of(truth: SimpleNamespace) -> Any:
    return truth.gram_set


@pytest.mark.parametrize("unit", ["char", "word"])
def test_same_pairs_from_end_to_end(
    truth: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, unit: Any
) -> None:
    texts = [
        *truth.planted(3000, seed=8, families=600),
        *["a copied line"] * 5,
        "",
        None,
        "é́ marks",
        "É́ marks!",
    ]
    texts += [f"one of very many lines that say nearly the same thing {i}" for i in range(400)]
    found = []
    for name in ("compiled", "numpy"):
        monkeypatch.setenv(choose.ENVIRONMENT, name)
        assert choose.load().name == name
        ngram = 5 if unit == "char" else 2
        found.append(
            (
                find_pairs(texts, ngram=ngram, unit=unit),
                find_across(texts[:1500], texts[1500:], ngram=ngram, unit=unit),
            )
        )
    for one, other in zip(*found, strict=True):
        assert len(one) > 100
        assert one.skipped == other.skipped
        for name in ("left", "right", "jaccard"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    assert found[0][0].skipped.buckets > 0


@pytest.mark.parametrize("length", [1, 4, 30, 150])
@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.9])
def test_sifting_loses_no_pair_at_the_threshold(
    truth: SimpleNamespace, length: int, threshold: float
) -> None:
    texts = truth.planted(60, seed=length, families=60)
    texts = [" ".join((t + " ").split(" ")[:length]) for t in texts]
    expected = {(a << 32) | b for a, b in truth.all_pairs(texts, threshold)}
    codes = np.array(
        [(i << 32) | j for i in range(len(texts)) for j in range(i + 1, len(texts))],
        dtype=np.uint64,
    )
    corpus = compiled.CompiledCorpus(texts, Grams(), 1)
    for lanes in (4, 8):
        sketches = corpus.sketch(BandPlan(threshold, 0.99, 1, 1), 0, lanes)
        kept = compiled.CompiledKernel().sift(codes, sketches, threshold, 1)
        assert expected <= set(kept.tolist())
        assert np.array_equal(kept, NumpyKernel().sift(codes, sketches, threshold, 1))


@pytest.mark.parametrize("size", [4, 25, 140, 1500])
def test_bands_agree_as_often_as_the_formula_says(size: int) -> None:
    """Sets of exactly Jaccard 0.6 of several sizes, as word grams: the promise of recall rests on
    this.
    """
    both, alone = size * 3 // 4, (size - size * 3 // 4)
    jaccard = both / (both + 2 * alone)
    trials = 1500 if size < 1000 else 300
    texts = []
    for t in range(trials):
        texts.append(
            " ".join(f"c{t}x{i}" for i in range(both)) + "".join(f" a{t}x{i}" for i in range(alone))
        )
        texts.append(
            " ".join(f"c{t}x{i}" for i in range(both)) + "".join(f" b{t}x{i}" for i in range(alone))
        )
    plan = BandPlan(jaccard, 0.99, 20, 3)
    keys = compiled.CompiledCorpus(texts, Grams(1, "word"), 2).sketch(plan, 1, 4).keys
    agree = keys[:, ::2] == keys[:, 1::2]
    spread = np.sqrt(
        jaccard**3 * (1 - jaccard**3) / trials
    )  # of one band; the mean of twenty spreads less
    assert abs(agree.mean() - jaccard**3) < 4 * spread
    recall, promised = agree.any(axis=0).mean(), plan.expected_recall
    assert recall > promised - 4 * np.sqrt(promised * (1 - promised) / trials)


def test_forcing_a_kernel_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "claimlab.text.neardup.compiled", None)
    monkeypatch.setenv(choose.ENVIRONMENT, "compiled")
    with pytest.raises(ClaimlabError, match="was not built"):
        choose.load()
    monkeypatch.delenv(choose.ENVIRONMENT)
    assert choose.load().name == "numpy"


def test_wrong_buffers_are_refused() -> None:
    table = folding_table().table
    flags = np.zeros(2, np.uint8)
    with pytest.raises(TypeError, match="text 1 is int"):
        raw.scan(["a", 1], 0, 2, table, flags)
    with pytest.raises(ValueError, match="outside the list"):
        raw.scan(["a", "b"], 1, 3, table, flags)
    with pytest.raises(ValueError, match="'flags' is too small"):
        raw.scan(["a", "b"], 0, 2, table, np.zeros(1, np.uint8))
    with pytest.raises(ValueError, match="'table' is too small"):
        raw.scan(["a", "b"], 0, 2, table[:10].copy(), flags)
    bits, counts = np.zeros((2, 4), np.uint64), np.zeros(2, np.uint32)
    beyond = np.array([5], np.uint64)
    with pytest.raises(IndexError):
        raw.sift(beyond, bits, 4, counts, 0.1, np.zeros(1, np.uint8))
    with pytest.raises(IndexError):
        raw.match(np.array([5, 6], np.uint64), bits, 4, counts, 0.1, 10, None)
    with pytest.raises(ValueError, match="'bits' is too small"):
        raw.sift(beyond, bits, 8, counts, 0.1, np.zeros(1, np.uint8))
    sizes = np.zeros(1, np.uint32)
    with pytest.raises(IndexError, match="not in the list"):
        raw.verify(
            ["a"], flags, table, folding_table().extra, 5, False, beyond, sizes, sizes.copy()
        )
