"""Every measure equals scikit-learn's to 1e-9, on many random runs with failures and strange
answers.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from claimlab.core.stats.scores import macro_f1
from claimlab.evaluate.answers import Answers, answers
from claimlab.evaluate.confusion import confusion
from claimlab.evaluate.measures import measure
from claimlab.evaluate.metrics.table_scores import RATES, calibration, ranking, rates_at

NAMES = ("ay", "bee", "cee", "dee", "eff", "gee")


def made_up_run(
    seed: int,
) -> tuple[list[str], list[str | None], list[dict[str, float] | None], int]:
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 7)), int(rng.integers(300, 600))
    share = rng.dirichlet(np.full(k, 3.0))
    truth = [*NAMES[:k], *(NAMES[i] for i in rng.choice(k, n, p=share))]
    logits = np.round(
        rng.normal(size=(len(truth), k)), int(rng.integers(0, 4))
    )  # few decimals: many ties
    logits[np.arange(len(truth)), [NAMES.index(t) for t in truth]] += rng.uniform(0, 2)
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    said: list[str | None] = [NAMES[i] for i in probs.argmax(axis=1)]
    scores: list[dict[str, float] | None] = [
        dict(zip(NAMES[:k], map(float, row), strict=True)) for row in probs
    ]
    return truth, said, scores, k


@pytest.mark.parametrize("seed", range(40))
def test_scores_equal_scikit_learns(seed: int) -> None:
    truth, said, scores, k = made_up_run(seed)
    found = measure(answers(truth, said, scores=scores, order=NAMES, positive="ay"))
    labels, near = list(NAMES[:k]), pytest.approx
    assert found.accuracy == near(sk.accuracy_score(truth, said), abs=1e-9)
    assert found.macro_f1 == near(
        sk.f1_score(truth, said, labels=labels, average="macro"), abs=1e-9
    )
    p, r, f, n = sk.precision_recall_fscore_support(truth, said, labels=labels, zero_division=0)
    assert [c.precision or 0.0 for c in found.per_class] == near(list(p), abs=1e-9)
    assert [c.recall for c in found.per_class] == near(list(r), abs=1e-9)
    assert [c.f1 for c in found.per_class] == near(list(f), abs=1e-9)
    assert [c.n for c in found.per_class] == list(n)
    table = np.array([[s[c] for c in labels] for s in scores if s])
    if k == 2:
        is_ay = np.array([t == "ay" for t in truth])
        assert found.auroc == near(sk.roc_auc_score(is_ay, table[:, 0]), abs=1e-9)
        assert found.calibration.brier == near(sk.brier_score_loss(is_ay, table[:, 0]), abs=1e-9)
        fpr, tpr, _ = sk.roc_curve(is_ay, table[:, 0], drop_intermediate=False)
        negatives = int((~is_ay).sum())
        for rate in found.rates:
            if negatives < 1 / rate.fpr:
                assert rate.tpr is None
                continue
            assert rate.tpr == near(tpr[fpr <= rate.fpr + 1e-12].max(), abs=1e-9)
    else:
        area = sk.roc_auc_score(truth, table, multi_class="ovr", average="macro", labels=labels)
        assert found.auroc == near(area, abs=1e-9)
        assert found.calibration.brier == near(
            sk.brier_score_loss(truth, table, labels=labels), abs=1e-9
        )
        assert all(r.tpr is None and "more than two" in str(r.why) for r in found.rates)


def test_failures_and_strange_answers_count_as_wrong() -> None:
    rng = np.random.default_rng(5)
    truth = [NAMES[i] for i in rng.choice(3, 400)]
    said = [NAMES[i] if i < 3 else ("no idea" if i == 3 else None) for i in rng.choice(5, 400)]
    found = measure(answers(truth, said, order=NAMES))
    words = [s or "(failed)" for s in said]
    labels = list(NAMES[:3])
    by_hand = []
    for name in labels:
        hits = sum(t == w == name for t, w in zip(truth, words, strict=True))
        gaps = sum(w not in labels and t != name for t, w in zip(truth, words, strict=True))
        by_hand.append(2 * hits / (truth.count(name) + words.count(name) + gaps))
    assert found.macro_f1 == pytest.approx(np.mean(by_hand), abs=1e-9)
    assert found.accuracy == pytest.approx(sk.accuracy_score(truth, words), abs=1e-9)
    assert found.failed == words.count("(failed)")
    assert found.other == words.count("no idea")
    kept = [(t, w) for t, w in zip(truth, words, strict=True) if w != "(failed)"]
    answered = sk.f1_score(*zip(*kept, strict=True), labels=labels, average="macro")
    assert found.answered_macro_f1 is not None
    assert found.macro_f1 < found.answered_macro_f1 <= answered
    chosen = [(t, w) for t, w in kept if w in labels]
    assert found.answered_accuracy == pytest.approx(
        sum(t == w for t, w in chosen) / len(kept), abs=1e-9
    )
    silent = measure(answers(truth, [None] * 400))
    assert silent.accuracy is silent.macro_f1 is None, "nothing was answered: nothing was measured"
    assert silent.answered_accuracy is None, "nothing answered is not measured, not zero"


def test_calibration_by_hand() -> None:
    truth, said = ["a", "a", "b", "a"], ["a", "b", "b", "a"]
    scores = [
        {"a": 0.91, "b": 0.09},
        {"a": 0.35, "b": 0.65},
        {"a": 0.34, "b": 0.66},
        {"a": 0.97, "b": 0.03},
    ]
    found = calibration(answers(truth, said, scores=scores))
    assert [(b.n, b.accuracy) for b in found.curve] == [(2, 0.5), (2, 1.0)]
    assert found.ece == pytest.approx((abs(0.655 - 0.5) * 2 + abs(0.94 - 1) * 2) / 4)


def test_what_cannot_be_measured_is_null_and_says_why() -> None:
    truth = ["a"] * 50 + ["b"] * 50
    bare = measure(answers(truth, truth))
    assert (bare.auroc, bare.calibration.ece) == (None, None)
    assert bare.auroc_why == bare.calibration.why == "The run gives no scores."
    constant = measure(answers(truth, truth, scores=[{"a": 0.5, "b": 0.5}] * 100))
    assert "same scores" in str(constant.auroc_why)
    loud = measure(
        answers(truth, truth, scores=[{"a": i, "b": 7.0} for i in range(100)], positive="b")
    )
    assert loud.auroc == 0.5  # the score of b is constant
    assert "not probabilities" in str(loud.calibration.why)
    few = [r for r in loud.rates if r.fpr == 0.01]
    assert few[0].tpr is None
    assert few[0].why == "A rate of 1% needs 100 negatives; there are 50."
    half = measure(answers(truth, truth, scores=[{"a": 1.0}] * 50 + [None] * 50))
    assert half.auroc is None
    assert half.calibration.n == 50


def test_the_rate_never_lets_more_negatives_pass_than_it_says() -> None:
    rng = np.random.default_rng(2)
    truth = rng.random(2_000) < 0.4
    score = np.round(rng.normal(size=2_000) + truth, 1)  # ties across the bar
    for fpr in RATES:
        rate = rates_at(ranking(truth, score), fpr)
        bars = [b for b in np.unique(score) if (score[~truth] > b).mean() <= fpr]
        assert rate == (score[truth] > min(bars)).mean()


def test_only_classes_of_the_truth_are_averaged() -> None:
    found = answers(["a", "a", "b"], ["a", "c", "b"], order=("c", "b", "a"))
    assert isinstance(found, Answers)
    assert found.classes == ("b", "a")
    # an answer that no record has is no way out: it costs the other class as a wrong one would
    assert float(macro_f1(confusion(found))) == pytest.approx(2 / 3)
