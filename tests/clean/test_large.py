"""What keeps a large cleaning within memory must not change it: slices against the whole, and empty
columns.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import claimlab as cl
from claimlab.clean.recipe import STEPS
from claimlab.clean.step import Outcome
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.core.record import slim, to_records
from claimlab.text import rows

TEXTS = [
    "The ferry sank in the harbour on Tuesday.", "THE FERRY  sank in the harbour on Tuesday.", "https://example.org/a",
    "Too short", None, "Der Rat hat die Brücke über den Fluss am Montag wieder geöffnet.", "A ferry, https://example.org/b",
    "The bridge over the river was opened again on Monday by the council.",
]  # fmt: skip


@pytest.fixture
def data() -> Dataset:
    count = len(TEXTS)
    frame = pl.DataFrame(
        {"id": [f"r{i}" for i in range(count)], "text": TEXTS, "veracity": ["true", "false"] * 4}
    )
    return Dataset.build("made-up", frame)


@pytest.mark.parametrize("size", [1, 3, 8])
def test_slices_give_what_the_whole_gives(
    data: Dataset, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = cl.clean(data)
    monkeypatch.setattr(rows, "ROWS_PER_SLICE", size)
    parts = cl.clean(data)
    assert parts.dataset.digest() == whole.dataset.digest()
    assert parts.stages.equals(whole.stages)
    assert whole.total("dropped") == 1  # only a URL
    assert whole.total("doubtful") == 4  # the same text under two labels, two too short


def test_nothing_is_sliced_where_there_is_nothing() -> None:
    outcome = STEPS.get("too-short")().apply(
        to_records(pl.DataFrame({"id": [], "text": []}, schema=["id", "text"]))
    )
    assert outcome.kept.height == outcome.dropped.height == 0


def test_a_slim_table_is_the_same_table(data: Dataset, tmp_path: Path) -> None:
    data.write(tmp_path / "data")
    read = pl.read_parquet(tmp_path / "data" / "records.parquet")
    assert slim(read).equals(read)
    assert slim(read).schema == read.schema
    assert slim(read.clear()).schema == read.schema


def test_a_lost_or_repeated_record_is_noticed(data: Dataset) -> None:
    records = data.records
    whole = Outcome.of(records)
    whole.account(records, "sound")
    Outcome.of(records.sample(fraction=1, shuffle=True, seed=1)).account(records, "shuffled")
    wrong = [records[1:], pl.concat([records, records[:1]]), pl.concat([records[1:], records[1:2]])]
    for kept in wrong:
        with pytest.raises(ClaimlabError, match="lost or repeated records"):
            Outcome.of(kept).account(records, "faulty")
