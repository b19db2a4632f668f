from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from claimlab.core import digest
from claimlab.core.atomic import atomic_folder, atomic_text
from claimlab.core.dataset import MANIFEST, Dataset, Lineage, read_manifest
from claimlab.core.digest import digest_file
from claimlab.core.errors import FileChanged, OutputExists, SchemaError, UnknownName
from claimlab.core.record import SCHEMA, meta_column, meta_json, to_records, validate


def small(name: str = "tiny", n: int = 5) -> Dataset:
    frame = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)],
            "text": [f"The bridge number {i} is closed." for i in range(n)],
            "veracity": ["true" if i % 2 else "false" for i in range(n)],
        }
    )
    return Dataset.build(name, frame, lineage=[Lineage(step="test", parameters={"n": n}, seed=7)])


def test_round_trip_and_counts(tmp_path: Path) -> None:
    written = small().write(tmp_path / "d")
    back = Dataset.open(tmp_path / "d")
    assert back.records.equals(small().records)
    assert list(back.records.columns) == list(SCHEMA)
    assert back.lineage == small().lineage
    assert written.counts == {"records": 5, "veracity": {"false": 3, "true": 2}}
    assert (
        written.files["records.parquet"]
        == digest_file(tmp_path / "d" / "records.parquet")
        == back.digest()
    )
    assert small().digest() == back.digest(), (
        "a dataset in memory has the digest of the file it would write"
    )


def test_a_slice_is_a_dataset_and_a_name_a_column() -> None:
    data = small()
    first = data[:1]
    assert isinstance(first, Dataset)
    assert first["id"].to_list() == data["id"].to_list()[:1]
    assert first.lineage[-1].step == "slice"
    assert data[::-1]["id"].to_list() == data["id"].to_list()[::-1]
    with pytest.raises(UnknownName, match="There is no column named 'verdict'"):
        data["verdict"]


def test_same_input_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        small().write(tmp_path / name)
    first, second = ({p.name: p.read_bytes() for p in (tmp_path / d).iterdir()} for d in ("a", "b"))
    assert {"dataset.json", "records.parquet"} <= first.keys()
    assert first == second


def test_side_tables_keep_their_own_columns(tmp_path: Path) -> None:
    data = small()
    evidence = pl.DataFrame(
        {"record_id": ["r1"], "evidence_id": ["e1"], "text": ["seen"], "votes": [3]}
    )
    Dataset.build("tiny", data.records, {"evidence": evidence}).write(tmp_path / "d")
    table = Dataset.open(tmp_path / "d").tables["evidence"]
    assert table["votes"].to_list() == [3]
    assert table["published"].dtype == pl.Datetime("us")


def test_blank_is_null_and_wrong_values_are_refused() -> None:
    assert to_records(pl.DataFrame({"id": ["a"], "text": ["  "]}))["text"].to_list() == [None]
    for column, value, word in [
        ("veracity", "perhaps", "veracity"),
        ("kind", "novel", "kind"),
        ("authorship", "AI", "authorship"),
    ]:
        with pytest.raises(SchemaError, match=word):
            validate(to_records(pl.DataFrame({"id": ["a"], "text": ["x"], column: [value]})))
    with pytest.raises(SchemaError, match="already used"):
        validate(to_records(pl.DataFrame({"id": ["a", "a"], "text": ["x", "y"]})))
    with pytest.raises(SchemaError, match="meta"):
        to_records(pl.DataFrame({"id": ["a"], "headline": ["x"]}))


def test_meta_is_sorted_json_without_blanks() -> None:
    assert meta_json({"b": 1, "a": None, "c": ""}) == '{"b": 1}'
    assert meta_json({}) is None
    frame = pl.DataFrame({"z": ["1", None], "a": ["é", None]})
    assert meta_column(frame, ["z", "a"]).to_list() == ['{"a": "é", "z": "1"}', None]


def test_a_newer_schema_is_refused_with_the_way_out(tmp_path: Path) -> None:
    small().write(tmp_path / "d")
    manifest = json.loads((tmp_path / "d" / MANIFEST).read_text(encoding="utf-8"))
    manifest["schema_version"] = 99
    (tmp_path / "d" / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(SchemaError, match="schema version 99.*pip install -U claimlab"):
        Dataset.open(tmp_path / "d")


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"schema_version": 1}', "wrong fields: name"),
        ('{"schema_version": 1, "name": "x", "surprise": 1}', "surprise"),
    ],
)
def test_a_broken_manifest_is_a_sentence(tmp_path: Path, content: str, word: str) -> None:
    (tmp_path / MANIFEST).write_text(content, encoding="utf-8")
    with pytest.raises(SchemaError, match=word):
        read_manifest(tmp_path)


