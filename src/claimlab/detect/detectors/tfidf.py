"""Words and character n-grams, weighted by TF-IDF, in a linear model: the classic that is hard to
beat for its price.

The regularisation is tuned on the dev rows when there are any, otherwise by cross-validation inside
the training rows. Memory is bounded: of more than MOST training rows, and of as many dev rows, the
model learns from a random sample that keeps the shares of the classes.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject, Sparse
from claimlab.detect.detector import Detector, Part, Prediction, texts_of
from claimlab.detect.learned import Learned
from claimlab.detect.linear import Kind, Linear
from claimlab.text.ngrams import Characters, TfIdf, Words, beside
from claimlab.text.tokens import words as words_of

MOST_ROWS = 200_000  # training rows: about 3 GB of memory for posts
FEWEST_ROWS_OF_CLASS = 1_000  # of a class that are kept, if it has them


class Tfidf(Detector):
    name = "tfidf"
    summary = "Word and character TF-IDF with a linear model, tuned on dev."
    quick = True
    from_scratch = True

    def __init__(
        self,
        *,
        words: bool = True,
        characters: bool = True,
        model: Kind = "svm",
        strength: float | None = None,
    ) -> None:
        if not (words or characters):
            raise UsageError(
                "tfidf has neither words nor characters to count.", "Leave one of the two on."
            )
        self.words = words
        self.characters = characters
        self.model: Kind = model
        self.strength = strength  # null: tuned

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        self.parts = self._counters()
        self._rows = train.records.height
        train, dev = sampled(train, MOST_ROWS, seed), sampled(dev, MOST_ROWS, seed)
        texts = texts_of(train.records)
        counted = [part.fit(texts) for part in self.parts]
        dev_texts = [texts_of(dev.records)] if dev.labels else []
        matrix = beside(self.parts, [texts, *dev_texts], counted)
        self.linear = Linear(self.model, self.strength)
        self.linear.fit(matrix, train.labels, dev_labels=dev.labels, seed=seed)

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        return self.linear.predict(self._matrix(records))

    def weights(self, text: str, label: str) -> list[tuple[str, float]]:
        """The words of `text` as they are typed, each with what it adds to the margin of `label`:
        its terms, those inside it, and half of each pair of words. They add up to the margin but
        for its intercept.
        """
        words = words_of(text)
        if not words:
            return []
        effect = self._matrix(pl.DataFrame({"text": [text]})).toarray()[0]
        effect = effect * self.linear.toward(label)
        pairs = [f"{word} {other}" for word, other in pairwise(words)]
        weights, first = np.zeros(len(words)), 0
        for part in self.parts:
            single = part.terms.count(pl.Series(words))
            shares = [single.select("row", "term", share=pl.col("n").cast(pl.Float64))]
            if isinstance(part.terms, Words) and pairs:
                double = part.terms.count(pl.Series(pairs)).filter(pl.col("term").str.contains(" "))
                half = pl.col("n") / 2
                shares += [double.select(pl.col("row") + k, "term", share=half) for k in (0, 1)]
            terms = pl.concat(shares).join(part.vocabulary, on="term")
            share = terms["share"] / terms.select(pl.col("share").sum().over("term")).to_series()
            columns = first + terms["column"].to_numpy()
            weights += np.bincount(
                terms["row"].to_numpy(), share.to_numpy() * effect[columns], minlength=len(words)
            )
            first += part.vocabulary.height
        return list(zip(words, weights.tolist(), strict=True))

    def learned(self) -> JsonObject:
        vocabularies = {f"part {number}": part.learned() for number, part in enumerate(self.parts)}
        return {**vocabularies, "linear": self.linear.learned()}

    def recall(self, learned: Learned) -> None:
        self.parts = self._counters()
        for number, part in enumerate(self.parts):
            part.use(learned.part(f"part {number}").table("terms", part.schema))
        self.linear = Linear(self.model, self.strength)
        self.linear.recall(
            learned.part("linear"), width=sum(part.vocabulary.height for part in self.parts)
        )

    def remarks(self, records: pl.DataFrame) -> list[str]:
        if self._rows <= MOST_ROWS:
            return []
        return [
            f"The model learnt from a random sample of about {MOST_ROWS:,} of {self._rows:,}"
            " training rows."
        ]

    def _counters(self) -> list[TfIdf]:
        words = [TfIdf(Words(), most=200_000)] if self.words else []
        return words + ([TfIdf(Characters(), most=300_000)] if self.characters else [])

    def _matrix(self, records: pl.DataFrame) -> Sparse:
        return beside(self.parts, [texts_of(records)])


DETECTOR = Tfidf


def sampled(part: Part, most: int, seed: int) -> Part:
    """About `most` of the rows, in their order: a random share of each class, the same for all but
    rare classes.
    """
    if len(part.labels) <= most:
        return part
    labels, rng, rows = np.asarray(part.labels), np.random.default_rng(seed), []
    for name in np.unique(labels):
        of_class = np.flatnonzero(labels == name)
        size = max(
            round(most * len(of_class) / len(labels)), min(FEWEST_ROWS_OF_CLASS, len(of_class))
        )
        rows.append(rng.choice(of_class, size, replace=False))
    chosen = np.sort(np.concatenate(rows))
    return Part(part.records[chosen], labels[chosen].tolist())
