"""What claimlab 0.3 wrote opens, says what it does not know, and is never mixed with what later
rules gave. `archive-0.3.zip` was written by commit 0b861fe from 160 synthetic claims of 16 outlets:
a dataset, the same split by source, two runs, their evaluation, an audit, a review of six records
by two annotators, a bundle and a board."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

import claimlab as cl
from claimlab.audit.result import Audit
from claimlab.core.errors import UnreadableFile
from claimlab.publish.board import OLDER
from claimlab.review.review import Review
from claimlab.review.status import status
from claimlab.study.rerun import RULE_CHANGED

ARCHIVE = Path(__file__).parent / "archive-0.3.zip"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def test_a_dataset_and_a_split_of_0_3_open(old: Path) -> None:
    dataset = cl.Dataset.open(old / "dataset")
    assert len(dataset) == 160
    divided = cl.Dataset.open(old / "divided")
    assert divided.records["split"].value_counts().height == 3
    assert divided.lineage[-1].tool == "claimlab 0.3.0"


def test_a_run_of_0_3_is_scored_by_what_its_split_held_out(old: Path) -> None:
    """The lineage of 0.3 names the split: the three outlets of the test are its units, by 0.3 they
    were 30 records with an interval."""
    was = json.loads((old / "evaluation" / "evaluation.json").read_text())
    evaluation = cl.evaluate([old / "run-tfidf", old / "run-majority"])
    run = evaluation.runs[0]
    assert run.scores.macro_f1 == pytest.approx(0.8237367802585194)
    assert run.chance.why is not None
    assert "3 publishers" in run.chance.why
    assert "0.823" in json.dumps(was)


def test_an_audit_of_0_3_has_a_verdict_and_keeps_its_findings(old: Path) -> None:
    saved = json.loads((old / "audit" / "audit.json").read_text())["audits"][0]
    audit = Audit.from_json(saved)
    assert [(f.check, f.verdict) for f in audit.findings] == [
        (f["check"], f["verdict"]) for f in saved["findings"]
    ]
    assert audit.grounds is None or audit.grounds.classes is None  # nothing was tried by 0.3
    assert audit.concluded(None).verdict.number >= 3


def test_a_review_of_0_3_opens_and_goes_on(old: Path) -> None:
    review = Review.open(old / "review")
    with review.store.read() as connection:
        state = status(connection, review.task)
    assert state.total == 6
    assert [person.name for person in review.people()] == ["ada", "ben"]
    review.close()


def test_a_bundle_of_0_3_is_verified_by_its_counts(old: Path) -> None:
    verified = cl.publish_verify(old / "bundle.json")
    assert not verified.differences
    assert "made by older rules, and are not compared" in verified.headline()
    content = json.loads((old / "bundle.json").read_text())
    content["figures"]["runs"][0]["confusion"][0][0] += 1
    (old / "bundle.json").write_text(json.dumps(content))
    with pytest.raises(UnreadableFile):
        cl.publish_verify(old / "bundle.json")


def test_a_board_mixes_no_rules(old: Path) -> None:
    """The answers of an older bundle are scored by today's rules; its records do not name their
    units, so that they are no board together with records that do."""
    place = old / "bundles"
    place.mkdir()
    shutil.copy(old / "bundle.json", place / "old.json")
    cl.publish_bundle([old / "run-tfidf", old / "run-majority"], output=place / "new.json")
    ranked = cl.publish_board(place)
    assert len(ranked.lines) == 4
    assert [OLDER in line.flags for line in ranked.lines] == [
        line.run.startswith("old") for line in ranked.lines
    ]
    boards = ranked.evaluation.boards
    for board in boards:
        names = {standing.name.split(":")[0] for standing in board.standings}
        assert len(names) <= 1


def test_rerun_of_0_3_says_that_the_rule_changed(old: Path) -> None:
    again = cl.rerun(old / "evaluation", inputs=[old])
    assert not again.same
    assert "written by claimlab 0.3.0" in again.notes[0]
    assert again.notes[1] == RULE_CHANGED
