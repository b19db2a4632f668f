"""Machine-made text does not leave without its label, its origin and its change log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.exchange.export import export
from claimlab.exchange.format import FORMATS

WHOLE = {"synthetic": {"label": "false", "origin": {"model": "m"}, "changes": []}}
FLAT = {"synthetic": True, "origin": "m", "change_log": "invented"}


def made(
    meta: dict[str, Any] | None, authorship: str | None = "MGT", *, synthetic: bool = False
) -> Dataset:
    frame = pl.DataFrame(
        {
            "id": ["person", "machine"],
            "text": ["The bridge is open.", "The bridge is made of cheese."],
            "authorship": pl.Series(["HWT", authorship], dtype=pl.String),
            "meta": pl.Series(
                [None, json.dumps(meta) if meta is not None else None], dtype=pl.String
            ),
        }
    )
    return Dataset.build("made", frame, synthetic=synthetic)


@pytest.mark.parametrize("to", FORMATS.names())
def test_every_format_refuses_bare_machine_text(to: str, tmp_path: Path) -> None:
    with pytest.raises(
        DataError,
        match="1 machine-made row.*'machine' has no label and no origin and no change log",
    ):
        export(made(None), to, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    options: dict[str, Any] = {"task": "authorship"} if to in ("inspect", "lm-eval") else {}
    export(made(WHOLE), to, tmp_path / "out", **options)


@pytest.mark.parametrize("authorship", ["MGT", "MTT", "HAT"])
@pytest.mark.parametrize(
    ("meta", "lacking"),
    [
        ({"synthetic": {"origin": "m", "changes": []}}, "no label"),
        ({"synthetic": {"label": "x", "changes": []}}, "no origin"),
        ({"synthetic": {"label": "x", "origin": {}, "changes": []}}, "no origin"),
        ({"synthetic": {"label": "x", "origin": "m"}}, "no change log"),
        ({"synthetic": False, "origin": "m", "change_log": "x"}, "no label"),
        ({"synthetic": True, "change_log": "x"}, "no origin"),
        ({"synthetic": True, "origin": "m", "change_log": ""}, "no change log"),
    ],
)
def test_each_part_is_asked_for(
    meta: dict[str, Any], lacking: str, authorship: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=f"'machine' has {lacking} in its meta"):
        export(made(meta, authorship), "csv", tmp_path / "out")


@pytest.mark.parametrize("meta", [WHOLE, FLAT])
def test_both_spellings_are_known_and_leave_with_the_record(
    meta: dict[str, Any], tmp_path: Path
) -> None:
    export(made(meta), "jsonl", tmp_path / "out")
    rows = [
        json.loads(line)
        for line in (tmp_path / "out" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert rows[1]["authorship"] == "MGT"
    assert json.loads(rows[1]["meta"]) == meta


def test_in_a_synthetic_dataset_a_row_without_an_author_counts_as_made(tmp_path: Path) -> None:
    export(made(None, None), "csv", tmp_path / "unknown")
    with pytest.raises(DataError, match="'machine' has no label"):
        export(made(None, None, synthetic=True), "csv", tmp_path / "out")
    export(made(WHOLE, None, synthetic=True), "csv", tmp_path / "out")


def test_records_in_side_tables_are_asked_too(tmp_path: Path) -> None:
    dataset = made(WHOLE)
    dataset.tables["dropped"] = made(None).records
    with pytest.raises(DataError, match="In 'dropped', 1 machine-made row does not say what it is"):
        export(dataset, "csv", tmp_path / "out")
