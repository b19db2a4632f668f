"""Words and character n-grams, weighted by TF-IDF, in a linear model: the classic that is hard to beat for its price.

The regularisation is tuned on the dev rows when there are any, otherwise by cross-validation inside the training rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import polars as pl

from claimlab.core.errors import DataError
from claimlab.detect.detector import Prediction

STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0)


class Tfidf:
    name: ClassVar[str] = "tfidf"
    summary: ClassVar[str] = "Word and character TF-IDF with logistic regression, tuned on dev."

    def __init__(self, *, words: bool = True, characters: bool = True, strength: float | None = None) -> None:
        self.words = words
        self.characters = characters
        self.strength = strength  # null: tuned

    def parameters(self) -> dict[str, object]:
        return {"words": self.words, "characters": self.characters, "strength": self.strength}

    def fit(
        self,
        train: pl.DataFrame,
        labels: Sequence[str],
        *,
        dev: pl.DataFrame | None = None,
        dev_labels: Sequence[str] | None = None,
        seed: int = 0,
    ) -> None:
        texts = _texts(train)
        self.features = self._features()
        matrix = self.features.fit_transform(texts)
        if self.strength is not None:
            self.model = _model(self.strength, seed).fit(matrix, labels)
        elif dev is not None and dev_labels is not None and dev.height:
            held = self.features.transform(_texts(dev))
            fitted = [_model(c, seed).fit(matrix, labels) for c in STRENGTHS]
            self.model = max(fitted, key=lambda model: _macro_f1(dev_labels, model.predict(held)))
        else:
            self.model = _tuned_inside(matrix, labels, seed)

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        shares = self.model.predict_proba(self.features.transform(_texts(records)))
        classes = [str(c) for c in self.model.classes_]
        return [
            Prediction(classes[int(row.argmax())], dict(zip(classes, map(float, row), strict=True))) for row in shares
        ]

    def _features(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import FeatureUnion

        parts = []
        if self.words:
            words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, max_features=200_000)
            parts.append(("words", words))
        if self.characters:
            letters = TfidfVectorizer(
                analyzer="char_wb", ngram_range=(2, 5), min_df=2, sublinear_tf=True, max_features=300_000
            )
            parts.append(("characters", letters))
        return FeatureUnion(parts)


def _texts(records: pl.DataFrame) -> list[str]:
    texts = records["text"]
    if texts.null_count() == texts.len():
        raise DataError("The records have no text.", "Use a detector that does not read text, or fetch the texts.")
    return texts.fill_null("").to_list()


def _model(strength: float, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, max_iter=2_000, class_weight="balanced", random_state=seed)


def _tuned_inside(matrix: Any, labels: Sequence[str], seed: int) -> Any:
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    search = GridSearchCV(_model(1.0, seed), {"C": STRENGTHS}, scoring="f1_macro", cv=folds)
    return search.fit(matrix, labels).best_estimator_


def _macro_f1(truth: Sequence[str], guess: Sequence[str]) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score(truth, guess, average="macro"))


DETECTOR = Tfidf
