"""find_pairs, find_clusters and find_across against the truth found by comparing each text with
each.
"""

from __future__ import annotations

import random
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from claimlab.core.errors import UsageError
from claimlab.core.progress import reporting
from claimlab.text.neardup import Pairs, Skipped, find_across, find_clusters, find_pairs, normalise
from claimlab.text.neardup.buckets import BUCKET_NEIGHBOURS, BUCKET_TEXTS


def as_dict(pairs: Pairs) -> dict[tuple[int, int], float]:
    return {(a, b): score for a, b, score in pairs}


@pytest.mark.parametrize(("ngram", "unit"), [(5, "char"), (3, "char"), (1, "word"), (2, "word")])
def test_pairs_are_those_of_the_exhaustive_join(
    truth: SimpleNamespace, kernel: str, ngram: int, unit: Any
) -> None:
    texts = truth.planted(250, seed=ngram)
    expected = truth.all_pairs(texts, 0.6, ngram, unit)
    found = as_dict(find_pairs(texts, threshold=0.6, ngram=ngram, unit=unit, recall=0.9999))
    assert len(expected) > 30
    assert set(found) == set(expected)
    assert all(found[p] == np.float32(expected[p]) for p in expected)


def test_recall_is_what_the_plan_promises(truth: SimpleNamespace) -> None:
    texts = truth.planted(6000, seed=11, families=3000)
    found, sure = (
        as_dict(find_pairs(texts, recall=0.99)),
        as_dict(find_pairs(texts, recall=0.999999)),
    )
    assert len(sure) > 2000
    assert set(found) <= set(sure)
    assert len(found) / len(sure) >= 0.99


def test_pairs_are_sorted_and_typed(truth: SimpleNamespace) -> None:
    pairs = find_pairs(truth.planted(300))
    assert (pairs.left < pairs.right).all()
    assert np.array_equal(np.lexsort((pairs.right, pairs.left)), np.arange(len(pairs)))
    assert pairs.left.dtype == pairs.right.dtype == np.int64
    assert pairs.jaccard.dtype == np.float32
    assert pairs.skipped == Skipped(0, 0)
    assert pairs.plan.expected_recall >= 0.99


def test_dress_does_not_count(kernel: str) -> None:
    pairs = find_pairs(
        [
            "The ﬁrst Straße  of\tNeustadt",
            "ＴＨＥ FIRST\u00a0STRASSE OF NEUSTADT ",
            "something else entirely",
        ]
    )
    assert as_dict(pairs) == {(0, 1): 1.0}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "今日は朝から雨が降っていて駅まで歩くのが大変だった",
            "今日は朝から雨が降っていて駅まで歩くのが大変でした",
        ),
        ("วันนี้ฝนตกหนักมากจนน้ำท่วมถนนหน้าบ้านของเรา", "วันนี้ฝนตกหนักมากจนน้ำท่วมถนนหน้าบ้านของเขา"),
        ("बारिश के कारण आज सभी स्कूल और बाजार बंद रहेंगे", "बारिश के कारण आज सभी स्कूल और बाजार बंद रहेंगे।"),
        ("👍🏽 the bridge is closed until sunday 🚧🚧", "the bridge is closed until sunday 🚧🚧"),
    ],
)
def test_scripts_without_spaces_and_with_marks(kernel: str, one: str, other: str) -> None:
    pairs = find_pairs([one, "an unrelated line of text", other])
    assert [(a, b) for a, b, _ in pairs] == [(0, 2)]


def test_copies_make_a_star(kernel: str) -> None:
    texts = [
        "other text stands here",
        *["the same boilerplate again"] * 50,
        "The same   boilerplate AGAIN",
        "the same boilerplate again!",
    ]
    pairs = find_pairs(texts)
    copies = [(a, b) for a, b, score in pairs if score == 1.0]
    assert copies == [(1, b) for b in range(2, 52)]
    assert [(a, b) for a, b, score in pairs if score < 1.0] == [(1, 52)]


