"""What a review prints, of votes that can be counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import polars as pl
import pytest

from claimlab.core.stats.powered import JudgedSample
from claimlab.review.agreement import ALL, agreement
from claimlab.review.estimate import Estimates, _row
from claimlab.review.sampling import _at_most_one, _by_doubt
from claimlab.review.status import ReviewStatus
from claimlab.review.votes import Ballot, Votes, outcome

from .made import task

PEOPLE = {"ana": 1, "ben": 2, "eva": 3, "bot": 4}


def vote(name: str, value: object, round: str = "first") -> Ballot:
    who = PEOPLE[name]
    role = "model" if name == "bot" else "annotator"
    at = datetime(2024, 1, 1)
    return Ballot(f"{who}-{round}", "1", who, name, role, round, value, None, None, at, None, None)  # type: ignore[arg-type]


def votes(*first: tuple[str, object], second: Sequence[tuple[str, object]] = ()) -> Votes:
    again = [vote(name, value, "second") for name, value in second]
    return Votes([vote(name, value) for name, value in first], again)


def test_agreement_of_two_and_a_model() -> None:
    """Ana and Ben on ten items: both yes on 4, both no on 3, only Ana yes on 2, only Ben on 1. They
    agree on 7 of 10. Cohen: chance is .6 x .5 + .4 x .5. Fleiss: yes has 11 of 20 votes, so
    .55² + .45². Alpha: 1 - .3 / (2 x 11 x 9 / (20 x 19))."""
    pairs = [("yes", "yes")] * 4 + [("no", "no")] * 3 + [("yes", "no")] * 2 + [("no", "yes")]
    cast = {
        str(i): votes(("ana", one), ("ben", two), ("bot", "yes"))
        for i, (one, two) in enumerate(pairs)
    }
    cast["alone"] = votes(("ana", "yes"))
    found = agreement(task(), cast)
    rows = {row["between"]: row for row in found.rows.to_dicts()}
    assert set(rows) == {ALL, "ana and ben", "ana and bot (model)", "ben and bot (model)"}
    everyone, pair, model = rows[ALL], rows["ana and ben"], rows["ana and bot (model)"]
    assert (everyone["items"], everyone["percent"]) == (10, pytest.approx(0.7))
    chance = 0.55**2 + 0.45**2
    assert everyone["kappa"] == pytest.approx((0.7 - chance) / (1 - chance))
    assert everyone["alpha"] == pytest.approx(1 - 0.3 / (2 * 11 * 9 / (20 * 19)))
    assert pair["kappa"] == pytest.approx((0.7 - 0.5) / 0.5)
    assert (pair["items"], pair["model"], model["model"]) == (10, False, True)
    assert (model["items"], model["percent"]) == (10, pytest.approx(0.6))
    assert everyone["percent_low"] is None, "ten items are too few for an interval"
    assert found.headline() == "'checked': 70% on 10 items, alpha (nominal) 0.42"
    assert found.measured


def test_figures_after_discussion_are_of_the_second_votes_of_people() -> None:
    before = [("ana", "yes"), ("ben", "no"), ("bot", "no")]
    cast = {str(i): votes(*before, second=[("ben", "yes")]) for i in range(3)}
    cast |= {str(i): votes(("ana", "no"), ("ben", "no"), ("bot", "no")) for i in range(3, 4)}
    rows = agreement(task(), cast).rows.to_dicts()
    shares = {(row["between"], row["votes"]): row["percent"] for row in rows}
    assert shares[ALL, "before"] == pytest.approx(0.25)
    assert shares[ALL, "after"] == 1.0
    assert shares["ana and bot (model)", "before"] == pytest.approx(0.25)
    assert ("ana and bot (model)", "after") not in shares


def test_positive_answers_between_the_two_readings_of_a_tie() -> None:
    """Of four items one is yes, two are ties and one is no, whatever a model says."""
    cast = {
        "1": votes(("ana", "yes"), ("ben", "yes"), ("bot", "no")),
        "2": votes(("ana", "yes"), ("ben", "no"), ("bot", "no")),
        "3": votes(("ana", "no"), ("ben", "yes"), ("bot", "no")),
        "4": votes(("ana", "no"), ("ben", "no"), ("bot", "yes")),
        "5": votes(("bot", "yes")),
    }
    found = agreement(task(positive=("yes",)), cast).bounds
    assert found == {"items": 4, "lower": 0.25, "average": 0.5, "upper": 0.75}
    assert agreement(task(), cast).bounds is None


@pytest.mark.parametrize(
    ("first", "second", "wanted", "value", "how"),
    [
        ([("ana", "yes")], [], 2, None, "open"),
        ([("ana", "yes")], [], 1, "yes", "single"),
        ([("ana", "yes"), ("bot", "yes")], [], 2, None, "open"),
        ([("ana", "yes"), ("ben", "yes")], [], 2, "yes", "agreed"),
        ([("ana", "yes"), ("ben", "no")], [], 2, None, "disputed"),
        ([("ana", "yes"), ("ben", "no")], [("ben", "yes")], 2, "yes", "agreed"),
        ([("ana", "yes"), ("ben", "no"), ("eva", "no")], [], 3, "no", "majority"),
        ([("ana", "yes"), ("ben", "no"), ("eva", "no")], [], 4, None, "open"),
        ([], [], 0, None, "open"),
    ],
)
def test_what_an_item_comes_to(
    first: list[tuple[str, str]], second: list[tuple[str, str]], wanted: int, value: str | None,
    how: str,
) -> None:  # fmt: skip
    cast = votes(*first, second=second)
    found = outcome(task(adjudication="majority"), cast, wanted)
    assert (found.value, found.how) == (value, how)


def test_an_adjudicator_has_the_last_word() -> None:
    cast = votes(("ana", "yes"), ("ben", "yes"))
    cast.final = [vote("eva", "no", "final")]
    assert outcome(task(), cast, 2).value == "no"
    assert [ballot.value for ballot in cast.every()] == ["yes", "yes", "no"]


def test_doubt_makes_a_record_more_likely() -> None:
    """Doubts of 0, .25 and 1 have roots 0, .5 and 1: half of 2 draws is even, half goes by the
    roots, so .333, .667 and 1 of three rows."""
    ranked = pl.DataFrame({"row": [0, 1, 2], "uncertainty": [0.0, 0.25, 1.0]})
    drawn = [_by_doubt(ranked, 2, first) for first in np.linspace(0.0005, 0.9995, 1_000)]
    assert {rows.height for rows in drawn} == {2}
    chance = {row: c for rows in drawn for row, c in rows.select("row", "chance").iter_rows()}
    assert chance == {0: pytest.approx(1 / 3), 1: pytest.approx(2 / 3), 2: pytest.approx(1.0)}
    often = [sum(row in rows["row"] for rows in drawn) / 1_000 for row in range(3)]
    assert often == pytest.approx([1 / 3, 2 / 3, 1.0], abs=0.01)
    even = _by_doubt(ranked.with_columns(uncertainty=pl.lit(0.0)), 1, 0.5)
    assert even["chance"].to_list() == pytest.approx([1 / 3])


def test_a_chance_above_one_goes_to_the_others_in_proportion() -> None:
    """1.5 becomes 1, and .5 more are shared 2 to 1: 2 - 1 of .5, so twice as much each."""
    assert _at_most_one(np.array([1.5, 0.3333333, 0.1666667]), 2) == pytest.approx(
        [1, 2 / 3, 1 / 3], abs=1e-6
    )
    assert _at_most_one(np.array([0.5, 0.5]), 1).tolist() == [0.5, 0.5]


def test_what_a_judge_saves_is_by_the_square_of_the_width() -> None:
    human = (np.arange(40) < 20).astype(float)
    row = _row("yes", JudgedSample(human, human, np.ones(40), 10**9, 0.3), 0.05)
    assert (row["estimate"], row["annotators_alone"]) == (pytest.approx(0.3), pytest.approx(0.5))
    assert row["judge_alone"] == 0.3
    widths = row["high"] - row["low"], row["alone_high"] - row["alone_low"]
    assert row["saved"] == pytest.approx(1 - (widths[0] / widths[1]) ** 2)
    always = row["always_high"] - row["always_low"]
    assert row["more"] == int(np.ceil(40 * (always / 0.05) ** 2)) - 40
    blind = _row("yes", JudgedSample(human, np.ones(40), np.ones(40), 10**9, 1.0), None)
    assert {"judge_alone", "saved", "more"}.isdisjoint(blind)
    few = _row("yes", JudgedSample(human[11:30], human[11:30], np.ones(19), 10**9, 0.3), None)
    assert set(few) == {"share", "estimate", "annotators_alone", "judge_alone"}


def test_the_precision_of_a_finding_is_of_wrong_labels() -> None:
    rows = pl.DataFrame([{"share": "label right", "low": 0.62, "high": 0.91}])
    found = Estimates("checked", "the label", 1_200, 80, 3, None, rows, "label-errors")
    assert found.precision() == (
        "Of 1,200 records of the finding 'label-errors', 9 to 38% have a wrong label, from 80"
        " annotated."
    )
    assert found.headline() == (
        "'checked': shares from 80 of 1,200 records annotated, with the label as the judge"
    )
    assert found.measured
    assert not Estimates("checked", "the label", 1_200, 19, 3, None, rows).measured
    assert Estimates("checked", "the label", 1_200, 80, 3, None, rows).precision() is None


def test_settled_is_what_is_neither_open_nor_disputed() -> None:
    counts = {"agreed": 5, "disputed": 2, "final": 1, "open": 4}
    found = ReviewStatus("checked", "binary", pl.DataFrame(), counts, 0, 0)
    assert (found.total, found.settled) == (12, 6)
    assert found.headline() == "'checked': 6 of 12 items settled, 2 disputed, 4 open"
