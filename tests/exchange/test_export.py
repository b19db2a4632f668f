"""Every format: what goes out comes back, the same bytes each time, whole folders or none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import planted
from polars.testing import assert_frame_equal

from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.digest import digest_file
from claimlab.core.errors import ClaimlabError, OutputExists, SchemaError, UnknownName, UsageError
from claimlab.exchange.export import export, read_export
from claimlab.exchange.format import FORMATS, Lossless

LOSSLESS = [name for name in FORMATS.names() if isinstance(FORMATS.get(name), Lossless)]


def same(one: Dataset, two: Dataset) -> None:
    assert_frame_equal(one.records, two.records)
    assert list(one.tables) == sorted(two.tables)
    for name, table in two.tables.items():
        assert_frame_equal(one.tables[name], table)
    assert one.manifest().model_dump(exclude={"files"}) == two.manifest().model_dump(
        exclude={"files"}
    )
    assert one.digest() == two.digest(), "written again, the records are the same bytes"


def test_the_formats_that_are_promised_are_there() -> None:
    assert FORMATS.names() == [
        "claimreview",
        "croissant",
        "csv",
        "embedding-atlas",
        "hf",
        "inspect",
        "jsonl",
        "lm-eval",
        "trec",
    ]
    assert LOSSLESS == ["croissant", "csv", "hf", "jsonl"]
    for name, form in FORMATS.all().items():
        assert (form.name, bool(form.summary)) == (name, True)


@pytest.mark.parametrize("to", LOSSLESS)
def test_a_round_trip_loses_nothing(to: str, hard: Dataset, tmp_path: Path) -> None:
    export(hard, to, tmp_path / "out")
    same(read_export(tmp_path / "out"), hard)


@pytest.mark.parametrize("to", LOSSLESS)
def test_a_synthetic_dataset_and_an_empty_one_come_back(
    to: str, hard: Dataset, tmp_path: Path
) -> None:
    made, _ = planted(size=120)
    export(made, to, tmp_path / "made")
    same(read_export(tmp_path / "made"), made)
    hard.records = hard.records.head(0)
    export(hard, to, tmp_path / "empty")
    same(read_export(tmp_path / "empty"), hard)


@pytest.mark.realdata
@pytest.mark.parametrize("to", LOSSLESS)
def test_real_files_come_back(to: str, real_data: Path, tmp_path: Path) -> None:
    from claimlab.catalog.load import load

    for name in ("liar", "climate-fever", "factck-br"):
        dataset = load(name, real_data / f"{name}.zip", unmapped="unknown")
        export(dataset, to, tmp_path / name)
        same(read_export(tmp_path / name), dataset)


@pytest.mark.parametrize("to", FORMATS.names())
def test_equal_datasets_give_equal_bytes(to: str, hard: Dataset, tmp_path: Path) -> None:
    options: dict[str, Any] = (
        {"task": "language", "split": "train"} if to in ("inspect", "lm-eval") else {}
    )
    first, second = (export(hard, to, tmp_path / name, **options) for name in ("a", "b"))
    assert first.files == second.files
    assert set(first.files) | {"claimlab.json"} == {
        p.relative_to(tmp_path / "a").as_posix() for p in (tmp_path / "a").rglob("*") if p.is_file()
    }
    for name in [*first.files, "claimlab.json"]:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
        assert str(tmp_path).encode() not in (tmp_path / "a" / name).read_bytes()
    for name, digest in first.files.items():
        assert digest_file(tmp_path / "a" / name) == digest


def test_a_limit_cuts_records_and_their_side_rows(hard: Dataset, tmp_path: Path) -> None:
    done = export(hard, "jsonl", tmp_path / "out", limit=2)
    back = read_export(tmp_path / "out")
    assert back.records["id"].to_list() == ["r00", "r01"]
    assert back.tables["evidence"]["record_id"].to_list() == ["r00", "r01"]
    assert done.counts["records"] == 2
    assert done.lineage[-1].parameters == {"to": "jsonl"}
    assert back.lineage[-1].parameters == {"limit": 2}


def test_nothing_is_overwritten_unasked(hard: Dataset, tmp_path: Path) -> None:
    export(hard, "csv", tmp_path / "out")
    with pytest.raises(OutputExists, match="force=True"):
        export(hard, "jsonl", tmp_path / "out")
    export(hard, "jsonl", tmp_path / "out", force=True)
    assert not (tmp_path / "out" / "records.csv").exists()
    hard.write(tmp_path / "data")
    with pytest.raises(UsageError, match="is the input"):
        export(hard, "csv", tmp_path / "data", force=True)
    hard.head(2).write(tmp_path / "other")
    with pytest.raises(OutputExists, match="holds a claimlab dataset"):
        export(hard, "csv", tmp_path / "other", force=True)
    same(Dataset.open(tmp_path / "data"), hard)
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputExists, match="claimlab did not write"):
        export(hard, "csv", tmp_path / "file", force=True)
    (tmp_path / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputExists, match="mine.txt"):
        export(hard, "jsonl", tmp_path / "out", force=True)


def test_a_failure_leaves_the_old_export_whole(hard: Dataset, tmp_path: Path) -> None:
    export(hard, "jsonl", tmp_path / "out")
    hard.tables["predictions"] = pl.DataFrame({"record_id": ["r00"], "cost": [float("nan")]})
    with pytest.raises(SchemaError, match="'cost' of 'predictions' holds NaN.*null"):
        export(hard, "jsonl", tmp_path / "out", force=True)
    assert read_export(tmp_path / "out").tables["predictions"].height == 3
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    export(hard, "csv", tmp_path / "csv")
    assert read_export(tmp_path / "csv").tables["predictions"]["cost"].is_nan().to_list() == [True]


def test_a_type_that_text_cannot_carry_is_refused_by_name(hard: Dataset, tmp_path: Path) -> None:
    hard.tables["lone"] = pl.DataFrame({"pair": [{"a": 1}]})
    for to in ("csv", "jsonl"):
        with pytest.raises(SchemaError, match="'pair' of 'lone'.*hf or croissant"):
            export(hard, to, tmp_path / to)
    export(hard, "hf", tmp_path / "hf")
    assert_frame_equal(read_export(tmp_path / "hf").tables["lone"], hard.tables["lone"])


@pytest.mark.parametrize("name", ["../up", "records", "a b", ""])
def test_a_side_table_cannot_name_a_file_elsewhere(
    name: str, hard: Dataset, tmp_path: Path
) -> None:
    hard.tables[name] = hard.tables.pop("lone")
    for to in LOSSLESS:
        with pytest.raises(SchemaError, match="cannot be exported under the name"):
            export(hard, to, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_read_back_says_so(hard: Dataset, tmp_path: Path) -> None:
    export(hard, "claimreview", tmp_path / "reviews")
    with pytest.raises(UsageError, match="does not hold the whole dataset"):
        read_export(tmp_path / "reviews")
    with pytest.raises(SchemaError, match="not a claimlab export"):
        read_export(tmp_path)
    export(hard, "jsonl", tmp_path / "edited")
    with (tmp_path / "edited" / "records.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "new"}\n')
    with pytest.raises(SchemaError, match=r"records\.jsonl is not the file that was exported"):
        read_export(tmp_path / "edited")


def test_a_marker_that_was_tampered_with_leads_nowhere(hard: Dataset, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("x", encoding="utf-8")
    export(hard, "csv", tmp_path / "out")
    whole = json.loads((tmp_path / "out" / "claimlab.json").read_text(encoding="utf-8"))
    columns = whole["facts"]["columns"]
    for change, word in [
        ({"export_version": 9}, "newer claimlab"),
        ({"facts": {}}, "does not say its 'columns'"),
        ({"facts": {"columns": {**columns, "../secret": [["x", "String"]]}}}, "has no file"),
        (
            {"files": {**whole["files"], "../secret.csv": digest_file(tmp_path / "secret.csv")}},
            "outside its folder",
        ),
        ({"format": "jsonl"}, "has no file 'evidence.jsonl'"),
        ({"format": "pdf"}, "no export format named 'pdf'"),
        ({"surprise": 1}, "cannot be read"),
    ]:
        (tmp_path / "out" / "claimlab.json").write_text(
            json.dumps({**whole, **change}), encoding="utf-8"
        )
        with pytest.raises(ClaimlabError, match=word):
            read_export(tmp_path / "out")


def test_wrong_words_are_told_before_any_work(hard: Dataset, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'jsonl'"):
        export(hard, "json", tmp_path / "out")
    with pytest.raises(UsageError, match="'hf' does not take `bom`"):
        export(hard, "hf", tmp_path / "out", bom=True)
    assert list(tmp_path.iterdir()) == []


def test_the_command_line(
    hard: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hard.write(tmp_path / "data")
    out = tmp_path / "out"
    assert (
        run(["export", str(tmp_path / "data"), "--to", "claimreview", "-o", str(out), "--json"])
        == 0
    )
    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    assert set(printed) == {"output", "counts", "files", "lineage", "notes"}
    assert printed["output"] == str(out)
    assert printed["counts"]["records"] == 27
    assert [step["step"] for step in printed["lineage"]] == ["import", "export"]
    assert printed["lineage"][-1]["inputs"] == {
        "records.parquet": digest_file(tmp_path / "data" / "records.parquet")
    }
    assert "Left out because something is missing" in captured.err
    assert run(["export", str(tmp_path / "data"), "--to", "csv", "-o", str(out)]) == 1
    assert "--force" in capsys.readouterr().err
    assert (
        run(
            [
                "export",
                str(tmp_path / "data"),
                "--to",
                "csv",
                "-o",
                str(out),
                "--force",
                "--set",
                "bom=true",
            ]
        )
        == 0
    )
    assert capsys.readouterr().out == f"Wrote {out} as csv: 27 records (5 files).\n"
    assert (out / "records.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    same(read_export(out), Dataset.open(tmp_path / "data"))
    assert run(["export", str(tmp_path / "data"), "--to", "xml", "-o", str(out)]) == 2


def test_an_installed_package_adds_a_format(hard: Dataset, tmp_path: Path) -> None:
    """A format is an entry like any other: the same door as the built-in ones."""
    plug = tmp_path / "plug"
    (plug / "count_format-1.0.dist-info").mkdir(parents=True)
    (plug / "count_format.py").write_text(
        "from claimlab.exchange.format import Written\n"
        "class Count:\n"
        "    name, summary, accepts = 'count', 'how many', frozenset()\n"
        "    def write(self, dataset, folder, settings, progress):\n"
        "        (folder / 'n.txt').write_text(str(dataset.records.height))\n"
        "        return Written()\n"
        "FORMAT = Count()\n",
        encoding="utf-8",
    )
    info = plug / "count_format-1.0.dist-info"
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: count-format\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(
        "[claimlab.formats]\ncount = count_format\n", encoding="utf-8"
    )
    hard.write(tmp_path / "data")
    code = (
        f"import sys; sys.path.insert(0, {str(plug)!r}); from claimlab.cli.app import main; main()"
    )
    command = [
        sys.executable,
        "-c",
        code,
        "export",
        str(tmp_path / "data"),
        "--to",
        "count",
        "-o",
        str(tmp_path / "o"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "o" / "n.txt").read_text(encoding="utf-8") == "27"
