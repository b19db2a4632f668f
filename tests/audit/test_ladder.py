"""The verdict ladder: every combination of findings has exactly one rung, the first that applies,
with the number that decides.
"""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.audit.advice import conclude
from claimlab.audit.ladder import (
    NAMES,
    Case,
    Defect,
    Grounds,
    LabelColumn,
    SplitTrial,
    TextModel,
    chance_of_mixed,
    place,
)
from claimlab.audit.result import Audit
from claimlab.audit.subject import Subject
from claimlab.audit.trial import is_about, label_columns
from claimlab.core.dataset import Dataset

CLASSES = {
    "none": {},
    "one": {"false": 400},
    "few": {"false": 400, "true": 29},
    "enough": {"false": 400, "true": 30},
}
BEGINNINGS = (
    "cannot be scored as veracity",
    "not usable for veracity: the label is the ",
    "usable on one split only, by source",
    "usable beside ",
    "usable after cleaning",
    "usable",
)


def defect(name: str, weighs: str, points: float = 40.0, **more: object) -> Defect:
    figures = {"fails": points > 5, "points": points, "least": points - 2, "score": 0.9}
    return Defect.model_validate({"name": name, "weighs": weighs, **figures, "chance": 0.5, **more})


def follows(column: str, **more: object) -> LabelColumn:
    """A column whose values each have one class."""
    figures = {
        "counted": "13 publishers",
        "values": 13,
        "both": 0,
        "recurring": 1.0,
        "mixed": 0.0,
        "chance": 0.99,
    }
    return LabelColumn.model_validate({"column": column, "split": column, **figures, **more})


def trial(name: str, why_not: str | None = None, **more: object) -> SplitTrial:
    figures = {"sides": {"test": {"a": 1, "b": 1}}, "test": "140 records of 9 publishers"}
    return SplitTrial.model_validate(
        {"name": name, "by": "column", "why_not": why_not, **figures, **more}
    )


COLUMNS = {
    "mixed": [follows("source", origin=True, mixed=0.06)],
    "chance": [follows("source", origin=True, chance=0.0)],
    "rare": [follows("source", origin=True, recurring=0.4)],
    "about": [follows("source", origin=True, about=True)],
    "origin": [follows("source", origin=True)],
    "stuck": [follows("topic")],
    "free": [follows("group")],
}
SOURCE = {
    "none": (None, None),
    "small": (defect("source", "column", 5.5, column="source"), trial("source")),
    "free": (defect("source", "column", column="source"), trial("source")),
    "stuck": (defect("source", "column", column="source"), trial("source", "too few")),
    "done": (defect("source", "column", column="source"), trial("source", done=True)),
}
TEXTS = (None, TextModel(score=0.92, chance=0.5), TextModel(score=0.5, chance=0.5, signal=False))


