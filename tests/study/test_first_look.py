"""`claimlab check`: the whole way from a file to a verdict, on files whose defects are planted."""

from __future__ import annotations

import json
import random
import re
import shlex
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

import claimlab as cl
from claimlab.audit.trial import enough_left
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, OutputExists
from claimlab.study import first_look

WORDS = ("bridge", "river", "school", "harbour", "market", "library", "orchard", "mill")


def claims(n: int, copies: int = 0) -> pl.DataFrame:
    """Claims whose label nothing gives away; `copies` true ones occur twice."""
    chance = random.Random(5)
    labels = ["true", "false"] * (n // 2)
    chance.shuffle(labels)
    rows = [
        {
            "claim": " ".join(chance.choices(WORDS, k=9)) + f" number {chance.randint(1, 10**6)}",
            "rating": label,
        }
        for label in labels
    ]
    return pl.DataFrame(rows + [row for row in rows if row["rating"] == "true"][:copies])


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.csv"
    claims(80, copies=30).write_csv(path)
    return path


@pytest.mark.slow
def test_a_file_becomes_a_verdict_a_folder_and_a_page(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["check", file.name]) == 0
    out, err = capsys.readouterr()
    assert "mine.csv: 110 rows, text in `claim`, label in `rating` (true 70, false 40)," in out
    assert "Cleaned: 80 of 110 records kept (false 40 of 40, true 40 of 70); left out:" in out
    assert "\nUsable after cleaning: 30 of 110 records left out." in out
    assert "No signal found" in out
    assert max(map(len, out.splitlines())) <= 80
    assert "Report: mine-check/report/index.html" in err
    assert "Next: claimlab " in err
    folder = file.parent / "mine-check"
    assert len(Dataset.open(folder / "data")) == 110
    assert len(Dataset.open(folder / "clean")) == 80
    assert (folder / "report" / "index.html").is_file()
    assert not list(file.parent.glob(".mine-check*")), "nothing is left of the work"
    assert run(["check", file.name]) == 1, "it is there already"
    assert run(["check", file.name, "--force", "--json", "--limit", "60"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["records"], shown["columns"]["text"]) == (60, "claim")
    assert shown["usable"].endswith("drawn at random from 110 records.")
    assert shown["verdict"]["rung"] == 1, "fewer than 30 of a class"


def test_a_file_without_labels_is_told_so(tmp_path: Path) -> None:
    checked = cl.check(claims(60).select("claim"))
    assert checked.usable == "Cannot be scored as veracity: no record has a label."
    assert checked.next_step.function == "show"
    assert "no labels" in first_look.screen(checked, 80)


@pytest.mark.slow
def test_a_shortcut_comes_first_with_what_answers_it(tmp_path: Path) -> None:
    table = claims(120).with_columns(
        source=pl.when(pl.col("rating") == "true").then(pl.lit("daily")).otherwise(pl.lit("blog"))
    )
    checked = cl.check(table, output=tmp_path / "out")
    text = first_look.screen(checked, 100)
    assert "\nNot usable for veracity: the label is the source. 0 of 2 publishers have more" in text
    assert "  The column 'source' alone gives the label away" in text
    assert "No split holds out 'source': the label is the source." in " ".join(text.split())
    assert "--by source" not in text, "no split separates the two"
    assert len(Dataset.open(tmp_path / "out" / "clean")) == 120


def test_a_check_that_was_stopped_goes_on(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(import_module("claimlab.audit.front"), "audit", stopped)
        with pytest.raises(KeyboardInterrupt):
            cl.check(file, output="out")
    monkeypatch.setattr(first_look, "import_files", stopped)
    monkeypatch.setattr(first_look, "clean", stopped)
    checked = cl.check(file, output="out")
    assert (checked.source.rows, checked.source.columns["label"]) == (110, "rating")
    assert len(Dataset.open("out/clean")) == 80
    with pytest.raises(OutputExists):
        cl.check(file, output="out")
    with pytest.raises(KeyboardInterrupt):  # another choice: nothing of the other check is taken
        cl.check(file, output="other", label="rating")


def test_where_cleaning_leaves_out_most_the_audit_is_of_all_records() -> None:
    """Each claim occurs under both labels, but for a few false ones."""
    table = claims(60)
    other = table.with_columns(
        rating=pl.col("rating").replace_strict({"true": "false", "false": "true"})
    )
    alone = claims(80).filter(pl.col("rating") == "false").tail(5)
    checked = cl.check(pl.concat([table, other, alone]))
    assert len(checked.clean) < 20
    assert checked.audit.records == 125
    assert ". The audit is of all records" in first_look.screen(checked, 200)
    assert checked.verdict.number in (3, 4)
    assert "identical-texts (96.0 points)" in checked.usable
    assert checked.audit.grounds is not None
    assert checked.audit.grounds.lost == "5 of 125 records"


def test_a_class_that_cleaning_leaves_out_is_missed() -> None:
    data, _ = cl.import_files(claims(60))
    rest = cl.clean(data).dataset
    assert enough_left(data, rest)
    rest.records = rest.records.filter(pl.col("veracity") == "true")
    assert len(rest) == 30, "half of the records are left, all of one class"
    assert not enough_left(data, rest)


def test_a_file_that_cannot_be_read_leaves_nothing(tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.touch()
    with pytest.raises(DataError):
        cl.check(empty, output=tmp_path / "out")
    assert list(tmp_path.iterdir()) == [empty]


def test_a_limit_draws_records_at_random_and_says_of_how_many(tmp_path: Path) -> None:
    """A file that is sorted by class: its first records have one class only."""
    table = claims(400).sort("rating")
    checked = cl.check(table, limit=200, seed=1)
    assert (checked.source.rows, len(checked.data)) == (400, 200)
    assert set(checked.data["veracity"]) == {"true", "false"}
    assert "400 rows, 200 of 400 records drawn at random, text" in first_look.screen(checked, 200)
    assert checked.usable.endswith("drawn at random from 400 records.")
    again = cl.check(table, limit=200, seed=1)
    assert again.data["id"].to_list() == checked.data["id"].to_list()
    other, _ = cl.import_files(table)
    ids = [other.sampled(50, seed)["id"].to_list() for seed in (0, 0, 1)]
    assert ids[0] == ids[1] != ids[2]
    assert ids[0] == sorted(ids[0], key=other["id"].to_list().index), "in their order"
    assert len(other.sampled(1_000, 0)) == 400
    assert cl.audit(other, checks=["length"], limit=50).records == 50


def test_a_dataset_folder_is_checked_as_it_is(file: Path) -> None:
    cl.import_files(file, "data", label="rating")
    checked = cl.check("data", limit=60)
    assert checked.source.rows == 60
    assert checked.data.records["id"].is_in(Dataset.open("data").records["id"].implode()).all()
    assert set(checked.source.columns) == {"text", "label", "date"}


def test_check_ends_with_the_command_that_applies_its_advice(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checked = cl.check(file, output="mine-check")
    assert checked.next_step.shell == "claimlab prepare mine-check/clean -o mine-fair"
    assert run([*checked.next_step.shell.split()[1:], "--dry-run"]) == 0
    assert "split by near-duplicates" in capsys.readouterr().out


@pytest.mark.slow
def test_the_commands_of_its_page_run_from_where_the_user_is(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each as it stands, in the order of the page: what one writes, a later one may read."""
    telling = pl.when(pl.col("rating") == "false").then(pl.lit(" shocking")).otherwise(pl.lit(""))
    claims(160).with_columns(claim=pl.col("claim") + telling).write_csv(file)
    cl.check(file, output="mine-check")
    page = Path("mine-check", "report", "report.md").read_text(encoding="utf-8")
    commands = list(dict.fromkeys(re.findall(r"`claimlab ([^`]+)`", page)))
    assert commands
    for command in commands:
        assert run(shlex.split(command)) == 0, f"{command}: {capsys.readouterr().err}"
