"""What an output may replace: the same kind of claimlab folder, nothing of the user's, and never
the input.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from claimlab.cli.flags import in_flags
from claimlab.core.dataset import Dataset
from claimlab.core.errors import OutputExists, UsageError
from claimlab.core.guard import (
    MARK_FILE,
    foreign_files,
    kind_of,
    refuse_file,
    refuse_taken,
    seal_folder,
)


def report(folder: Path, kind: str = "audit report") -> Path:
    (folder / "plots").mkdir(parents=True)
    (folder / "index.html").write_text("page", encoding="utf-8")
    (folder / "plots" / "a.svg").write_text("<svg/>", encoding="utf-8")
    seal_folder(folder, kind)
    return folder


def dataset(folder: Path) -> Path:
    Dataset.build("d", pl.DataFrame({"id": ["1"], "text": ["A claim."]})).write(folder)
    return folder


def test_a_free_place_is_taken_without_a_word(tmp_path: Path) -> None:
    refuse_taken(tmp_path / "new", force=False, kind="audit report")
    (tmp_path / "empty").mkdir()
    refuse_taken(tmp_path / "empty", force=False, kind="audit report")
    assert [p.name for p in tmp_path.iterdir()] == ["empty"], "looking leaves nothing behind"
    (tmp_path / "empty" / "notes.txt").write_text("mine")
    with pytest.raises(OutputExists):
        refuse_taken(tmp_path / "empty", force=False, kind="audit report")


def test_force_replaces_the_same_kind_only(tmp_path: Path) -> None:
    folder = report(tmp_path / "r")
    with pytest.raises(OutputExists, match="already exists.*`force=True`"):
        refuse_taken(folder, force=False, kind="audit report")
    refuse_taken(folder, force=True, kind="audit report")
    with pytest.raises(
        OutputExists, match="holds a claimlab audit report.*only a claimlab dataset"
    ):
        refuse_taken(folder, force=True, kind="dataset")
    with pytest.raises(OutputExists, match="holds a claimlab dataset"):
        refuse_taken(dataset(tmp_path / "d"), force=True, kind="audit report")
    assert (folder / "index.html").is_file()


@pytest.mark.parametrize("name", ["my_notes.txt", "plots/mine.svg", "sub/deep/mine.csv", ".hidden"])
def test_a_file_of_the_user_is_named_and_stays(tmp_path: Path, name: str) -> None:
    for folder, kind in (
        (report(tmp_path / "r"), "audit report"),
        (dataset(tmp_path / "d"), "dataset"),
    ):
        refuse_taken(folder, force=True, kind=kind)
        mine = folder / name
        mine.parent.mkdir(parents=True, exist_ok=True)
        mine.write_text("years of work", encoding="utf-8")
        with pytest.raises(OutputExists, match=name):
            refuse_taken(folder, force=True, kind=kind)
        assert foreign_files(folder) == [name]


def test_a_link_of_the_user_counts_as_a_file(tmp_path: Path) -> None:
    folder = report(tmp_path / "r")
    (folder / "link").symlink_to(tmp_path)
    assert foreign_files(folder) == ["link"]


def test_what_a_file_manager_leaves_behind_does_not_count(tmp_path: Path) -> None:
    folder = report(tmp_path / "r")
    (folder / ".DS_Store").write_bytes(b"\0")
    assert foreign_files(folder) == []


def test_a_report_inside_a_dataset_speaks_for_its_own_files(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "d")
    report(folder / "report")
    assert kind_of(folder) == "dataset"
    assert foreign_files(folder) == []
    (folder / "report" / "note.md").write_text("mine", encoding="utf-8")
    assert foreign_files(folder) == ["report/note.md"]


@pytest.mark.parametrize("content", ["", "[]", '{"kind": 3}', "[" * 100_000])
def test_a_broken_mark_is_not_a_licence_to_delete(tmp_path: Path, content: str) -> None:
    (tmp_path / MARK_FILE).write_text(content, encoding="utf-8")
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    assert kind_of(tmp_path) is None
    with pytest.raises(OutputExists, match="claimlab did not write"):
        refuse_taken(tmp_path, force=True, kind="audit report")


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("a file", encoding="utf-8")
    with pytest.raises(OutputExists, match="did not write"):
        refuse_taken(tmp_path / "r", force=True, kind="audit report")


@pytest.mark.parametrize("force", [False, True])
def test_the_input_is_never_overwritten(tmp_path: Path, force: bool) -> None:
    source = dataset(tmp_path / "home" / "d")
    (tmp_path / "link").symlink_to(source)
    around = "holds the input"
    for target, words in (
        (source, "is the input"),
        (tmp_path / "link", "is the input"),
        (tmp_path / "home" / ".." / "home" / "d", "is the input"),
        (source / "report", "inside the input"),
        (tmp_path / "link" / "report", "inside the input"),
        (tmp_path / "home", around),
    ):
        with pytest.raises(UsageError, match=words):
            refuse_taken(target, force=force, kind="dataset", reads=[source])
    refuse_taken(tmp_path / "home" / "other", force=force, kind="dataset", reads=[source])
    file = tmp_path / "raw" / "a.csv"
    file.parent.mkdir()
    file.write_text("text\n", encoding="utf-8")
    with pytest.raises(UsageError, match=around):
        refuse_taken(tmp_path / "raw", force=force, kind="dataset", reads=[file])


def test_the_command_line_names_flags_where_the_library_names_arguments() -> None:
    message = "Pass `force=True`, or `as_json`; the column `topic` stays."
    assert (
        in_flags(message, ["audit", "d", "-o", "r"])
        == "Pass --force, or --json; the column `topic` stays."
    )
    assert in_flags("Raise `max_cost`.", ["evolve", "run", "d"]) == "Raise --max-cost."
    assert in_flags("Pass `force=True`.", []) == "Pass `force=True`."


def test_one_file_is_replaced_only_by_force_and_only_when_it_is_ours(tmp_path: Path) -> None:
    ours, other = tmp_path / "ours.csv", tmp_path / "other.csv"
    refuse_file(ours, force=False, kind="list", sign="conflict,text")
    ours.write_text("conflict,text\n1,A claim.\n", encoding="utf-8")
    other.write_text("id,text\n1,A claim.\n", encoding="utf-8")
    with pytest.raises(OutputExists, match="already exists"):
        refuse_file(ours, force=False, kind="list", sign="conflict,text")
    refuse_file(ours, force=True, kind="list", sign="conflict,text")
    for place in (other, tmp_path):
        with pytest.raises(OutputExists, match="is not a list that claimlab wrote"):
            refuse_file(place, force=True, kind="list", sign="conflict,text")
