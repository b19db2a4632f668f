from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UnknownName
from claimlab.detect.detector import DETECTORS, Part
from claimlab.detect.run import detect
from claimlab.detect.tables import scores_of
from claimlab.detect.tree import ArrayTree
from claimlab.tasks.table import VERACITY


def giving_away(n: int = 400) -> Dataset:
    """Made-up rows in which every trait but the topic gives the label away."""
    rng = np.random.default_rng(0)
    false = rng.random(n) < 0.5
    rows = [
        {
            "id": f"r{i}",
            "text": ("LOOK! 2020 https://www.example.com/a " if f else "a quiet line ")
            + "word " * (30 if f else 3),
            "veracity": "false" if f else "true",
            "split": ("train", "train", "dev", "test")[i % 4],
            "source": "bad.example" if f else "good.example",
            "group": f"event-{int(rng.integers(5)) + 5 * int(f)}",
            "topic": f"topic-{int(rng.integers(4))}",
            "date": datetime(2020, 1, 1) + timedelta(days=int(rng.integers(100)) + 300 * int(f)),
            "meta": f'{{"shares": {int(rng.integers(100)) + 500 * int(f)}}}',
        }
        for i, f in enumerate(false)
    ]
    return Dataset.build("made", pl.DataFrame(rows))


def score(data: Dataset, feature: str) -> float:
    run = detect(data, DETECTORS.get("shortcut")(feature=feature), seed=0)  # type: ignore[call-arg]
    return float(scores_of(run, VERACITY)["macro_f1"])


@pytest.mark.parametrize(
    "feature",
    [
        "length",
        "punctuation",
        "case",
        "digits",
        "url",
        "domain",
        "source",
        "group",
        "event",
        "date",
        "shares",
        "meta.shares",
    ],
)
def test_a_planted_shortcut_is_all_it_takes(feature: str) -> None:
    assert score(giving_away(), feature) > 0.95


def test_what_gives_nothing_away_scores_as_chance() -> None:
    assert 0.35 < score(giving_away(), "topic") < 0.65


def test_values_never_met_get_the_usual_class() -> None:
    data = giving_away()
    strange = (
        pl.when(pl.col("split") == "test").then(pl.lit("new.example")).otherwise(pl.col("source"))
    )
    changed = data.records.with_columns(
        strange.alias("source"),
        pl.when(pl.col("split") == "test").then(None).otherwise("topic").alias("topic"),
    )
    for feature in ("source", "topic"):
        run = detect(Dataset.build("x", changed), DETECTORS.get("shortcut")(feature=feature))  # type: ignore[call-arg]
        assert run.tables["predictions"]["label"].n_unique() == 1


def test_a_number_column_stays_one_when_few_rows_are_asked() -> None:
    data = giving_away()
    detector = DETECTORS.get("shortcut")(feature="shares")  # type: ignore[call-arg]
    train = data.records.filter(pl.col("split") == "train")
    detector.fit(
        Part(train, train["veracity"].to_list()),
        Part(train.clear(), []),
        seed=0,
    )
    few = data.records.filter(pl.col("split") == "test").head(3)
    assert [p.label for p in detector.predict(few)] == few["veracity"].to_list()


def test_a_missing_or_empty_column_is_a_sentence() -> None:
    with pytest.raises(UnknownName, match="no column named 'mood'"):
        score(giving_away(), "mood")
    with pytest.raises(DataError, match="No training record has a value in 'author'"):
        score(giving_away(), "author")


def test_words_gaps_and_texts_of_a_column_are_shortcuts_too() -> None:
    data = giving_away()
    false = pl.col("veracity") == "false"
    rng = np.random.default_rng(1)
    told = pl.Series(
        [
            f"{rng.integers(10**6)} {'hoax' if v == 'false' else 'fact'} {i}"
            for i, v in enumerate(data.records["veracity"])
        ]
    )
    records = data.records.with_columns(
        author=pl.when(false).then(pl.lit("someone")),
        meta=pl.Series([f'{{"note": "{t}"}}' for t in told]),
    )
    planted = Dataset.build("made", records)
    for feature in ("keywords", "giveaways", "surface", "missing", "note"):
        assert score(planted, feature) > 0.95, feature


def test_where_no_word_is_one_sided_it_is_a_sentence() -> None:
    data = giving_away()
    same = Dataset.build("made", data.records.with_columns(text=pl.lit("the same words")))
    with pytest.raises(DataError, match="have no giveaways"):
        score(same, "giveaways")


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_tree_answers_new_rows_as_scikit_learns_does(classes: int, missing: float) -> None:
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(classes)
    matrix = rng.lognormal(size=(4_000, 3)).astype(np.float32)
    signal = matrix @ [1.0, 2.0, 0.5] + rng.normal(0, 1, 4_000)
    y = np.digitize(signal, np.quantile(signal, np.linspace(0, 1, classes + 1)[1:-1] ** 2))
    matrix[rng.random(matrix.shape) < missing] = np.nan
    train, test = matrix[:3_000], matrix[3_000:]
    theirs = DecisionTreeClassifier(
        max_leaf_nodes=20, min_samples_leaf=5, class_weight="balanced", random_state=0
    ).fit(train, y[:3_000])
    ours = ArrayTree.grown(train, y[:3_000], classes).predict(test)
    alike = (ours.argmax(axis=1) == theirs.predict(test)).mean()
    if missing:  # scikit-learn also asks whether missing values belong with the largest ones
        right = (ours.argmax(axis=1) == y[3_000:]).mean()
        assert right > (theirs.predict(test) == y[3_000:]).mean() - 0.02
    else:
        assert alike > 0.995
        assert (np.abs(ours - theirs.predict_proba(test)).max(axis=1) < 1e-6).mean() > 0.995