def test_empty_texts_are_near_nothing(kernel: str) -> None:
    texts = ["", " \n", None, "", "...", "...", "a", "a", "ab"]
    clusters = find_clusters(texts)
    assert as_dict(clusters.pairs) == {(4, 5): 1.0, (6, 7): 1.0}
    assert clusters.labels.tolist() == [-1, -1, -1, -1, 0, 0, 1, 1, -1]
    assert as_dict(find_pairs(texts, unit="word", ngram=1)) == {(4, 5): 1.0, (6, 7): 1.0}


def test_no_texts_at_all(kernel: str) -> None:
    assert len(find_pairs([])) == 0
    assert find_clusters(["alone"]).labels.tolist() == [-1]
    assert len(find_across([], ["a text"])) == 0


def test_clusters_are_chains_of_pairs(truth: SimpleNamespace) -> None:
    texts = truth.planted(400, seed=5)
    clusters = find_clusters(texts, threshold=0.5, recall=0.9999)
    parent = list(range(len(texts)))

    def root(x: int) -> int:
        while parent[x] != x:
            x = parent[x]
        return x

    for a, b, _ in clusters.pairs:
        parent[max(root(a), root(b))] = min(root(a), root(b))
    joined = set(clusters.pairs.rows().tolist())
    heads = sorted({root(x) for x in joined})
    assert clusters.labels.tolist() == [
        heads.index(root(x)) if x in joined else -1 for x in range(len(texts))
    ]
    assert len(clusters) == len(heads)
    assert clusters.sizes().sum() == len(joined)


def test_long_chains_become_one_cluster() -> None:
    from claimlab.text.neardup.results import label

    order = np.random.default_rng(0).permutation(5000)
    links = np.sort(np.stack([order[:-1], order[1:]]), axis=0)
    assert set(label(links[0], links[1], 5001).tolist()) == {0, -1}


def test_one_boilerplate_in_many_rows_costs_little() -> None:
    texts = ["breaking news follow this account for more"] * 60_000 + [
        f"text number {i} {i * 7919}" for i in range(2000)
    ]
    began = time.perf_counter()
    pairs = find_pairs(texts)
    assert time.perf_counter() - began < 20
    assert ((pairs.left == 0) & (pairs.jaccard == 1)).sum() == 59_999


@pytest.mark.slow
def test_a_flood_of_variants_is_bounded_and_counted(truth: SimpleNamespace, kernel: str) -> None:
    """3,000 variants of one letter would be 4.5 million pairs."""
    rng = random.Random(1)
    letter = truth.sentence(rng, 40)
    texts = list(dict.fromkeys(" ".join([*letter, str(rng.randrange(10**6))]) for _ in range(3000)))
    clusters = find_clusters(texts)
    assert len(clusters) == 1
    assert (clusters.labels == 0).all()
    assert clusters.pairs.skipped.buckets > 0
    assert clusters.pairs.skipped.comparisons > 0
    assert len(clusters.pairs) <= clusters.pairs.plan.bands * len(texts) * (BUCKET_NEIGHBOURS + 1)


def test_up_to_the_limit_nothing_is_skipped(truth: SimpleNamespace) -> None:
    rng = random.Random(2)
    letter = truth.sentence(rng, 40)
    texts = [" ".join([*letter, str(10**6 + i * 7919)]) for i in range(BUCKET_TEXTS)]
    pairs = find_pairs(texts)
    assert pairs.skipped == Skipped(0, 0)
    assert len(pairs) == BUCKET_TEXTS * (BUCKET_TEXTS - 1) // 2


@pytest.mark.slow
def test_across_two_lists(truth: SimpleNamespace, kernel: str) -> None:
    texts = truth.planted(300, seed=3)
    a, b = texts[:200], texts[200:]
    expected = {
        (i, j - 200): s for (i, j), s in truth.all_pairs(texts, 0.6).items() if i < 200 <= j
    }
    found = as_dict(find_across(a, b, threshold=0.6, recall=0.9999))
    assert len(expected) > 10
    assert {p: np.float32(s) for p, s in expected.items()} == found


