"""Trees grown on counts are scikit-learn's trees."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from claimlab.core.stats.trees import LEAVES, MIN_LEAF, Questions, grow, into_bins


@pytest.mark.parametrize(
    ("columns", "values", "classes"), [(1, 30, 2), (2, 40, 2), (4, 12, 3), (12, 2, 2)]
)
def test_every_tree_answers_as_scikit_learns_does(columns: int, values: int, classes: int) -> None:
    rng = np.random.default_rng(columns)
    matrix = rng.integers(0, values, (3_000, columns)).astype(np.float32)
    signal = matrix @ np.linspace(1, 2, columns) + rng.normal(0, values * columns / 8, 3_000)
    y = np.digitize(signal, np.quantile(signal, np.linspace(0, 1, classes + 1)[1:-1] ** 2))
    cells, cell = np.unique(into_bins(matrix), axis=0, return_inverse=True)
    cell = cell.ravel()
    parts = [np.flatnonzero(rng.random(3_000) < share) for share in (0.75, 0.75, 0.3, 0.02)]
    counts = np.stack(
        [
            np.bincount(cell[p] * classes + y[p], minlength=len(cells) * classes).reshape(
                -1, classes
            )
            for p in parts
        ]
    )
    answers = grow(Questions.of(cells), counts)
    for part, ours in zip(parts, answers, strict=True):
        tree = DecisionTreeClassifier(
            max_leaf_nodes=LEAVES,
            min_samples_leaf=MIN_LEAF,
            class_weight="balanced",
            random_state=0,
        )
        theirs = tree.fit(matrix[part], y[part]).predict(matrix)
        assert (ours[cell] == theirs).mean() > 0.995  # equally good splits may differ


def test_columns_that_are_not_allowed_are_not_asked_about() -> None:
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8)
    counts = np.array([[[40, 0], [0, 40], [40, 0], [0, 40]]] * 3)
    answers = grow(
        Questions.of(codes), counts, np.array([[True, True], [False, True], [True, False]])
    )
    assert answers[0].tolist() == answers[1].tolist() == [0, 1, 0, 1]
    assert len(set(answers[2].tolist())) == 1, "without the telling column nothing is told apart"


def test_a_tree_that_cannot_split_answers_the_usual_class() -> None:
    questions = Questions.of(np.zeros((1, 1), np.uint8))
    assert grow(questions, np.array([[[30, 70]], [[70, 30]]])).tolist() == [[1], [0]]


def test_bins_keep_the_order_and_tell_few_values_apart() -> None:
    few = np.array([[3.0], [1.0], [np.nan], [2.0], [1.0]])
    assert into_bins(few)[:, 0].tolist() == [3, 1, 0, 2, 1]
    many = np.random.default_rng(0).lognormal(size=(5_000, 3))
    codes = into_bins(many)
    for column in range(3):
        order = np.argsort(many[:, column], kind="stable")
        assert (np.diff(codes[order, column].astype(int)) >= 0).all()
        sizes = np.bincount(codes[:, column])
        assert sizes.max() < 3 * 5_000 / len(sizes)


@pytest.mark.slow
def test_compiled_trees_and_those_of_numpy_answer_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any shape: no column, one cell, a class without rows, columns that may not be asked about."""
    pytest.importorskip("claimlab.core.stats._forest", reason="the compiled loop was not built")
    rng = np.random.default_rng(0)
    told_apart = 0
    for _ in range(60):
        trees, cells, columns, classes = rng.integers([1, 1, 0, 2], [20, 300, 9, 6])
        values = rng.integers(0, rng.integers(2, 60), (cells, columns))
        codes = np.where(rng.random((cells, columns)) < rng.random(), values, 0).astype(np.uint8)
        counts = rng.poisson(rng.choice([0.3, 1, 5]), (trees, cells, classes))
        counts[:, codes.sum(axis=1) > codes.sum(axis=1).mean(), 1] *= 4
        counts[: trees // 3, :, 0] = 0
        allowed = rng.random((trees, columns)) < 0.6 if rng.random() < 0.5 else None
        questions = Questions.of(codes)
        compiled = grow(questions, counts, allowed)
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "claimlab.core.stats._forest", None)
            assert np.array_equal(compiled, grow(questions, counts, allowed))
        told_apart += len(np.unique(compiled)) > 1
    assert told_apart > 30


def test_counts_of_other_cells_are_refused() -> None:
    module = pytest.importorskip("claimlab.core.stats._forest", reason="the loop was not built")
    q = Questions.of(np.array([[0], [1]], np.uint8))
    arrays = q.column, q.order, q.below, q.present.indptr, q.present.indices
    sizes = 2, LEAVES, MIN_LEAF, 1e-3, 1e-9
    answers = np.zeros((1, 2), np.int64)
    splits = np.zeros((1, LEAVES - 1, 2), np.int64)
    with pytest.raises(ValueError, match="do not fit together"):
        module.grow(*arrays, np.zeros((1, 3, 2), np.int32), b"", *sizes, answers, splits)
    with pytest.raises(ValueError, match="do not fit together"):
        wild = np.array([7], np.int32)
        module.grow(*arrays[:4], wild, np.zeros((1, 2, 2), np.int32), b"", *sizes, answers, splits)
