"""What only a working control can tell: planted data on which each broken control gives another
answer.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from claimlab.audit.fair import Deal, measure
from claimlab.audit.features import Numbers
from claimlab.audit.rule import AuditSettings, Context
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding

Ints = npt.NDArray[np.int64]


def texts_of(length: Ints, y: Ints, group: Ints | None = None) -> Dataset:
    """Two words a text, all different, of the given lengths."""
    n = len(y)
    frame = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)],
            "text": [f"{i:06d} {'x' * int(k)}" for i, k in enumerate(length)],
            "kind": "post",
            "veracity": np.where(y == 1, "true", "false"),
            "language": "eng",
            "group": [None] * n if group is None else [f"g{g}" for g in group],
        },
        schema_overrides={"group": pl.String},
    )
    return Dataset.build("planted", frame)


def length_finding(data: Dataset) -> Finding:
    (found,) = audit(data, checks=["length"], debug=True).findings
    return found


def test_the_control_learns_permuted_labels() -> None:
    """With few true texts, a model that learnt the true labels answers "true" rarely and gets a
    better control.
    """
    rng = np.random.default_rng(0)
    y = (rng.random(1_600) < 0.12).astype(np.int64)
    length = np.where(rng.random(1_600) < 0.9, 200 * y, 200 * (1 - y)) + rng.integers(10, 60, 1_600)
    found = length_finding(texts_of(length, y))
    controls = []
    for seed in range(12):
        labels = np.random.default_rng(seed).permutation(y)
        guess = np.empty_like(labels)
        for train, test in StratifiedKFold(4, shuffle=True, random_state=seed).split(
            length[:, None], labels
        ):
            tree = DecisionTreeClassifier(
                max_leaf_nodes=20, min_samples_leaf=5, class_weight="balanced"
            )
            guess[test] = tree.fit(length[train, None], labels[train]).predict(length[test, None])
        controls.append(f1_score(labels, guess, average="macro"))
    assert np.mean(controls) < 0.45
    assert found.baselines.shuffled == pytest.approx(np.mean(controls), abs=0.02)
    assert found.verdict == "fail"


def test_the_permuted_baseline_counts_when_it_is_the_best() -> None:
    """Long texts come in large groups that are mostly true, and groups exchange labels with groups
    of like size only: permuted labels can be guessed just as well, so length itself tells nothing.
    """
    rng = np.random.default_rng(1)
    size = np.repeat([1, 6], [360, 60])
    group = np.repeat(np.arange(420), size)
    true = rng.random(420) < np.where(size == 1, 0.2, 0.8)
    length = np.where(size[group] == 1, 20, 120) + rng.integers(0, 60, len(group))
    found = length_finding(texts_of(length, true[group].astype(np.int64), group))
    assert found.score is not None
    assert found.score > 0.7
    assert found.baselines.shuffled == found.baselines.best()
    assert found.difference == pytest.approx(found.score - (found.baselines.shuffled or 0.0))
    assert found.verdict in ("pass", "inconclusive")


def test_rows_of_one_group_stay_together() -> None:
    """Every group has a length of its own and a class drawn at random: only a model that met the
    group knows it.
    """
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(150), 6)
    y = rng.integers(0, 2, 150)[group]
    data = texts_of(10 + 3 * group, y, group)
    together = length_finding(data)
    assert together.score is not None
    assert together.score < 0.6
    assert together.verdict in ("pass", "inconclusive")
    apart = length_finding(texts_of(10 + 3 * group, y))
    assert apart.score is not None
    assert apart.score > 0.7, "or the data would not show it"


def test_copies_of_a_text_stay_together() -> None:
    rng = np.random.default_rng(3)
    copies = np.repeat(np.arange(150), 6)
    data = texts_of(10 + 3 * copies, rng.integers(0, 2, 150)[copies])
    same = data.records.with_columns(
        pl.Series("text", [f"{c} {'x' * (10 + 3 * int(c))}" for c in copies])
    )
    found = length_finding(Dataset.build("copies", same))
    assert found.score is not None
    assert found.score < 0.6


def test_groups_bound_to_a_class_are_measured_on_one_record_each() -> None:
    """Single texts are all false, and pairs all true: groups of like size have one class, so
    nothing could change places. One record of each group can."""
    rng = np.random.default_rng(4)
    group = np.concatenate([np.arange(400), 400 + np.repeat(np.arange(200), 2)])
    y = (group >= 400).astype(np.int64)
    noise = rng.integers(10, 60, 800)
    found = length_finding(texts_of(noise, y, group))
    assert (found.verdict, found.n, found.classes) == ("pass", 600, {"true": 200, "false": 400})
    assert (
        "One record of each group and label, drawn at random, stands for it (600 of 800)"
        in found.why
    )
    assert found.moved == pytest.approx(found.moved_freely, abs=0.02)
    assert length_finding(texts_of(noise + 60 * y, y, group)).verdict == "fail"


def test_too_few_groups_bound_to_a_class_are_not_measured() -> None:
    group = np.concatenate([np.arange(400), 400 + np.repeat(np.arange(20), 20)])
    found = length_finding(texts_of(np.arange(800) % 50, (group >= 400).astype(np.int64), group))
    assert found.verdict == "not-measured"
    assert "Shuffled labels would be nearly the real ones" in found.why
    assert "% of the labels change where 50% should. Collect more groups of each class" in found.why


def test_pairs_are_really_permuted() -> None:
    """True and false in pairs, the false one longer: the control must not keep what it is to
    control for.
    """
    rng = np.random.default_rng(5)
    pair, y = np.repeat(np.arange(300), 2), np.tile([0, 1], 300)
    found = length_finding(texts_of(rng.integers(10, 60, 600) + 60 * y, y, pair))
    assert found.verdict == "fail"
    assert found.moved == pytest.approx(0.5, abs=0.02)
    assert found.moved_freely == pytest.approx(0.5)
    assert found.baselines.shuffled == pytest.approx(0.5, abs=0.03)
    assert found.permutations == AuditSettings().few, "a clear case costs few permutations"


def test_a_close_case_gets_many_permutations() -> None:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 900)
    found = length_finding(texts_of(rng.integers(10, 60, 900) + 9 * y, y))
    assert found.permutations == AuditSettings().many
    assert found.p is not None
    assert found.p < 0.05


def test_small_sets_keep_true_findings() -> None:
    """300 rows and a real but modest shortcut, eight times: a test that compared unlike things lost
    most of these.
    """
    verdicts = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 300)
        verdicts.append(length_finding(texts_of(rng.integers(10, 60, 300) + 22 * y, y)).verdict)
    assert sum(v in ("warn", "fail") for v in verdicts) >= 7


def test_scores_and_permuted_scores_are_of_one_statistic() -> None:
    """A permutation that moves nothing gives back the score itself."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 400)
    context = Context(settings=AuditSettings(few=3, many=3))
    subject = Subject.of(texts_of(rng.integers(10, 60, 400) + 8 * y, y), context=context)
    feature = Numbers(np.array([[len(t)] for t in subject.rows["text"]], np.float32))
    deal = Deal(subject.y, subject.everyone, 2, AuditSettings(), seed=0)
    deal._permuted = [(subject.y.astype(np.int16), deal.fold)] * 3
    found = measure(subject, feature, deal)
    assert found.baselines.shuffled == pytest.approx(found.score, abs=1e-12)
    assert found.p == 1.0