def test_a_broken_table_is_a_sentence(tmp_path: Path) -> None:
    small().write(tmp_path / "d")
    (tmp_path / "d" / "records.parquet").write_bytes(b"no parquet")
    with pytest.raises(SchemaError, match="was changed after claimlab wrote it: records.parquet"):
        Dataset.open(tmp_path / "d")


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    small().write(tmp_path / "d")
    with pytest.raises(OutputExists, match="force=True"):
        small(n=3).write(tmp_path / "d")
    assert Dataset.open(tmp_path / "d").records.height == 5
    small(n=3).write(tmp_path / "d", force=True)
    assert Dataset.open(tmp_path / "d").records.height == 3
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    (foreign / "chapter.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(OutputExists, match="did not write"):
        small().write(foreign, force=True)
    assert (foreign / "chapter.txt").exists()


def test_a_failure_leaves_the_old_folder_whole(tmp_path: Path) -> None:
    small().write(tmp_path / "d")
    with pytest.raises(RuntimeError, match="power cut"), atomic_folder(tmp_path / "d") as building:
        (building / "half").write_text("x", encoding="utf-8")
        raise RuntimeError("power cut")
    assert Dataset.open(tmp_path / "d").records.height == 5
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_a_cut_between_two_renames_is_undone(tmp_path: Path) -> None:
    small().write(tmp_path / "d")
    (tmp_path / "d").rename(tmp_path / ".d.replaced")
    assert Dataset.open(tmp_path / "d").records.height == 5


def test_leftovers_of_a_killed_run_are_swept(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from claimlab.core.atomic import atomic_folder\n"
        "with atomic_folder(Path(sys.argv[1])) as b:\n"
        "    (b / 'part').write_text('x'); print('ready', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "d")], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()
    assert any(".building-" in p.name for p in tmp_path.iterdir())
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    time.sleep(0.05)
    assert not (tmp_path / "d").exists()
    small().write(tmp_path / "d")
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_what_another_machine_builds_is_left_alone(tmp_path: Path) -> None:
    """Its process numbers mean nothing here. After a day it is taken for left over."""
    with atomic_folder(tmp_path / "d") as building:
        here = building.name
    _, machine, pid, _ = here.rsplit("-", 3)
    assert int(pid) == os.getpid()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for name in (
        f".d.building-{'0' * 8}-{gone.pid}-x",
        f".d.building-{machine}-{gone.pid}-x",
        ".d.building-1-x",
    ):
        (tmp_path / name).mkdir()
    os.utime(tmp_path / ".d.building-1-x", (0, 0))
    small().write(tmp_path / "d")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        f".d.building-{'0' * 8}-{gone.pid}-x",
        "d",
    ]


def test_atomic_text(tmp_path: Path) -> None:
    atomic_text(tmp_path / "sub" / "a.txt", "é")
    atomic_text(tmp_path / "sub" / "a.txt", "two")
    assert (tmp_path / "sub" / "a.txt").read_text(encoding="utf-8") == "two"
    assert len(list((tmp_path / "sub").iterdir())) == 1


def test_a_linked_table_is_taken_by_its_content(tmp_path: Path) -> None:
    """Tools that keep large files elsewhere leave links: the hash decides, not where the bytes
    lie.
    """
    folder, elsewhere = tmp_path / "d", tmp_path / "elsewhere.parquet"
    Dataset.build("d", pl.DataFrame({"id": ["a", "b"], "text": ["x", "y"]})).write(folder)
    (folder / "records.parquet").rename(elsewhere)
    (folder / "records.parquet").symlink_to(elsewhere)
    assert len(Dataset.open(folder)) == 2
    pl.read_parquet(elsewhere).head(1).write_parquet(elsewhere)
    with pytest.raises(FileChanged, match=r"records\.parquet"):
        Dataset.open(folder)


def test_a_file_is_hashed_once_until_it_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        digest, "_COARSE_NANOSECONDS", -1
    )  # as if each file had been there for long
    file = tmp_path / "claims.csv"
    file.write_text("one", encoding="utf-8")
    os.utime(file, (0, 0))
    before = digest.digest_once(file)
    assert before in digest._known.values()
    file.write_text("two", encoding="utf-8")
    os.utime(file, (0, 0))
    assert digest.digest_once(file) == digest_file(file) != before
