"""Several datasets as one: every record once and told apart, what they share counted on the right
side.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.exchange.merge import merge

HARBOUR = "The harbour of Northport froze over in the winter of 1931, and nobody could leave."
NEAR = HARBOUR.replace("winter", "winters")
RIVER = "The river flows uphill on Sundays, as the mayor said."


def dataset(name: str, texts: list[str | None], verdict: str = "true") -> Dataset:
    n = len(texts)
    return Dataset.build(
        name,
        pl.DataFrame(
            {
                "id": [str(i) for i in range(n)],
                "text": pl.Series(texts, dtype=pl.String),
                "veracity": [verdict] * n,
                "group": [None if i % 2 else f"g{i}" for i in range(n)],
                "split": ["train"] * n,
                "date": [datetime(2020, 1, 1)] * n,
                "meta": [None if i % 2 else json.dumps({"row": i}) for i in range(n)],
            }
        ),
    )


def shared(*parts: Dataset) -> list[str]:
    return merge(list(parts)).notes


def test_the_records_of_the_second_are_counted_not_those_of_the_first() -> None:
    """Three copies in A of one text of B are one record of B; two in B of one of A are two."""
    a = dataset("a", [HARBOUR, HARBOUR, HARBOUR, "Only in the first of the two."])
    b = dataset("b", [HARBOUR, "Only in the second of these two datasets."])
    assert shared(a, b) == [
        "1 of 2 records of 'b' has the same text or a near-duplicate in 'a': 1 the same text (case, punctuation and "
        "whitespace aside), 0 only nearly."
    ]
    assert shared(b, a)[0].startswith(
        "3 of 4 records of 'a' have the same text or a near-duplicate in 'b': 3 the same"
    )


def test_copies_within_the_second_are_all_counted() -> None:
    """Each has a near-duplicate in the first, though the search compares only the first of several
    same texts.
    """
    note = shared(
        dataset("a", [HARBOUR, RIVER]),
        dataset("b", [NEAR, NEAR, NEAR.upper(), RIVER.replace(",", " –")]),
    )
    assert note[0].startswith("4 of 4 records of 'b' have")
    assert note[0].endswith(
        ": 1 the same text (case, punctuation and whitespace aside), 3 only nearly."
    )


def test_nothing_shared_is_said_and_a_missing_text_is_shared_by_none() -> None:
    note = shared(dataset("a", [HARBOUR, None, ""]), dataset("b", [None, "", RIVER]))
    assert note[0].startswith("0 of 3 records of 'b' have the same text")


def test_every_two_of_three_datasets_are_compared() -> None:
    """The same text in all three: the second and the third share it too, not only each with the
    first.
    """
    notes = shared(
        dataset("a", [HARBOUR]),
        dataset("b", [HARBOUR, RIVER]),
        dataset("c", [HARBOUR, RIVER, RIVER]),
    )
    assert [note.split(" the same text")[0] for note in notes] == [
        "1 of 2 records of 'b' has",
        "1 of 3 records of 'c' has",
        "3 of 3 records of 'c' have",
    ]
    assert [note.split(" in ")[1][:3] for note in notes] == ["'a'", "'a'", "'b'"]


def test_records_keep_their_order_and_get_the_name_of_their_dataset() -> None:
    merged = merge(
        [dataset("b", [RIVER, HARBOUR, None]), dataset("a", [HARBOUR], "false")], name="both"
    )
    assert merged.name == "both"
    assert merged.records["id"].to_list() == ["b/0", "b/1", "b/2", "a/0"]
    assert merged.records["text"].to_list() == [RIVER, HARBOUR, None, HARBOUR]
    assert merged.records["veracity"].to_list() == ["true", "true", "true", "false"], (
        "a conflict is kept, not settled"
    )
    assert merged.records["group"].to_list() == ["b/g0", None, "b/g2", "a/g0"], (
        "no group is none, also with a name"
    )
    assert merged.records["split"].null_count() == 4
    assert [json.loads(meta) for meta in merged.records["meta"]] == [
        {"row": 0, "merged_from": "b"},
        {"merged_from": "b"},
        {"row": 2, "merged_from": "b"},
        {"row": 0, "merged_from": "a"},
    ]


def test_what_was_made_of_one_dataset_shares_its_groups() -> None:
    one, other = dataset("a", [HARBOUR, RIVER]), dataset("b", [RIVER])
    one.lineage = [Lineage(step="load", inputs={"a.zip": "1"})]
    other.lineage = [Lineage(step="load", inputs={"b.zip": "2"})]
    made = dataset("a-rewritten", [RIVER])
    made.lineage = [*one.lineage, Lineage(step="rewrite")]
    made.tables["groups"] = pl.DataFrame({"group": ["g0"]})
    merged = merge([one, other, made])
    assert merged.records["id"].to_list() == ["a/0", "a/1", "b/0", "a-rewritten/0"]
    assert merged.records["group"].to_list() == ["a/g0", None, "b/g0", "a/g0"]
    assert merged.tables["groups"]["group"].to_list() == ["a/g0"]


def test_side_tables_point_at_the_renamed_records() -> None:
    parts = []
    for name in ("a", "b"):
        part = dataset(name, [HARBOUR])
        part.tables["evidence"] = pl.DataFrame(
            {"record_id": ["0"], "evidence_id": ["e"], "text": [f"says {name}"]}
        )
        parts.append(part)
    parts[1].tables["groups"] = pl.DataFrame({"group": ["g0", None]}, schema={"group": pl.String})
    merged = merge(parts)
    evidence = merged.tables["evidence"]
    assert evidence["record_id"].to_list() == ["a/0", "b/0"]
    assert evidence["evidence_id"].to_list() == ["a/e", "b/e"]
    assert evidence["text"].to_list() == ["says a", "says b"]
    assert merged.tables["groups"]["group"].to_list() == ["b/g0", None]


def test_lineage_licence_and_notes_of_the_parts_come_along(tmp_path: Path) -> None:
    one, two = dataset("a", [HARBOUR]), dataset("b", [RIVER, RIVER])
    one.licence, two.synthetic, two.notes = "CC-BY-4.0", True, ["Taken from a file."]
    one.write(tmp_path / "a")
    two.write(tmp_path / "b")
    merged = merge([tmp_path / "a", str(tmp_path / "b")], output=tmp_path / "m")
    step = merged.lineage[-1]
    assert step.step == "merge"
    assert step.parameters == {"datasets": ["a", "b"], "name": "a+b"}
    assert step.counts == {"a": 1, "b": 2}
    assert step.inputs == {"a": one.digest(), "b": two.digest()}
    assert merged.licence == "a: CC-BY-4.0"
    assert merged.synthetic
    assert merged.notes[0] == "b: Taken from a file."
    assert Dataset.open(tmp_path / "m").records.equals(merged.records)


def test_one_dataset_or_two_of_a_name_are_refused() -> None:
    with pytest.raises(UsageError, match="alone cannot be merged"):
        merge([dataset("a", [HARBOUR])])
    with pytest.raises(UsageError, match="called 'a'"):
        merge([dataset("a", [HARBOUR]), dataset("a", [RIVER])])


def test_datasets_of_one_family_are_named(tmp_path: Path) -> None:
    parts = [
        Dataset.build(name, pl.DataFrame({"id": ["1"], "text": [f"text of {name}"]}), card=name)
        for name in ("liar", "liar-plus", "isot")
    ]
    notes = " ".join(merge(parts).notes)
    assert "'liar' and 'liar-plus' are one family" in notes
    assert "'isot' are" not in notes


def test_labels_that_two_maps_read_differently_are_named() -> None:
    """Barely true is true to one map and false to the other; 1 is a code, and no word."""
    parts = []
    for name, verdict in (("a", "true"), ("b", "false")):
        made = dataset(name, [HARBOUR, RIVER], verdict)
        made.records = made.records.with_columns(label_raw=pl.Series(["Barely-true", "1"]))
        made.lineage = [Lineage(step="load", parameters={"map": f"words/{name}@2"})]
        parts.append(made)
    assert shared(*parts)[0] == (
        "'a' and 'b' have other label maps, words/a and words/b, for 'barely true' (true and"
        " false): load both with one map."
    )