@pytest.mark.slow
def test_a_word_in_a_tenth_of_one_class_is_found() -> None:
    """Nothing is known of the other rows: they are guessed at random, and the word still raises the
    score.
    """
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 4_000)
    words = np.array(
        [
            "harbour",
            "bridge",
            "council",
            "lamp",
            "river",
            "bench",
            "market",
            "clock",
            "snow",
            "ferry",
        ]
    )
    marked = (y == 1) & (rng.random(4_000) < 0.1)
    texts = [
        " ".join(rng.choice(words, 8)) + (" zorvex" if m else "") + f" {i}"
        for i, m in enumerate(marked)
    ]
    data = texts_of(np.ones(4_000, np.int64), y)
    same = data.records.with_columns(pl.Series("text", texts))
    (found,) = audit(Dataset.build("words", same), checks=["giveaways"], debug=True).findings
    assert found.verdict == "warn"
    assert [row["word"] for row in found.details["words"]] == ["zorvex"]


def test_a_publisher_of_the_larger_class_only_is_found_among_many_that_occur_once() -> None:
    """To answer the larger class for every new publisher would hide it: its own rows would get the
    same answer.
    """
    rng = np.random.default_rng(3)
    false = rng.random(600) < 0.56
    planet = false & (rng.random(600) < 0.4)
    source = [f"paper {i}" if i % 5 else f"paper {i % 7}" for i in range(600)]
    rows = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(600)], "text": [f"claim {i}" for i in range(600)],
            "source": ["The Daily Planet" if p else s for p, s in zip(planet, source, strict=True)],
            "veracity": np.where(false, "false", "true"),
        }
    )  # fmt: skip
    (found,) = audit(Dataset.build("d", rows), checks=["source"], debug=True).findings
    assert found.verdict == "fail"
