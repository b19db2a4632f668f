"""What `show` says of a folder, and what it does about edited files."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.cli.app import run
from claimlab.core.errors import FileChanged, SchemaError, UnknownName, UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cl.split(planted(size=150)[0], output=tmp_path / "data", seed=3)
    return tmp_path / "data"


def edit(folder: Path) -> None:
    records = pl.read_parquet(folder / "records.parquet")
    records.with_columns(pl.lit("edited").alias("topic")).write_parquet(folder / "records.parquet")


def test_a_dataset_is_counted_and_traced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(folder), "--limit", "2", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    dataset = cl.Dataset.open(folder)
    assert shown["kind"] == "dataset"
    assert shown["counts"]["records"] == len(dataset)
    assert shown["counts"]["split"] == dict(dataset.records["split"].value_counts().rows())
    assert shown["lineage"][-1]["step"] == "split"
    assert shown["dates"] == [
        str(dataset.records["date"].min())[:10],
        str(dataset.records["date"].max())[:10],
    ]
    assert [row["id"] for row in shown["records"]] == dataset.records["id"].head(2).to_list()
    assert run(["show", str(folder), "--limit", "1"]) == 0
    printed = capsys.readouterr()
    assert "by=group" in printed.out
    assert dataset[0]["id"] in printed.out
    assert dataset[1]["id"] not in printed.out
    assert printed.err == f"Next: claimlab audit {folder} -o REPORT\n"


def test_an_edited_file_is_named_and_can_be_accepted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", str(folder), "--verify"]) == 0
    edit(folder)
    capsys.readouterr()
    assert run(["show", str(folder), "--verify"]) == 1
    said = capsys.readouterr().err
    assert "records.parquet" in said
    assert "--accept-edits" in said
    with pytest.raises(UsageError, match="needs a reason"):
        cl.show(folder, accept_edits=" ")
    assert run(["show", str(folder), "--accept-edits", "topic was wrong", "--json"]) == 0
    step = json.loads(capsys.readouterr().out)["lineage"][-1]
    assert step["step"] == "edit"
    assert step["parameters"] == {"files": ["records.parquet"], "why": "topic was wrong"}
    assert cl.show(folder, verify=True).records["topic"].unique().to_list() == ["edited"]


def test_a_report_inside_a_dataset_is_verified_too(folder: Path) -> None:
    dataset = cl.Dataset.open(folder)
    beside = folder.parent / "beside"
    beside.mkdir()
    (beside / "note.txt").write_text("as written", encoding="utf-8")
    dataset.write_into(beside)
    cl.show(beside, verify=True)
    (beside / "note.txt").write_text("edited", encoding="utf-8")
    with pytest.raises(FileChanged, match=r"note\.txt"):
        cl.show(beside, verify=True)


def test_other_folders_are_named_by_their_kind(folder: Path, tmp_path: Path) -> None:
    cl.export(folder, "csv", tmp_path / "csv")
    (tmp_path / "csv" / "mine.txt").write_text("mine", encoding="utf-8")
    shown = cl.show(tmp_path / "csv")
    assert shown.kind == "export"
    assert shown.foreign == ("mine.txt",)
    assert "records.csv" in shown.files
    with pytest.raises(SchemaError, match="no dataset.json"):
        cl.show(tmp_path)
    with pytest.raises(UsageError, match="only datasets keep hashes"):
        cl.show(tmp_path / "csv", verify=True)


def test_a_dataset_in_memory_can_be_shown(folder: Path) -> None:
    shown = cl.show(planted(size=150)[0], limit=3)
    assert len(shown) == 3
    assert "records" in repr(shown)


def test_records_are_chosen_by_conditions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = cl.Dataset.open(folder).records
    false = records.filter(pl.col("veracity") == "false")
    shown = cl.show(folder, where="veracity=false", limit=3)
    assert (shown.matches, shown.records["id"].to_list()) == (
        false.height,
        false["id"].head(3).to_list(),
    )
    late = records.filter(pl.col("date").dt.year() >= 2020)
    assert cl.show(folder, where=["date>=2020-01-01"]).matches == late.height
    word = str(records["text"][0]).split()[1]
    holding = records.filter(
        pl.col("text").str.to_lowercase().str.contains(word.lower(), literal=True)
    )
    assert cl.show(folder, where=f"text~{word.upper()}").matches == holding.height > 0
    assert cl.show(folder, where="author=null").matches == records["author"].null_count()
    assert cl.show(folder, where=["veracity!=false", "veracity!=true"]).matches == 0
    assert (
        run(["show", str(folder), "--where", "veracity=false", "--column", "split", "--json"]) == 0
    )
    values = json.loads(capsys.readouterr().out)["values"]
    assert values == dict(false["split"].value_counts().rows())
    with pytest.raises(UsageError, match="COLUMN=VALUE"):
        cl.show(folder, where="false")
    with pytest.raises(UnknownName, match="'colour'"):
        cl.show(folder, where="colour=red")
    with pytest.raises(UnknownName, match="'colour'"):
        cl.show(folder, column="colour")


def test_one_record_is_shown_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = cl.Dataset.open(folder)[4]
    assert run(["show", str(folder), "--id", row["id"]]) == 0
    printed = capsys.readouterr().out
    assert all(
        str(row[c]).split()[0] in printed
        for c in ("id", "text", "veracity", "date_source")
        if row[c]
    )
    with pytest.raises(UnknownName, match="'nothing'"):
        cl.show(folder, id="nothing")


def test_a_record_is_shown_with_its_evidence(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = cl.Dataset.open(folder)
    mine, other = dataset[4]["id"], dataset[5]["id"]
    evidence = pl.DataFrame(
        {"record_id": [mine, other, mine], "text": ["Granite", "Basalt", "Gneiss"]}
    )
    cl.Dataset.build("rocks", dataset.records, {"evidence": evidence}).write(tmp_path / "rocks")
    assert run(["show", str(tmp_path / "rocks"), "--id", mine]) == 0
    printed = capsys.readouterr().out
    assert "evidence: 2 rows" in printed
    assert "Granite" in printed
    assert "Basalt" not in printed
    assert run(["show", str(tmp_path / "rocks"), "--id", mine, "--json"]) == 0
    assert [row["text"] for row in json.loads(capsys.readouterr().out)["tables"]["evidence"]] == [
        "Granite",
        "Gneiss",
    ]


def test_what_a_run_got_wrong_is_shown(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no predictions"):
        cl.show(folder, wrong=True)
    cl.detect(folder, "majority", output=tmp_path / "run")
    dataset = cl.Dataset.open(tmp_path / "run")
    answers = dict(dataset.tables["predictions"].select("record_id", "label").iter_rows())
    truth = dict(dataset.records.select("id", "veracity").iter_rows())
    wrong = {
        name for name, label in answers.items() if truth[name] is not None and truth[name] != label
    }
    shown = cl.show(tmp_path / "run", wrong=True, limit=10_000)
    assert set(shown.records["id"]) == wrong
    assert 0 < len(wrong) < len(answers)
    assert set(shown.records["predicted"]) == set(answers.values())


def test_a_dataset_prints_the_same_facts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = str(cl.Dataset.open(folder))
    assert run(["show", str(folder)]) == 0
    page = " ".join(capsys.readouterr().out.split())
    facts = [line for line in printed.splitlines() if line.startswith("- ") and "rows" not in line]
    assert len(facts) >= 6
    assert any(line.startswith("- veracity in test: ") for line in facts)
    assert all(line in page for line in facts)


def test_a_query_reads_the_tables_and_nothing_else(tmp_path: Path) -> None:
    planted()[0].write(tmp_path / "data")
    (tmp_path / "x.csv").write_text("a\n1\n")
    shown = cl.show(tmp_path / "data", sql="select veracity, count(*) n from records group by 1")
    assert dict(shown.table.rows()) == {"false": 481, "true": 488}
    side = "select count(distinct record_id) as n from annotations"
    assert cl.show(tmp_path / "data", sql=side).to_json()["rows"][0]["n"] > 0
    everything = "select a.id from records a cross join records b"
    assert cl.show(tmp_path / "data", sql=everything).table.height == 20
    assert cl.show(tmp_path / "data", sql="select id from records", limit=50).table.height == 50
    for refused in (
        f"select * from read_csv('{tmp_path}/x.csv')",
        f"SELECT * FROM Read_CSV/**/('{tmp_path}/x.csv')",
        f"select * from '{tmp_path}/x.csv'",
        "drop table records",
        "select nothing from records",
        f"{everything} cross join records c",  # 909,853,209 rows
    ):
        with pytest.raises(UsageError, match=r"\.$|from records$"):
            cl.show(tmp_path / "data", sql=refused)
    with pytest.raises(UsageError, match="itself"):
        cl.show(tmp_path / "data", sql="select 1", where="id=1")
