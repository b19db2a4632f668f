"""The EQA report: the author answers, the program lists what was not checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from claimlab.audit.check import CHECKS
from claimlab.audit.run import audit
from claimlab.audit.write import write_audits
from claimlab.core.errors import ClaimlabError, OutputExists
from claimlab.detect.detector import DETECTORS
from claimlab.detect.run import detect
from claimlab.evaluate.eqa.study import write_template
from claimlab.evaluate.eqa.write import write_eqa
from claimlab.generate.planted import planted

STUDY = """
title = "Do words tell true claims from false ones?"
[formulation]
aim = "To show how far a linear model on words gets."
intended_generalisation = "Claims about other invented towns in the same languages."
shifts_in_scope = "Other towns and events."
shifts_out_of_scope = "Other languages and later years."
[data]
datasets = ["data"]
audits = [{audits}]
target = "veracity"
{runs}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    data, _ = planted()
    data.write(folder / "data")
    write_audits([audit(data, checks=["source", "one-class"])], folder / "report")
    detect(data, DETECTORS.get("tfidf")(), seed=0).write(folder / "run")
    return folder


def limits_of(place: Path, name: str, *, audits: str = "", runs: str = "") -> tuple[dict[str, object], str]:
    study = place / f"{name}.toml"
    study.write_text(STUDY.format(audits=audits, runs=runs), encoding="utf-8")
    content = write_eqa(study, place / name)
    return content, json.dumps(content["limits"])


def test_an_unanswered_study_is_refused_and_nothing_written(tmp_path: Path) -> None:
    write_template(tmp_path / "study.toml")
    with pytest.raises(ClaimlabError, match="What is this evaluation meant to prove"):
        write_eqa(tmp_path / "study.toml", tmp_path / "eqa")
    assert not (tmp_path / "eqa").exists()


def test_every_check_that_was_not_run_is_listed_by_the_program(place: Path) -> None:
    _, limits = limits_of(place, "audited", audits='"report"')
    for check in set(CHECKS.names()) - {"source", "one-class", "columns"}:
        assert CHECKS.get(check).title in limits or CHECKS.get(check).question in limits or check in limits, check


def test_without_an_audit_or_a_run_the_report_says_so(place: Path) -> None:
    content, limits = limits_of(place, "bare")
    _, audited = limits_of(place, "audited-again", audits='"report"')
    assert content["quality"]["runs"] == []  # type: ignore[index]
    assert "audit" in limits
    assert "run" in limits
    assert limits != audited


def test_twenty_five_right_and_wrong_predictions_are_drawn_with_a_seed(place: Path) -> None:
    runs = '[[runs]]\nname = "tfidf"\npath = "run"\n'
    one, _ = limits_of(place, "one", audits='"report"', runs=runs)
    two, _ = limits_of(place, "two", audits='"report"', runs=runs)
    (run,) = one["quality"]["runs"]  # type: ignore[index]
    assert one["quality"] == two["quality"]
    assert len(run["correct"]) == 25
    assert len(run["wrong"]) == round(run["records"] * (1 - run["scores"]["accuracy"]))  # fewer than 25 are wrong
    assert not {r["id"] for r in run["correct"]} & {r["id"] for r in run["wrong"]}
    page = (place / "one" / "index.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 2_000_000
    assert "25 correct predictions" in page
    with pytest.raises(OutputExists):
        write_eqa(place / "one.toml", place / "one")
