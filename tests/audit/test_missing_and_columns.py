"""A column that is filled for one class only, and keys of `meta` that carry the label, are found
without being named.
"""

from __future__ import annotations

import json

import numpy as np
import polars as pl

import claimlab as cl
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.clean.recipe import parse_recipe
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding

N = 600


def made(**columns: object) -> Dataset:
    rng = np.random.default_rng(5)
    words = np.array(
        [
            "bridge",
            "mayor",
            "school",
            "river",
            "market",
            "train",
            "museum",
            "garden",
            "harbour",
            "tower",
        ]
    )
    texts = [" ".join(rng.choice(words, 12)) + f" {i}" for i in range(N)]
    labels = rng.permutation(["true", "false"] * (N // 2)).tolist()
    base = {"id": [f"r{i}" for i in range(N)], "text": texts, "veracity": labels}
    filled = {name: values(labels, rng) for name, values in columns.items()}  # type: ignore[operator]
    return Dataset.build("made", pl.DataFrame({**base, **filled}))


def findings(dataset: Dataset, check: str) -> list[Finding]:
    return audit(dataset, checks=[check], debug=True).findings


def test_a_column_that_is_empty_for_one_class_fails() -> None:
    data = made(
        author=lambda labels, rng: [
            None if y == "false" and rng.random() < 0.9 else "Ana" for y in labels
        ]
    )
    (finding,) = findings(data, "missing")
    assert finding.verdict == "fail"
    assert finding.details["filled"][0]["column"] == "author"


def test_a_column_that_is_empty_at_random_does_not() -> None:
    data = made(author=lambda labels, rng: [None if rng.random() < 0.5 else "Ana" for _ in labels])
    (finding,) = findings(data, "missing")
    assert finding.verdict in ("pass", "inconclusive")


def test_where_every_column_is_filled_there_is_nothing_to_test() -> None:
    (finding,) = findings(made(author=lambda labels, _: ["Ana"] * len(labels)), "missing")
    assert finding.verdict == "not-applicable"


def test_a_key_of_meta_that_carries_the_label_is_found_unnamed() -> None:
    data = made(
        meta=lambda labels, _: [
            json.dumps({"grade": "A" if y == "true" else "F", "line": i})
            for i, y in enumerate(labels)
        ]
    )
    by_key = {f.feature: f.verdict for f in findings(data, "columns")}
    assert by_key["meta.grade"] == "fail"
    assert by_key["meta.line"] in ("pass", "inconclusive")


def test_keys_that_say_nothing_are_named_in_one_finding() -> None:
    data = made(
        meta=lambda labels, _: [
            json.dumps({"hash": f"x{i}z", "site": "one"}) for i in range(len(labels))
        ]
    )
    (finding,) = findings(data, "columns")
    assert finding.verdict == "not-measured"
    assert "meta.hash, meta.site" in finding.why


def test_keys_beyond_the_bound_are_named_and_can_be_asked_for() -> None:
    def many(labels: list[str], _: object) -> list[str]:
        return [
            json.dumps({f"k{n:02}": (i * n) % 7 for n in range(1, 26)}) for i in range(len(labels))
        ]

    data = made(meta=many)
    left_out = [f for f in findings(data, "columns") if f.verdict == "not-measured"]
    assert "meta.k25" in left_out[-1].why
    named = audit(data, checks=["columns"], columns=["meta.k25"], debug=True).findings[0]
    assert (named.feature, named.verdict != "not-measured") == ("meta.k25", True)


def test_what_claimlab_notes_of_synthetic_text_is_no_column_of_the_data() -> None:
    note = json.dumps({"synthetic": {"label": "false"}})
    data = made(meta=lambda labels, _: [note if y == "false" else None for y in labels])
    for check in ("missing", "columns", "text-columns"):
        assert [one.verdict for one in findings(data, check)] == ["not-applicable"], check


GROUPING = parse_recipe('[[steps]]\nstep = "near-duplicates"', "near")


def near_copies(**columns: list[str | None]) -> Dataset:
    """60 stories of one class each, told in five nearly equal texts, and 100 others."""
    texts = [f"The mayor of Ostrel sold the mill number {i // 5} by night {i}" for i in range(300)]
    texts = [f"{text} {chr(97 + i // 5 % 26) * 9} {i // 5 * 7919}" for i, text in enumerate(texts)]
    texts += [" ".join(f"w{i}x{k}" for k in range(9)) for i in range(100)]
    labels = [("true", "false")[i // 5 % 2] for i in range(300)] + ["true", "false"] * 50
    rows = {"id": [f"r{i}" for i in range(400)], "text": texts, "veracity": labels}
    return Dataset.build("near", pl.DataFrame(rows | columns))


def test_groups_that_cleaning_made_of_near_copies_are_no_column_of_the_data() -> None:
    cleaned = cl.clean(near_copies(), GROUPING).dataset
    assert cleaned.records["group"].count() >= 300
    every = audit(cleaned, checks=["event", "missing", "columns"], columns=["group"], debug=True)
    assert {one.verdict for one in every.findings} == {"not-applicable"}
    assert "Left out: 300 records in groups that cleaning made" in every.findings[0].why
    assert not every.examples
    subject = Subject.of(cleaned)
    groups = pl.DataFrame({"made": cleaned.records["group"], "kept": subject.groups}).drop_nulls()
    assert groups.group_by("made").agg(pl.col("kept").n_unique())["kept"].max() == 1
    other = Dataset.build("other", made().records)
    for later in (cl.split(cleaned, "random").dataset, cl.merge([cleaned, other])):
        assert Subject.of(later).rows["group"].null_count() == len(later)


def test_groups_of_the_data_stay_a_column_of_it() -> None:
    own = [f"event {i // 5}" if i < 100 else None for i in range(400)]
    cleaned = cl.clean(near_copies(group=own), GROUPING).dataset
    (finding,) = findings(cleaned, "event")
    assert (finding.n, finding.verdict) == (100, "fail")