def test_across_names_every_copy_once(kernel: str) -> None:
    letter = "the council closes the old bridge until the end of next summer"
    a = [letter, "something else", letter, letter + "!"]
    b = ["no partner here", letter, letter + ".", letter, letter]
    found = as_dict(find_across(a, b))
    assert found[0, 1] == 1.0  # first copies
    assert (
        found[2, 1] == found[0, 3] == found[0, 4] == 1.0
    )  # further copies, with the best partner of the first
    assert {i for i, _ in found} == {0, 2, 3}
    assert {j for _, j in found} == {1, 2, 3, 4}
    assert len(found) == 4 + 3  # four firsts against each other, three further copies


def test_across_large_buckets_every_row_still_meets_the_other_list(truth: SimpleNamespace) -> None:
    rng = random.Random(4)
    letter = truth.sentence(rng, 40)
    a = [" ".join([*letter, f"a{i * 7919}"]) for i in range(400)]
    b = [" ".join([*letter, f"b{i * 7919}"]) for i in range(400)]
    pairs = find_across(a, b)
    assert pairs.skipped.comparisons > 0
    assert set(pairs.left.tolist()) == set(pairs.right.tolist()) == set(range(400))


@pytest.mark.slow
def test_same_result_on_any_number_of_threads(truth: SimpleNamespace) -> None:
    texts = truth.planted(40_000, seed=9, families=2000)
    results = [find_pairs(texts, threads=n) for n in (1, 2, 5)]
    for other in results[1:]:
        assert all(
            getattr(results[0], f).tobytes() == getattr(other, f).tobytes()
            for f in ("left", "right", "jaccard")
        )


def test_the_seed_changes_luck_but_not_truth(truth: SimpleNamespace) -> None:
    texts = truth.planted(2000, seed=6, families=800)
    results = [as_dict(find_pairs(texts, recall=0.7, seed=s)) for s in range(3)]
    assert len({frozenset(r) for r in results}) == 3
    assert all(results[0][p] == results[1][p] for p in set(results[0]) & set(results[1]))


def test_a_polars_column_and_progress() -> None:
    seen: list[tuple[str, int, int | None]] = []
    column = pl.Series("text", ["a text that is here twice", None, "a text that is here twice."])
    with reporting(lambda label, done, total: seen.append((label, done, total))):
        pairs = find_pairs(column)
    assert [(a, b) for a, b, _ in pairs] == [(0, 2)]
    assert {label for label, _, _ in seen} == {"sketch texts", "match bands", "verify pairs"}
    assert all(total is not None and 0 <= done <= total for _, done, total in seen)


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 0},
        {"threshold": 1.5},
        {"recall": 1},
        {"recall": 0},
        {"ngram": 0},
        {"unit": "byte"},
        {"threads": 0},
        {"seed": -1},
        {"threshold": 0.001, "recall": 0.9999},
    ],
)
def test_wrong_options_are_refused_in_words(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        find_pairs(["a", "b"], **options)
    assert caught.value.todo


def test_wrong_texts_are_refused_in_words() -> None:
    with pytest.raises(UsageError, match="Put it in a list"):
        find_pairs("one text")
    with pytest.raises(UsageError, match="column of strings"):
        find_pairs(pl.Series("n", [1, 2]))
    with pytest.raises(UsageError, match="Text 2 is of type 'float'"):
        find_across(["a text"], ["another", None, float("nan")])  # type: ignore[list-item]


def test_an_unknown_kernel_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAIMLAB_NEARDUP", "fortran")
    with pytest.raises(UsageError, match="CLAIMLAB_NEARDUP"):
        find_pairs(["a", "b"])


def test_normalise() -> None:
    assert normalise("  Ａ\u00a0b\n\tC ") == "a b c"
    assert normalise("\u2003") == ""
