"""Which checks a protocol has, and what is said of those it lacks."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from parts.planted import planted

from claimlab.audit import cdl
from claimlab.audit.check import CHECKS
from claimlab.audit.rule import Context
from claimlab.audit.run import audit, default_checks, run_one
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding


def test_a_protocol_answers_for_the_checks_it_lacks() -> None:
    data = planted(size=120)[0]
    assert default_checks("cdl") == ["keywords", "time"]
    assert default_checks("fair") == CHECKS.names()
    lacking = [name for name in CHECKS.names() if name not in default_checks("cdl")]
    findings = audit(data, checks=lacking, protocol="cdl", columns=["topic"]).findings
    assert [f.check for f in findings] == lacking
    assert {(f.protocol, f.verdict) for f in findings} == {("cdl", "not-measured")}
    assert all(
        "cdl protocol does not have this check (it has keywords, time)" in f.why for f in findings
    )


def test_a_check_that_declares_no_protocol_follows_fair() -> None:
    class Outside:
        name = "outside"

        def run(self, subject: Subject, context: Context) -> list[Finding]:
            return [
                Finding(
                    check=self.name,
                    protocol=context.protocol,
                    verdict="pass",
                    why="It ran.",
                    n=subject.n,
                )
            ]

    subject = Subject.of(planted(size=120)[0], "veracity")
    (ran,) = run_one(Outside(), subject, Context())  # type: ignore[arg-type]
    (refused,) = run_one(Outside(), subject, Context(protocol="cdl"))  # type: ignore[arg-type]
    assert (ran.verdict, refused.verdict) == ("pass", "not-measured")


def test_the_hold_out_version_of_the_time_check_does_not_train_on_its_test_rows() -> None:
    """Every record has a day of its own and labels are drawn at random: a forest that saw the rows
    knows them.
    """
    n = 800
    rng = np.random.default_rng(0)
    days = [datetime(2020, 1, 1) + timedelta(days=i) for i in range(n)]
    labels = np.where(rng.random(n) < 0.5, "true", "false")
    texts = [f"t{i}" for i in range(n)]
    data = Dataset.build(
        "d", pl.DataFrame({"id": texts, "text": texts, "date": days, "veracity": labels})
    )
    (published,) = audit(data, checks=["time"], protocol="cdl").findings
    (held_out,) = audit(data, checks=["time"], protocol="cdl-holdout").findings
    assert default_checks("cdl-holdout") == ["time"]
    assert (published.protocol, held_out.protocol) == ("cdl", "cdl-holdout")
    assert published.score is not None
    assert held_out.score is not None
    assert published.score > 0.75
    assert abs(held_out.score - 0.5) < 0.12
    assert "with a hold-out" in held_out.why


@pytest.mark.parametrize("rows", [40, 403, 1_000])
@pytest.mark.parametrize("seed", [42, 7])
def test_the_quarters_are_those_of_scikit_learn(rows: int, seed: int) -> None:
    from sklearn.model_selection import train_test_split

    y = np.random.default_rng(rows).choice(4, rows, p=[0.55, 0.15, 0.15, 0.15])
    every = np.arange(rows)
    for ours, labels in (
        (cdl.stratified_quarter(y, seed), y),
        (cdl.quarter(rows, seed), None),
    ):
        theirs = train_test_split(every, test_size=0.25, random_state=seed, stratify=labels)
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])
    even = np.arange(rows) % 4  # equal remainders
    theirs = train_test_split(every, test_size=0.25, random_state=seed, stratify=even)
    np.testing.assert_array_equal(cdl.stratified_quarter(even, seed)[1], theirs[1])


def test_without_scikit_learn_the_forest_is_not_measured_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cdl, "has_forest", lambda: False)
    data = planted(size=120)[0]
    (finding,) = audit(data, checks=["time"], protocol="cdl").findings
    assert finding.verdict == "not-measured"
    assert "claimlab[models]" in finding.why
