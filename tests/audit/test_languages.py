"""What an audit finds in sets of several languages, by planted words."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from claimlab.audit.run import audit
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding

SYLLABLES = [f"{a}{b}" for a in ("ba", "ke", "lo", "mi", "nu", "ra") for b in ("dan", "fel", "gor", "hub", "jil")]  # fmt: skip
SIX = ("eng", "deu", "fra", "por", "tam", "ita")
Rows = list[tuple[str, str, str]]


def claims(n: int, language: str, plant: str | None = None, seed: int = 0) -> Rows:
    """Records with labels at random; `plant` is in 60% of the false ones and 5% of the true."""
    rng = np.random.default_rng([seed, n, SIX.index(language)])
    rows = []
    for _ in range(n):
        false = bool(rng.random() < 0.5)
        words = [language + word for word in rng.choice(SYLLABLES, 12)]
        if plant is not None and rng.random() < (0.6 if false else 0.05):
            words.insert(3, plant)
        rows.append((" ".join(words), "false" if false else "true", language))
    return rows


def keywords_in(rows: Rows) -> list[Finding]:
    records = pl.DataFrame(rows, schema=["text", "veracity", "language"], orient="row")
    ids = pl.Series([f"r{i}" for i in range(len(rows))])
    records = records.with_columns(id=ids, label_raw="veracity")
    return audit(Dataset.build("planted", records), checks=["keywords"]).findings


@pytest.mark.parametrize("german", [0, 1, 10, 100])
def test_a_german_record_does_not_hide_an_english_word(german: int) -> None:
    found = keywords_in([*claims(500, "eng", "die"), *claims(german, "deu")])[0]
    assert found.verdict == "fail"
    assert "die" in [row["word"] for row in found.details["words"][:3]]  # type: ignore[index, call-overload, union-attr]


def test_a_word_of_one_language_is_found_there_and_the_finding_names_it() -> None:
    rows = [row for code in SIX for row in claims(120, code, "alarm" if code == "ita" else None)]
    pooled, own = keywords_in(rows)
    assert own.verdict == "fail"
    assert own.why.startswith("In Italian, one of 6 languages")
    assert "'alarm'" in own.why
    assert "No stop words are known for Tamil" in pooled.why


@pytest.mark.slow
def test_shuffled_labels_raise_no_alarm_in_any_language() -> None:
    for seed in range(20):
        rows = [row for code in SIX for row in claims(120, code, seed=seed)]
        assert {f.verdict for f in keywords_in(rows)} <= {"pass", "inconclusive"}


MARKS = {"ara": "؟", "hin": "।", "ben": "।", "zho": "。", "urd": "۔", "spa": "¿", "jpn": "！", "amh": "።"}  # fmt: skip
LETTERS = {"ara": "سلام", "hin": "भारत", "ben": "বাংলা", "zho": "中文", "urd": "اردو", "spa": "año", "jpn": "日本", "amh": "አማር"}  # fmt: skip


@pytest.mark.parametrize("language", MARKS)
def test_a_mark_of_the_script_that_tells_false_from_true_fails(language: str) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(400):
        false = bool(rng.random() < 0.5)
        words = [
            "".join(rng.choice(list(LETTERS[language]), rng.integers(2, 6))) for _ in range(12)
        ]
        mark = MARKS[language] if rng.random() < (0.6 if false else 0.05) else ""
        rows.append((f"{' '.join(words)}{mark}", "false" if false else "true", language))
    records = pl.DataFrame(rows, schema=["text", "veracity", "language"], orient="row")
    ids = pl.Series([f"r{i}" for i in range(len(rows))])
    planted = Dataset.build("planted", records.with_columns(id=ids, label_raw="veracity"))
    found = audit(planted, checks=["surface"]).findings
    assert {f.feature for f in found if f.verdict == "fail"} & {
        "script",
        "script, one-sided marks",
    }


def test_a_set_without_marks_of_other_scripts_has_no_finding_on_them() -> None:
    rows = claims(200, "eng")
    records = pl.DataFrame(rows, schema=["text", "veracity", "language"], orient="row")
    ids = pl.Series([f"r{i}" for i in range(len(rows))])
    plain = Dataset.build("plain", records.with_columns(id=ids, label_raw="veracity"))
    assert "script" not in [f.feature for f in audit(plain, checks=["surface"]).findings]
