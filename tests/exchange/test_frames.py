"""A data frame, rows or a file are accepted wherever a dataset is."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import claimlab as cl
from claimlab.core.errors import DataError, UsageError


def rows() -> list[dict[str, object]]:
    chance = random.Random(3)
    places = ("bridge", "river", "school")
    return [
        {
            "nr": n,
            "claim": f"The {chance.choice(places)} {chance.randint(1, 9999)} of town {n} is closed.",
            "rating": chance.choice(("true", "false")),
        }
        for n in range(80)
    ]


def of_datasets() -> object:
    return pytest.importorskip("datasets").Dataset.from_list(rows())


FORMS: dict[str, Callable[[], object]] = {
    "polars": lambda: pl.DataFrame(rows()),
    "lazy": lambda: pl.LazyFrame(rows()),
    "pandas": lambda: pytest.importorskip("pandas").DataFrame(rows()),
    "datasets": of_datasets,
    "dicts": rows,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_the_same_records(form: str) -> None:
    dataset, report = cl.import_files(FORMS[form](), text="claim", label="rating")  # type: ignore[arg-type]
    assert dataset["text"].to_list() == [row["claim"] for row in rows()]
    assert dataset["label_raw"].to_list() == [row["rating"] for row in rows()]
    assert (dataset.name, report.rows_read) == ("data", 80)


@pytest.mark.parametrize("form", FORMS)
def test_functions_take_a_table_and_its_columns(form: str) -> None:
    table = FORMS[form]()
    findings = cl.audit(table, checks="length", text="claim", label="rating")  # type: ignore[arg-type]
    assert findings.labelled == 80
    assert {finding.check for finding in findings.findings} == {"length"}


def test_other_functions_take_them_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    pl.DataFrame(rows()).write_csv(file)
    assert len(cl.clean(file).dataset) == 80
    assert set(cl.split(rows(), label="rating").dataset["split"]) == {"train", "dev", "test"}
    assert cl.audit(str(file), checks="length").dataset == "mine"
    assert cl.show(pl.DataFrame(rows())).headline().startswith("'data'")
    assert cl.export(rows(), "csv", tmp_path / "out").files


def test_a_map_is_a_dict_there_too() -> None:
    coded = [{**row, "rating": 1 if row["rating"] == "true" else 0} for row in rows()]
    with pytest.raises(DataError, match="map="):
        cl.audit(coded, checks="length", label="rating")
    findings = cl.audit(coded, checks="length", label="rating", map={"1": "true", "0": "false"})
    assert findings.labelled == 80


def test_rows_are_not_written_down_as_an_argument(tmp_path: Path) -> None:
    cl.clean(rows(), output=tmp_path / "cleaned")
    call = json.loads((tmp_path / "cleaned" / "call.json").read_text(encoding="utf-8"))
    assert call["arguments"]["data"] == {"$object": "rows"}


@pytest.mark.parametrize("wrong", [5, None, {"claim": "x"}, [1, 2]])
def test_a_wrong_type_is_a_sentence(wrong: object) -> None:
    with pytest.raises(UsageError, match=r"`data` cannot be of type \w+\. Pass a file or folder"):
        cl.audit(wrong, checks="length")  # type: ignore[arg-type]


def test_columns_are_for_what_is_imported() -> None:
    dataset = cl.import_files(rows())[0]
    with pytest.raises(UsageError, match="A dataset has its columns already: `label`"):
        cl.audit(dataset, label="rating")
