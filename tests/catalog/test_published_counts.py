"""Rows and label shares against what the publishers state: a part of a dataset must not pass for
the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from claimlab.catalog.load import DATASETS, load
from claimlab.catalog.notes import rows_note
from claimlab.core.errors import UnreadableFile


def test_row_counts_are_compared_with_the_published_ones(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    rows = [
        f'{{"example_id":{n},"statement":"s","french":"f","label":"true"}}' for n in range(1_957)
    ]
    source = write(tmp_path, {"LIAR-New.jsonl": "\n".join(rows)})
    assert not [n for n in load("liar-new", source).notes if n.startswith("Published")]
    assert not [n for n in load("liar-new", source, limit=5).notes if n.startswith("Published")]
    write(tmp_path, {"LIAR-New.jsonl": "\n".join(rows[:900])})
    assert any(
        n.startswith("Published: 1,957 rows, found: 900.")
        for n in load("liar-new", source, limit=5).notes
    )


def test_the_tolerance_is_one_in_fifty() -> None:
    entry = DATASETS.get("fa-kes")
    assert rows_note(entry, "articles", 804 - 16) == []
    assert rows_note(entry, "articles", 804 - 17) != []
    assert rows_note(DATASETS.get("bluff"), "human", 1) == []  # nobody states or counted it


def test_fewer_rows_than_were_counted_are_a_part() -> None:
    liar = DATASETS.get("liar")
    [note] = rows_note(liar, "statements", 3)
    assert note.startswith("Counted in the published files: 12,836 rows, found: 3.")
    assert rows_note(liar, "statements", 12_836) == []
    averitec = DATASETS.get("averitec")  # counted without the development part
    assert rows_note(averitec, "claims", 3_068) == []
    assert rows_note(averitec, "claims", 3_568) == []
    assert rows_note(averitec, "claims", 500) != []


def test_a_part_that_is_absent_is_named(tmp_path: Path, write: Callable[..., Path]) -> None:
    row = '[{"claim": "The bridge at Northport fell.", "type_of_image": "fake"}]'
    notes = load("5pils", write(tmp_path, {"train.json": row})).notes
    assert "Not among these files: val.json, test.json." in notes


PUBLISHED_LABELS = {
    "liar-new": {
        "false": 1067,
        "pants-fire": 359,
        "barely-true": 237,
        "half-true": 147,
        "mostly-true": 99,
        "true": 48,
    },
    "benjaminpoliticalnews": {"real": 53 + 75, "fake": 48 + 75, "satire": 75},
    "banfakenews": {"1": 48_678 + 7_202, "0": 2 * 1_299},
    "ti-cnn": {"real": 8_074, "fake": 11_941},
}


@pytest.mark.parametrize("name", PUBLISHED_LABELS)
def test_the_guides_map_gives_the_guides_shares(name: str) -> None:
    entry = DATASETS.get(name)
    tally = dict.fromkeys(("true", "false", "mixed", "unknown"), 0)
    for raw, n in PUBLISHED_LABELS[name].items():
        verdict = entry.maps["cdl"].verdict(raw)
        assert verdict is not None
        tally[verdict] += n
    assert entry.card.shares is not None
    for verdict, share in entry.card.shares.model_dump().items():
        assert round(100 * tally[verdict] / sum(tally.values()), 2) == pytest.approx(
            share or 0, abs=0.011
        )


@pytest.mark.parametrize(
    ("name", "file", "content", "words"),
    [
        ("averitec", "train.json", '[{"claim": "The bridge fell."}]', "no 'reporting_source'"),
        ("ct-fan", "train.csv", "claim,label\nThe bridge fell.,fake\n", "no column 'title_text'"),
        ("checkthat-2025-subjectivity", "a.tsv", "text\tlabel\na\tb\n", "the name of a published"),
    ],
)
def test_files_of_another_dataset_are_refused(
    name: str, file: str, content: str, words: str, tmp_path: Path, write: Callable[..., Path]
) -> None:
    with pytest.raises(UnreadableFile, match=words):
        load(name, write(tmp_path, {file: content}))
