"""A gate on amounts: what a pull request does to the data is measured, and too much of it fails,
whatever the verdicts say.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import claimlab as cl
from claimlab.audit.diff import Diff
from claimlab.audit.gate import Amount, Gate, allowed, gate, is_within
from claimlab.audit.result import Audit
from claimlab.audit.views.ci import github_lines, junit
from claimlab.catalog.load import load
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.finding import Finding, Verdict
from claimlab.files.line_numbers import lines_of

LETTERS = np.random.default_rng(7).choice(list("abcdefghijklmnopqrstuvwxyz"), (1_000, 9, 6))
TEXTS = [" ".join("".join(word) for word in text) for text in LETTERS]  # no two alike
CHECKS = ["near-duplicates", "identical-texts"]
Change = Callable[[pl.DataFrame], pl.DataFrame]


def table() -> pl.DataFrame:
    """600 train, 100 dev and 300 test rows."""
    return pl.DataFrame(
        {
            "id": [f"r{row}" for row in range(1_000)],
            "text": TEXTS,
            "verdict": ["true", "false"] * 500,
            "split": ["train"] * 600 + ["dev"] * 100 + ["test"] * 300,
        }
    )


def leaking(n: int) -> Change:
    """`n` rows of train become copies of test rows, label and all."""

    def change(rows: pl.DataFrame) -> pl.DataFrame:
        train, rest = (rows.filter((pl.col("split") == "train") == side) for side in (True, False))
        test = rows.filter(pl.col("split") == "test").head(n)
        copies = train.head(n).with_columns(text=test["text"], verdict=test["verdict"])
        return pl.concat([copies, train.slice(n), rest])

    return change


def flipped(n: int) -> Change:
    other = pl.when(pl.col("verdict") == "true").then(pl.lit("false")).otherwise(pl.lit("true"))
    return lambda rows: pl.concat([rows.head(n).with_columns(verdict=other), rows.slice(n)])


def cut(part: str, n: int) -> Change:
    def change(rows: pl.DataFrame) -> pl.DataFrame:
        here = rows.filter(pl.col("split") == part).head(n)
        return pl.concat([rows.filter(pl.col("split") != part), here])

    return change


def moved(n: int) -> Change:
    def change(rows: pl.DataFrame) -> pl.DataFrame:
        ids = rows.filter(pl.col("split") == "test")["id"].head(n).to_list()
        side = pl.when(pl.col("id").is_in(ids)).then(pl.lit("train")).otherwise("split")
        return rows.with_columns(split=side)

    return change


def files(tmp_path: Path, change: Change, base: Change = lambda rows: rows) -> tuple[Path, Path]:
    """The table before and after, in folders of their own."""
    out = []
    for name, step in (("old", base), ("new", lambda rows: change(base(rows)))):
        (tmp_path / name).mkdir()
        rows = step(table()).rename({"verdict": "veracity"})
        rows.write_csv(tmp_path / name / "data.csv")
        out.append(tmp_path / name / "data.csv")
    return out[0], out[1]


PULLS: dict[str, tuple[Change, Change, list[str]]] = {
    "nothing": (lambda rows: rows, lambda rows: rows, []),
    "one leaked": (lambda rows: rows, leaking(1), []),
    "a tenth leaked": (
        lambda rows: rows,
        leaking(30),
        ["near-duplicates (across the given split): 10.0% of 300 records"],
    ),
    "a leak that failed already grows": (
        leaking(30),
        leaking(150),
        ["(across the given split): 50.0% of 300 records, 10.0% before (+40.0 points)"],
    ),
    "a fifth flipped": (
        lambda rows: rows,
        flipped(200),
        ["labels that changed: 20.0%, 200 of 1,000 records (100 true to false; 100 false to true)"],
    ),
    "three flipped": (lambda rows: rows, flipped(3), []),
    "no split": (
        lambda rows: rows,
        lambda rows: rows.drop("split"),
        ["records of test: the part is lost (300 records before)"],
    ),
    "test cut to a tenth": (
        lambda rows: rows,
        cut("test", 30),
        ["records of test: 30 records, 300 before (-90.0%)", "records that are gone: 270 of 1,000"],
    ),
    "test records into train": (
        lambda rows: rows,
        moved(60),
        ["on another side of the split: 6.0%, 60 of 1,000 records (60 test to train)"],
    ),
    "a class is gone": (
        lambda rows: rows,
        lambda rows: rows.filter(
            (pl.col("verdict") == "true") | (pl.col("split") != "dev")
        ).with_columns(verdict=pl.lit("true")),
        ["records of class false: no record has it, 500 before"],
    ),
    "rows shuffled": (lambda rows: rows, lambda rows: rows.reverse(), []),
    "records added": (
        lambda rows: rows,
        lambda rows: pl.concat(
            [
                rows,
                rows.head(1).with_columns(
                    id=pl.lit("r1000"), text=pl.lit("a wholly new claim about bridges and rivers")
                ),
            ]
        ),
        [],
    ),
}


@pytest.mark.parametrize("name", PULLS)
def test_what_a_pull_request_does_is_measured(name: str, tmp_path: Path) -> None:
    base, change, excesses = PULLS[name]
    old, new = files(tmp_path, change, base)
    found = cl.diff(old, new, checks=CHECKS)
    lines = found.gate.lines()
    assert bool(lines) == bool(excesses), lines
    for words in excesses:
        assert any(words in line for line in lines), lines


def test_the_command_fails_names_amount_file_and_line_and_what_would_accept_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = files(tmp_path, leaking(150), leaking(8))
    out = tmp_path / "report"
    named = [word for check in CHECKS for word in ("--check", check)]
    words = ["diff", str(old), str(new), *named, "--strict", "-o", str(out)]
    assert run(words) == 3
    said = capsys.readouterr().err
    assert "50.0% of 300 records, 2.7% before (+47.3 points)" in said
    assert "To accept: --allow near-duplicates=50" in said
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "50.0% of 300 records, 2.7% before" in report
    lines = (out / "annotations.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith(f"::error file={new},line=")
    rows = list(csv.DictReader(new.open(encoding="utf-8")))
    line = int(lines[0].split("line=")[1].split(":")[0])
    assert f"(record {rows[line - 2]['id']})" in lines[0]
    suite = ElementTree.fromstring((out / "junit.xml").read_text(encoding="utf-8"))
    assert suite.get("failures") == str(len(suite.findall(".//failure")))
    assert int(suite.get("failures") or 0) >= 1
    saved = json.loads((out / "diff.json").read_text(encoding="utf-8"))["gate"]
    assert saved["failed"] == int(suite.get("failures") or 0)
    accept = ["--allow", "near-duplicates=50"]
    assert run([*words[:-2], *accept]) == 0
    capsys.readouterr()
    assert run([*words[:-2], "--allow", "near-duplicates=49.9"]) == 3
    assert "allowed is 49.9" in capsys.readouterr().err


def test_the_limits_are_options(tmp_path: Path) -> None:
    old, new = files(tmp_path, flipped(20))
    assert len(cl.diff(old, new, checks=CHECKS).gate.failed) == 1
    assert not cl.diff(old, new, checks=CHECKS, max_label_changes=2).gate.failed
    assert not cl.diff(old, new, checks=CHECKS, allow=["labels=2"]).gate.failed
    assert cl.diff(old, new, checks=CHECKS, allow=["labels=1.9"]).gate.failed
    idle = cl.diff(old, new, checks=CHECKS, allow=["labels", "dev=3"]).gate
    assert (idle.idle, idle.failed) == (("dev",), ())
    with pytest.raises(UsageError, match="is not an exception"):
        allowed(["labels="])


def test_a_word_that_no_map_knows_is_given_one(tmp_path: Path) -> None:
    def fishy(rows: pl.DataFrame) -> pl.DataFrame:
        word = pl.when(pl.col("verdict") == "false").then(pl.lit("fishy")).otherwise("verdict")
        return rows.with_columns(verdict=word)

    old, new = files(tmp_path, fishy)
    with pytest.raises(ClaimlabError):
        cl.diff(old, new, checks=CHECKS)
    assert not cl.diff(
        old, new, checks=CHECKS, map={"fishy": "false", "true": "true", "false": "false"}
    ).gate.failed


def test_rows_that_are_only_numbered_are_paired_by_their_text(tmp_path: Path) -> None:
    """A row at the top of a table without ids shifts all numbers, and changes nothing else."""

    def unnumbered(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.drop("id")

    def longer(rows: pl.DataFrame) -> pl.DataFrame:
        first = rows.head(1).with_columns(text=pl.lit("one more claim on harbours and ferries"))
        return pl.concat([first, rows])

    old, new = files(tmp_path, longer, unnumbered)
    assert not cl.diff(old, new, checks=CHECKS).gate.failed
    (tmp_path / "other").mkdir()
    old, new = files(tmp_path / "other", flipped(20), unnumbered)
    (amount,) = cl.diff(old, new, checks=CHECKS).gate.failed
    assert (amount.name, amount.limit) == ("labels", "2")


def audit_of(verdict: Verdict | None, **more: object) -> Audit:
    given = {"check": "length", "protocol": "fair", "verdict": verdict, "why": "Planted.", **more}
    found = [] if verdict is None else [Finding.model_validate(given)]
    return Audit("d", "0" * 64, "fair", "veracity", 0, 100, 100, found)


@pytest.mark.parametrize(
    ("before", "after", "fails"),
    [
        ("pass", "not-measured", True),
        ("pass", None, True),
        ("pass", "fail", True),
        ("warn", "fail", True),
        (None, "fail", True),
        ("pass", "warn", False),
        ("fail", "fail", False),
        ("fail", "not-measured", False),
        ("not-measured", "not-measured", False),
    ],
)
def test_a_pass_that_is_no_longer_measured_fails(
    before: Verdict | None, after: Verdict | None, fails: bool
) -> None:
    assert bool(gate((audit_of(before), audit_of(after))).failed) == fails


def test_saved_audits_have_a_gate_too() -> None:
    was, now = (audit_of("fail", details={"share": share}) for share in (0.02, 0.3))
    (amount,) = gate((was, now)).failed
    assert (amount.before, amount.after, amount.accepting) == (2.0, 30.0, "length=30")
    assert Diff(was, now).gate == Gate(())


@pytest.mark.parametrize(
    ("value", "limit", "within"),
    [
        ("2.5", "2.5", True),
        ("2.6", "2.5", False),
        ("fail", "2.5", False),
        ("9", "", True),
        ("fail", "fail", True),
    ],
)
def test_what_an_exception_accepts(value: str, limit: str, within: bool) -> None:
    assert is_within(value, limit) == within


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    """Texts with line breaks and blank lines in between: the first line of each row counts."""
    file = tmp_path / "data.csv"
    file.write_text('id,text\na,"one\ntwo"\n\nb,"three"\nc,four\n', encoding="utf-8")
    assert lines_of(file, {"quotes": "double"}, "id", "data") == {"a": 2, "b": 5, "c": 6}
    assert lines_of(file, {"quotes": "double"}, None, "data")["data-000002"] == 5
    assert lines_of(tmp_path / "none.csv", {}, "id", "data") == {}
    rows = tmp_path / "data.jsonl"
    rows.write_text('{"id": 1, "text": "a"}\n\n{"id": 2, "text": "b"}\n', encoding="utf-8")
    assert lines_of(rows, {}, "id", "data") == {"1": 1, "2": 3}


def test_a_hostile_id_cannot_write_an_annotation_of_its_own() -> None:
    row = 'x\n::error::owned "<b>'
    amount = Amount("labels", "labels", 0.0, 50.0, "%", "half", "50", (row,))
    diff = Diff(audit_of("pass"), audit_of("pass"), None, Gate((amount,)), "data.csv", {row: 3})
    assert len(github_lines(diff).splitlines()) == 1
    ElementTree.fromstring(junit(diff))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["liar", "covid19-fake-news", "fakeddit"])
def test_published_data_has_the_same_gate(name: str, real_data: Path) -> None:
    records = load(name, real_data / f"{name}.zip").records.filter(
        pl.col("veracity").is_in(["true", "false"]), pl.col("text").is_not_null()
    )
    parts = [
        records.filter(pl.col("split") == side).unique("text", maintain_order=True).head(size)
        for side, size in (("train", 1_300), ("dev", 200), ("test", 400))
    ]
    base = pl.concat(parts).select("id", "text", "split", verdict="veracity")
    assert base.height == 1_900

    def failed(before: pl.DataFrame, after: pl.DataFrame) -> list[str]:
        old, new = (
            Dataset.build(
                name, rows.rename({"verdict": "label_raw"}).with_columns(veracity="label_raw")
            )
            for rows in (before, after)
        )
        return [amount.name for amount in cl.diff(old, new, checks=CHECKS).gate.failed]

    assert failed(base, base) == []
    assert "near-duplicates" in failed(leaking(10)(base), leaking(150)(base))
    assert "labels" in failed(base, flipped(380)(base))
    assert {"records", "test"} <= set(failed(base, cut("test", 40)(base)))
    assert {"train", "dev", "test"} <= set(
        failed(base, base.with_columns(split=pl.lit(None, pl.String)))
    )
