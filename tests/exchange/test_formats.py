"""The contract of export formats, walked for every one that the registry finds: it writes the same
bytes twice, declares its losses, and every road back loses what is declared, nothing else, and not
less: so the docs cannot rot.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.core.record import SCHEMA, meta_json
from claimlab.exchange.export import read_export
from claimlab.exchange.format import FORMATS, FormatSettings, Lossless, Road

ROOT = Path(__file__).resolve().parents[2]
N = 24
WORDS = ("bridge", "harbour", "mill", "school", "market", "tower", "garden", "station")


@pytest.fixture
def full() -> Dataset:
    """A dataset in which every column, side table and fact says something, so that each loss can be
    seen.
    """
    made = [i % 3 == 2 for i in range(N)]
    origin = {
        "synthetic": {
            "label": "altered",
            "origin": {"model": "none"},
            "changes": [{"kind": "number"}],
        }
    }
    columns = {
        "id": [f"x{i:02d}" for i in range(N)],
        "text": [
            f"The {WORDS[i % 8]} of Riverton was closed for {i + 2} days by the council."
            for i in range(N)
        ],
        "kind": ["claim" if i % 4 else "post" for i in range(N)],
        "label_raw": [("True", "False")[i % 2] for i in range(N)],
        "veracity": [("true", "false")[i % 2] for i in range(N)],
        "language": [("eng", "por")[i % 2] for i in range(N)],
        "date": [datetime(2021, 3, 1 + i, 4, 5, 6) for i in range(N)],
        "date_source": ["stated"] * N,
        "tweet_id": [str(10**18 + i) for i in range(N)],
        "author": [f"Office {i % 5}" for i in range(N)],
        "source": [f"The Riverton Post {i % 2}" for i in range(N)],
        "url": [f"https://post.example/{i}" for i in range(N)],
        "topic": [("roads", "schools")[i % 2] for i in range(N)],
        "group": [f"g{i // 2}" for i in range(N)],
        "authorship": ["MGT" if m else "HWT" for m in made],
        "split": [("test", "train", "dev")[i % 3] for i in range(N)],
        "meta": [meta_json({"views": i, **(origin if m else {})}) for i, m in enumerate(made)],
    }
    evidence = pl.DataFrame(
        {
            "record_id": columns["id"][:20],
            "evidence_id": [f"e{i}" for i in range(20)],
            "publisher": ["Riverton Facts"] * 20,
            "url": [f"https://facts.example/{i}" for i in range(20)],
            "published": [datetime(2021, 4, 1 + i) for i in range(20)],
            "rating": columns["label_raw"][:20],
        }
    )
    return Dataset.build(
        "full",
        pl.DataFrame(columns),
        {"evidence": evidence},
        card="liar",
        licence="MIT",
        synthetic=True,
        notes=["Planted."],
        lineage=[Lineage(step="import", parameters={"a": 1}, inputs={"a.csv": "0" * 64})],
    )


def losses(before: Dataset, after: Dataset) -> set[str]:
    """The parts of a dataset that are not what they were. A lineage that has grown is not lost; nor
    are more notes.
    """
    ids, back = before.records["id"].to_list(), after.records["id"].to_list()
    lost = set()
    if not set(ids) <= set(back):
        lost.add("records")
    if [i for i in ids if i in set(back)] != back:
        lost.add("order")
    both = before.records.select("id").join(after.records.select("id"), on="id")
    assert both.height, "no record came back by its id"
    one, two = (
        both.join(d.records, on="id", how="left", maintain_order="left") for d in (before, after)
    )
    lost |= {c for c in SCHEMA if not one[c].equals(two[c], null_equal=True)}
    if any(
        not t.equals(after.tables.get(n, pl.DataFrame()), null_equal=True)
        for n, t in before.tables.items()
    ):
        lost.add("side tables")
    lost |= {
        part
        for part in ("name", "card", "licence", "synthetic")
        if getattr(before, part) != getattr(after, part)
    }
    if not set(before.notes) <= set(after.notes):
        lost.add("notes")
    if after.lineage[: len(before.lineage)] != before.lineage:
        lost.add("lineage")
    return lost


def by_import(data: Path, folder: Path, work: Path) -> Dataset:
    return cl.import_files(folder)[0]


def by_datasets(data: Path, folder: Path, work: Path) -> Dataset:
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(folder), cache_dir=str(work / "cache"))
    loaded.save_to_disk(str(work / "disk"))
    return cl.import_files(work / "disk")[0]


def by_identifier(data: Path, folder: Path, work: Path) -> Dataset:
    return cl.import_files(folder, id="identifier")[0]


def by_log(data: Path, folder: Path, work: Path) -> Dataset:
    """The log of a harness in which every question is answered right."""
    rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text("utf-8").splitlines()]
    if (folder / "task.py").is_file():
        return answered(data, inspect_log(rows, work), len(rows))
    lines = [json.dumps({"doc": row, "filtered_resps": [row["target"]]}) for row in rows]
    (work / "samples_x.jsonl").write_text("\n".join(lines), "utf-8")
    return answered(data, work / "samples_x.jsonl", len(rows))


def inspect_log(rows: list[dict[str, Any]], work: Path) -> Path:
    samples = [
        {
            **row,
            "scores": {"choice": {"answer": row["target"]}},
            "output": {"completion": row["target"]},
        }
        for row in rows
    ]
    log = {"eval": {"model": "m"}, "samples": samples}
    (work / "log.json").write_text(json.dumps(log), "utf-8")
    return work / "log.json"


def answered(data: Path, log: Path, n: int) -> Dataset:
    """The run of a log in which every answer is right."""
    run = cl.detect(data, predictions=log)
    assert run.report["scores"]["accuracy"] == 1
    assert run.tables["predictions"].height == n
    return run


Back = Callable[[Path, Path, Path], Dataset]
ROADS: dict[str, Back] = {  # by the call that a format declares
    "cl.import_files(DIR)": by_import,
    "load_dataset(DIR).save_to_disk(DISK); cl.import_files(DISK)": by_datasets,
    'cl.import_files(DIR, id="identifier")': by_identifier,
    "cl.detect(DATA, predictions=LOG)": by_log,
}
DECLARED = [(name, road) for name, form in FORMATS.all().items() for road in form.back]


@pytest.mark.parametrize(("to", "road"), DECLARED, ids=[f"{n}-{r.by}" for n, r in DECLARED])
def test_a_road_loses_what_it_declares_and_nothing_else(
    to: str, road: Road, full: Dataset, tmp_path: Path
) -> None:
    full.write(tmp_path / "data")
    cl.export(tmp_path / "data", to, tmp_path / "out")
    back = ROADS[road.by](tmp_path / "data", tmp_path / "out", tmp_path)
    assert sorted(losses(full, back)) == sorted(road.loses)


@pytest.mark.parametrize("to", FORMATS.names())
def test_a_format_writes_the_same_bytes_twice_and_says_what_it_is(
    to: str, full: Dataset, tmp_path: Path
) -> None:
    form = FORMATS.get(to)
    first, second = (cl.export(full, to, tmp_path / place) for place in "ab")
    assert first.files == second.files != {}
    assert first.to_json() == {**second.to_json(), "output": str(tmp_path / "a")}
    assert form.summary.endswith(".")
    assert "{}" in form.then
    held = [name for name in first.files for glob in form.records if Path(name).match(glob)]
    assert held, "`records` names no file that was written"
    assert form.accepts <= {setting.name for setting in fields(FormatSettings)}


@pytest.mark.parametrize("to", FORMATS.names())
def test_a_format_refuses_a_setting_that_it_does_not_take(
    to: str, full: Dataset, tmp_path: Path
) -> None:
    values: dict[str, Any] = {"bom": True, "task": "topic", "audit": "x", "split": "test"}
    for setting in values.keys() - FORMATS.get(to).accepts:
        with pytest.raises(UsageError, match=f"does not take `{setting}`"):
            cl.export(full, to, tmp_path / "out", **{setting: values[setting]})


def test_a_format_that_reads_loses_nothing(full: Dataset, tmp_path: Path) -> None:
    whole = [name for name, form in FORMATS.all().items() if isinstance(form, Lossless)]
    assert whole
    for to in whole:
        cl.export(full, to, tmp_path / to)
        assert losses(full, read_export(tmp_path / to)) == set()


def test_the_judge_of_losses_sees_each_one(full: Dataset) -> None:
    """A comparison that cannot fail would let the table rot."""
    assert losses(full, full) == set()
    for column in set(SCHEMA) - {"id", "dataset"}:
        other = full.derive(
            full.records.with_columns(pl.lit(None, SCHEMA[column]).alias(column)), full.lineage[0]
        )
        other.lineage = full.lineage
        assert losses(full, other) == {column}
    changes: dict[str, tuple[str, Any]] = {
        "licence": ("licence", None), "card": ("card", None), "synthetic": ("synthetic", False), "notes": ("notes", []),
        "lineage": ("lineage", []), "side tables": ("tables", {}), "order": ("records", full.records.reverse()),
        "records": ("records", full.records.head(9)), "name": ("name", "other"),
    }  # fmt: skip
    for part, (field, value) in changes.items():
        other = full.derive(full.records, full.lineage[0])
        other.lineage = full.lineage
        setattr(other, field, value)
        assert losses(full, other) == {part}


def test_the_docs_hold_the_table_of_roads() -> None:
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    assert table_of_losses() in page, "put the output of table_of_losses() into docs/export.md"


@pytest.mark.parametrize("to", ["csv", "jsonl"])
def test_an_edited_export_comes_back_with_its_edit(to: str, full: Dataset, tmp_path: Path) -> None:
    cl.export(full, to, tmp_path / "out")
    file = tmp_path / "out" / f"records.{to}"
    file.write_text(file.read_text("utf-8").replace("for 2 days", "for two days"), "utf-8")
    back, report = cl.import_files(tmp_path / "out", tmp_path / "back")
    assert losses(full, back) == {"text"}
    assert (
        back.records["text"][0] == "The bridge of Riverton was closed for two days by the council."
    )
    assert back.notes[-1] == report.notes[-1] == f"Edited since the export: records.{to}."
    assert [step.step for step in Dataset.open(tmp_path / "back").lineage] == [
        "import",
        "export",
        "import",
    ]


def test_an_export_with_a_new_column_is_read_like_any_table(full: Dataset, tmp_path: Path) -> None:
    cl.export(full, "csv", tmp_path / "out")
    lines = (tmp_path / "out" / "records.csv").read_text("utf-8").splitlines()
    lines = [f'{line},"{"mood" if i == 0 else "calm"}"' for i, line in enumerate(lines)]
    (tmp_path / "out" / "records.csv").write_text("\n".join(lines) + "\n", "utf-8")
    back, _ = cl.import_files(tmp_path / "out", label="label_raw", unmapped="unknown")
    assert back.licence == "MIT"
    assert json.loads(back.records["meta"][0])["mood"] == "calm"


def test_a_limit_and_the_whole_folder(full: Dataset, tmp_path: Path) -> None:
    cl.export(full, "hf", tmp_path / "out")
    back, report = cl.import_files(tmp_path / "out", limit=1)
    assert (back.records["id"].to_list(), back.tables["evidence"].height, report.left_by_limit) == (
        ["x00"],
        1,
        N - 1,
    )
    assert losses(full, read_export(tmp_path / "out")) == set()


def table_of_losses() -> str:
    """The table of docs/export.md: by which call an export comes back, and what is lost on the way.
    A row for every road back that a format declares.
    """
    rows = [
        f"| `{name}` | `{road.by}` | {_lost(road.loses)} |"
        for name, form in FORMATS.all().items()
        for road in form.back
    ]
    return "\n".join(["| format | back by | lost |", "| --- | --- | --- |", *rows])


def _lost(parts: Mapping[str, str]) -> str:
    named = [f"{part} ({which})" if which else part for part, which in parts.items()]
    return ", ".join(named) or "nothing"