def test_every_combination_has_exactly_one_rung() -> None:
    """The rung is worked out apart, from what was planted."""
    seen = set()
    for classes, columns, source, masked, repaired, aside, left_out, text in product(
        CLASSES, COLUMNS, SOURCE, *(("none", "settled", "stays"),) * 2, (0, 1), (None, "9 of 99"), TEXTS
    ):  # fmt: skip
        found, split = SOURCE[source]
        parts = {"length": ("property", masked), "copies": ("repair", repaired)}
        before = [defect(name, kind) for name, (kind, state) in parts.items() if state != "none"]
        after = [defect(name, kind) for name, (kind, state) in parts.items() if state == "stays"]
        dropped = [defect("columns (meta.x)", "aside")] * aside
        held = [] if found is None else [found]
        trials = [trial("topic", "one class"), trial("group"), *([] if split is None else [split])]
        grounds = Grounds(
            classes=CLASSES[classes],
            columns=COLUMNS[columns],
            splits=trials,
            after=[*held, *after, *dropped],
            left_out=left_out,
            text=text,
        )
        rung = place(Case("veracity", [*held, *before, *dropped], grounds))
        expected = (
            1 if classes != "enough"
            else 2 if columns in ("origin", "stuck")
            else 3 if source == "free"
            else 4 if source == "stuck" or "stays" in (masked, repaired)
            else 5 if left_out or aside or "settled" in (masked, repaired)
            else 6
        )  # fmt: skip
        assert rung.number == expected, (classes, columns, source, masked, repaired, rung)
        assert rung.words.startswith(BEGINNINGS[expected - 1])
        assert rung.name == NAMES[expected - 1]
        assert rung.sentence.endswith(".")
        seen.add(rung.number)
    assert seen == {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (Case("veracity", [], Grounds(classes={})), "Cannot be scored as veracity: no record has a label."),
        (Case("stance", [], Grounds(classes={"a": 12, "b": 90})),
         "Cannot be scored as stance: 12 records are 'a', and 30 of each class are needed."),
        (Case("veracity", [], Grounds(columns=[follows("source", origin=True)])),
         "Not usable for veracity: the label is the source. 0 of 13 publishers have more than one class (0.0% of"
         " their records; shuffled labels give 99%), so no split separates the two."),
        (Case("veracity", [SOURCE["free"][0], defect("length", "property", 21.0)], Grounds(splits=[trial("source")])),
         "Usable on one split only, by source: alone it reaches 90.0, chance 50.0. That split was made dry: every side"
         " has both classes, and its test 140 records of 9 publishers. Beside it: length (21.0 points)."),
        (Case("veracity", [defect("length", "property")],
              Grounds(after=[defect("length", "property", 20.0)], text=TextModel(score=0.95, chance=0.5))),
         "Usable beside length: alone it reaches 90.0, chance 50.0 also after the advised cleaning. A score says little:"
         " a text model reaches 95.0."),
        (Case("veracity", [defect("length", "property")], Grounds(text=TextModel(score=1.01, chance=0.5))),
         "Usable beside length: alone it reaches 90.0, chance 50.0. A text model reaches 101.0."),
        (Case("veracity", [defect("copies", "repair")], Grounds(after=[]), ["time"]),
         "Usable after cleaning: the advised cleaning settles copies (40.0 points). Audited again: nothing found."
         " Inconclusive: time."),
        (Case("veracity", [], Grounds(text=TextModel(score=0.5, chance=0.51, signal=False))),
         "Usable: no signal found, a text model does not beat shuffled labels (50.0, chance 51.0)."),
        (Case("veracity", [], Grounds(text=TextModel(score=0.8, chance=0.5, signal=True))),
         "Usable: nothing found. A text model learns from them (80.0, chance 50.0)."),
        (Case("veracity", [], Grounds(checks=2)), "Usable as far as 2 checks can tell: nothing found."),
        (Case("veracity", [defect("near-duplicates (across a random split)", "column", 0.3, column="near-duplicates")],
              Grounds(classes={"a": 40, "b": 60}, drawn_of=1_000)),
         "Usable: nothing gives the label away. Small: near-duplicates (across a random split) (0.3 points). Judged by 100"
         " labelled records, drawn at random from 1,000 records."),
    ],
)  # fmt: skip
def test_a_rung_says_the_number_that_decides(case: Case, words: str) -> None:
    assert place(case).sentence.removesuffix(" ") == words


def test_the_share_of_mixed_values_is_what_shuffled_labels_give() -> None:
    sizes, rng = [2, 3, 7, 40], np.random.default_rng(0)
    label = rng.random((20_000, sum(sizes))) < 0.3
    ends = np.cumsum([0, *sizes])
    parts = [label[:, a:b] for a, b in pairwise(ends)]
    mixed = [(part.any(axis=1) & ~part.all(axis=1)).mean() * part.shape[1] for part in parts]
    expected = chance_of_mixed(sizes, {"true": 0.3, "false": 0.7})
    assert sum(mixed) / sum(sizes) == pytest.approx(expected, abs=0.01)


def test_columns_that_the_labels_follow_are_found_in_records() -> None:
    n = 240
    rows = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)],
            "text": [f"claim number {i}" for i in range(n)],
            "veracity": ["true" if i % 2 else "false" for i in range(n)],
            "source": [f"s{i % 12}" for i in range(n)],  # each of one class
            "author": [f"a{i // 4}" for i in range(n)],  # each of both
            "url": [f"https://www.only{i}.example/" for i in range(n)],  # none recurs
            "meta": [f'{{"speaker": "p{i % 6}"}}' for i in range(n)],
        }
    )
    found = {each.column: each for each in label_columns(Subject.of(Dataset.build("x", rows)))}
    assert set(found) == {"source", "author", "speaker"}
    assert (found["source"].both, found["source"].values, found["source"].mixed) == (0, 12, 0.0)
    assert found["source"].is_label
    assert found["speaker"].is_label
    assert found["author"].mixed == 1.0
    assert not found["author"].is_label
    assert found["author"].chance == pytest.approx(1 - 2 * 0.5**4)


def test_a_task_about_a_column_is_not_refused_for_it() -> None:
    assert is_about("source", "source")
    assert is_about("publisher-reliability", "source")
    assert is_about("meta.speaker_credibility", "meta.speaker")
    assert not is_about("veracity", "source")
    assert not is_about("claim-detection", "source")


def test_a_saved_audit_says_the_same() -> None:
    dataset, _ = planted()
    audited = cl.audit(dataset, checks=["source", "length", "near-duplicates"])
    again = Audit.from_json(audited.to_json())
    assert again.conclusion.verdict == audited.conclusion.verdict
    assert again.grounds == audited.grounds
    old = {key: value for key, value in audited.to_json().items() if key != "grounds"}
    assert Audit.from_json(old).conclusion.verdict.number in (3, 4)


def test_without_findings_nothing_is_known() -> None:
    assert conclude([]).usable == "Usable as far as known: nothing could be measured."
