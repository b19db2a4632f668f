"""`prepare` applies what an audit advises and nothing else: every record is accounted for, a given
test stays as published, and a step that takes out too much of a class is refused.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from parts.planted import Truth, planted

import claimlab as cl
from claimlab.audit.rule import AuditSettings
from claimlab.audit.run import Audited, audit
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UnknownName
from claimlab.core.record import validate
from claimlab.study.prepare import Prepared
from claimlab.study.prepare_steps import NAMES, STEPS, Bench, Change, NotNeeded, Refused, planned

QUICK = AuditSettings(repeats=1)
CHECKS = ["near-duplicates", "identical-texts", "url-conflicts", "copies", "giveaways"]


@pytest.fixture(scope="module")
def given() -> tuple[Dataset, Truth]:
    return planted()


@pytest.fixture(scope="module")
def audited(given: tuple[Dataset, Truth]) -> Audited:
    return audit(given[0], checks=CHECKS, settings=QUICK, debug=True)


def bench(audited: Audited, *, change_test: bool = False) -> Bench:
    return Bench(audited, "data", audited.target, change_test, 3)


def after(name: str, data: Dataset, shared: Bench) -> Change:
    return STEPS[name](data, shared)  # type: ignore[index]


def shared_claims(n: int, copies: int) -> Dataset:
    """Claims of ten publishers whose label nothing gives away; `copies` true ones occur twice."""
    draw = random.Random(4)
    words = ("bridge", "river", "school", "harbour", "market", "library", "orchard", "mill")
    rows = [
        {
            "id": f"r{row}",
            "text": " ".join(draw.choices(words, k=12)) + f" {draw.randint(1, 10**6)}",
            "veracity": label,
            "label_raw": label,
            "source": f"publisher {draw.randrange(10)}",
        }
        for row, label in enumerate(draw.choices(["true", "false"], k=n))
    ]
    again = [{**row, "id": f"{row['id']}-again"} for row in rows if row["veracity"] == "true"]
    return Dataset.build("shared", pl.DataFrame(rows + again[:copies]))


def test_contradictions_are_set_aside_for_the_reason_that_was_planted(
    given: tuple[Dataset, Truth], audited: Audited
) -> None:
    data, truth = given
    change = after("contradictions", data, bench(audited, change_test=True))
    whys = change.removed
    assert {i for i, why in whys.items() if "near-duplicate" in why} == set(
        truth.records["contradicting-near-duplicates"]
    )
    assert {i for i, why in whys.items() if "URL" in why} == set(
        truth.records["url-under-both-labels"]
    )
    aside = change.dataset.tables["doubtful"]
    assert set(aside["id"]) == set(whys)
    assert dict(aside.select("id", "reason").iter_rows()) == dict(whys)
    assert len(change.dataset) + len(whys) == len(data)
    validate(change.dataset.records)


def test_a_given_test_stays_as_published_unless_it_may_change(
    given: tuple[Dataset, Truth], audited: Audited
) -> None:
    data, _ = given
    held_out = data.records.filter(pl.col("split") != "train")
    current, shared = data, bench(audited)
    for name in NAMES:
        plan, change = planned(name, current, shared, {"true": 488, "false": 481}, 100)
        current = current if change is None else change.dataset
        assert (plan.outcome == "refused") == (name == "words")
    same = ["id", "text", "split", "veracity"]
    left = current.records.filter(pl.col("split") != "train")
    assert left.select(same).equals(held_out.select(same))
    with pytest.raises(Refused, match="published test part"):
        after("words", data, shared)
    masked = after("words", data, bench(audited, change_test=True)).dataset
    assert (masked.records["text"] != data.records["text"]).any()


def test_copies_of_the_test_leave_train_and_no_other_part(
    given: tuple[Dataset, Truth], audited: Audited
) -> None:
    data, truth = given
    change = after("leaks", data, bench(audited))
    sides = dict(data.records.select("id", "split").iter_rows())
    assert {sides[record] for record in change.removed} == {"train"}
    assert set(change.removed) <= set(truth.records["duplicates-across-splits"])


def test_what_masks_make_equal_leaves_and_no_other_record(given: tuple[Dataset, Truth]) -> None:
    """Without a finding about copies only those go that the masks made."""
    quiet = audit(given[0], checks=["one-class"], settings=QUICK)
    rows = [
        {"id": f"r{i}", "text": text, "veracity": label, "label_raw": label, "split": side}
        for i, (text, label, side) in enumerate(
            [
                ("The harbour of Aldmere closed in March", "true", "train"),
                ("The harbour of Aldmere closed in March", "true", "train"),
                ("The old mill has 12 wheels", "true", "train"),
                ("The old mill has 13 wheels", "true", "train"),
                ("An orchard 4011 near 2 Brenholt 77 feeds 40 people", "true", "train"),
                ("An orchard 95 near 638 Brenholt 1 feeds 50 people", "false", "train"),
                ("Ships 311 of Corvale 9 carry 7 bells 20 at night", "false", "train"),
                ("Ships 6 of Corvale 48 carry 812 bells 5 at night", "false", "test"),
            ]
        )
    ]
    before = Dataset.build("equal", pl.DataFrame(rows))
    texts = before.records["text"].str.replace_all(r"\s*\d+", "")
    masked = replace(before, records=before.records.with_columns(text=texts), files={})
    shared = replace(bench(quiet, change_test=True), target="veracity", unmasked=before)
    assert set(after("copies", masked, shared).removed) == {"r3", "r7"}
    assert set(after("contradictions", masked, shared).removed) == {"r4", "r5"}
    assert set(after("leaks", masked, shared).removed) == {"r6"}


def test_what_no_finding_asks_for_is_not_done(given: tuple[Dataset, Truth]) -> None:
    quiet = audit(given[0], checks=["one-class"], settings=QUICK)
    for name in ("masks", "leaks", "copies", "contradictions", "words"):
        with pytest.raises(NotNeeded):
            after(name, given[0], bench(quiet))


def test_a_step_that_takes_too_much_of_a_class_is_refused_with_what_to_do(
    given: tuple[Dataset, Truth], audited: Audited
) -> None:
    sizes = {"true": 488, "false": 481}
    plan, change = planned("contradictions", given[0], bench(audited), sizes, 50)
    assert (plan.outcome, change is None) == ("applied", False)
    assert plan.removes == {"true": 27, "false": 27}
    plan, change = planned("contradictions", given[0], bench(audited), sizes, 5)
    assert (plan.outcome, change) == ("refused", None)
    assert "more than 5% of a class" in plan.sentence
    assert plan.instead is not None
    assert plan.instead.shell == "claimlab split data -o data-by-group --by group"


@pytest.mark.slow
def test_a_dataset_without_a_split_gets_a_fair_one_and_both_audits(tmp_path: Path) -> None:
    data = shared_claims(300, copies=60)
    said: list[str] = []
    prepared = cl.prepare(data, output=tmp_path / "fair", on_step=lambda s: said.append(s.name))
    assert said == list(NAMES)
    outcomes = {step.name: step.outcome for step in prepared.steps}
    assert outcomes["copies"] == outcomes["split"] == "applied"
    assert sum(prepared.steps[2].removes.values()) == 60
    made = Dataset.open(tmp_path / "fair")
    assert len(made) + made.tables["dropped"].height == len(data)
    assert {"train", "test"} <= set(made.records["split"].unique())
    assert {step.step for step in made.lineage} >= {"prepare", "split"}
    audits = json.loads((tmp_path / "fair" / "report" / "audit.json").read_text("utf-8"))
    assert len(audits["audits"]) == 2
    removed = json.loads((tmp_path / "fair" / "report" / "removed.json").read_text("utf-8"))
    assert len(removed["leave_out"]) == 60
    assert "copies" in {finding for finding, _, _ in prepared.changes}
    assert prepared.after is not None
    assert prepared.after.counts()["fail"] <= prepared.before.counts()["fail"]


@pytest.mark.slow
def test_the_steps_make_no_new_fail_that_they_could_avoid(given: tuple[Dataset, Truth]) -> None:
    """Masks make no copies that stay, and a split in time that has become impossible is not made,
    so that each side has both classes."""
    prepared = cl.prepare(given[0], change_test=True)
    assert prepared.after is not None
    steps = {step.name: step for step in prepared.steps}
    assert "masks digits, punctuation, case" in steps["masks"].why
    assert "by time" in steps["split"].why
    assert steps["split"].why.startswith("split by near-duplicates")
    assert [step.name for step in prepared.steps][:6] == list(NAMES)
    new = [(finding, after) for finding, _, after in prepared.changes if after.endswith(", new")]
    assert [finding for finding, after in new if "fail" in after] == []
    for side in ("train", "dev", "test"):
        counts = prepared.dataset.records.filter(split=side)["veracity"].value_counts()
        assert counts["count"].min() > 0.35 * counts["count"].sum(), side


def test_what_the_steps_bring_is_said(given: tuple[Dataset, Truth], audited: Audited) -> None:
    """A finding that passed before and fails after is called new, and named below the table."""
    conflict = next(f for f in audited.findings if f.check == "url-conflicts")
    assert conflict.verdict == "fail"
    passed = conflict.model_copy(update={"verdict": "pass"})
    others = [passed if f is conflict else f for f in audited.findings]
    prepared = Prepared(given[0], (), replace(audited, findings=others), audited)
    assert {name: last for name, _, last in prepared.changes}["url-conflicts"] == "fail, new"
    assert "New in what the steps made: url-conflicts. Report it, too." in prepared.remains
    same = Prepared(given[0], (), audited, audited)
    assert same.remains == "Report what stays beside every score."


@pytest.mark.slow
def test_the_command_says_each_step_and_a_plan_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shared_claims(200, copies=40).write(tmp_path / "data")
    assert run(["prepare", "data", "--dry-run"]) == 0
    plan = capsys.readouterr().out
    assert "copies: removes 40 of" in plan
    assert [p.name for p in tmp_path.iterdir()] == ["data"]
    assert run(["audit", "data", "-o", "report"]) == 0
    capsys.readouterr()
    words = ["prepare", "data", "--audit", "report", "--steps", "copies,split", "--max-lost", "10"]
    assert run([*words, "--strict", "-o", "fair"]) == 3
    printed = capsys.readouterr().out
    assert "copies: refused, would remove 40 of" in printed
    assert "instead: claimlab split data -o data-by-near-duplicates --by near-duplicates" in printed
    assert "masks" not in printed
    assert run(["prepare", "data"]) == 2
    assert "Name a folder with -o" in capsys.readouterr().err


@pytest.mark.slow
def test_an_audit_of_other_data_and_unknown_steps_are_refused(tmp_path: Path) -> None:
    data = shared_claims(60, copies=0)
    cl.audit(data, checks=["length"], output=tmp_path / "report")
    other = replace(data, records=data.records.head(50), files={})
    with pytest.raises(DataError, match="is not of 'shared' as it is now"):
        cl.prepare(other, audit=tmp_path / "report")
    with pytest.raises(UnknownName):
        cl.prepare(data, steps=["mend"])
