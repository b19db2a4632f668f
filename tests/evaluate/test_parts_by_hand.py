"""What a score is made of, where it fails and how sure a subgroup's score is: worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
import pytest
from scipy import stats

from claimlab.core.dataset import Dataset
from claimlab.core.stats.attribution import Attribution
from claimlab.detect.detector import Part
from claimlab.evaluate.defend import shortcut as shortcuts
from claimlab.evaluate.defend.result import FEATURES
from claimlab.evaluate.defend.shortcut import best_feature, segments
from claimlab.evaluate.defend.subgroups import _corrected
from claimlab.evaluate.scored_run import ScoredRun, each_run
from claimlab.evaluate.slices import _cell
from claimlab.tasks import TASKS

Make = Callable[..., Dataset]
OTHER = {"true": "false", "false": "true"}


def scored(run: Dataset) -> ScoredRun:
    (one,) = each_run("run", run.tables["predictions"], run, TASKS.get("veracity"))
    return one


def right_on(data: Dataset, make_run: Make, right: int) -> ScoredRun:
    """A run that is right on the first so many records."""
    truth = data.records["veracity"].to_list()
    labels = [t if i < right else OTHER[t] for i, t in enumerate(truth)]
    return scored(make_run(data, 1.0, labels=labels))


@pytest.mark.parametrize(("right", "rest"), [(310, None), (360, 0.125)])
def test_an_accuracy_in_parts(
    right: int, rest: float | None, make_data: Make, make_run: Make
) -> None:
    """Two classes, a shortcut right on 300 of 400. With shares of .3 and .4: .5 of guessing,
    .3 x (.75 - .5) of the shortcut, .4 x .5 of own signal, .775 in all."""
    data = make_data(400, per_group=1)
    shares = Attribution([(0.3, None)], (0.4, None), 400, 400)
    parts = segments(right_on(data, make_run, right), right_on(data, make_run, 300), shares)
    by_hand = {"guessing": 0.5, "shortcut": 0.075, "own signal": 0.2}
    if rest is not None:
        by_hand["not fitted"] = rest
    assert {part.name: part.share for part in parts} == pytest.approx(by_hand)


def test_the_shortcut_is_chosen_by_macro_f1(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten records nine are false. "All false" is right on 90% with a macro-F1 of .47, and one
    that finds every true record among 25% is right on 85% with .74."""
    labels = (["false"] * 9 + ["true"]) * 40
    found = iter(range(10_000))

    def answers(train: Part, records: pl.DataFrame, feature: str, seed: int) -> list[str]:
        asked = records["id"].str.to_integer().to_list()
        if feature == FEATURES[0]:
            return ["false" for _ in asked]
        if feature == FEATURES[1]:
            return ["true" if i % 10 in (9, 3) or i % 20 == 4 else "false" for i in asked]
        return ["true" if next(found) % 2 else "false" for _ in asked]

    monkeypatch.setattr(shortcuts, "_answers", answers)
    records = pl.DataFrame({"id": [str(i) for i in range(400)], "group": [None] * 400})
    records = records.with_columns(pl.col("group").cast(pl.String))
    assert best_feature(Part(records, labels), 0) == FEATURES[1]


def corrected(wrong: Sequence[bool], *subgroups: Sequence[bool]) -> list[float]:
    rows = np.stack([np.array(rows) for rows in subgroups])
    return _corrected(np.array(wrong), rows, np.arange(len(wrong)), 0).tolist()


def test_the_p_value_of_one_subgroup_is_that_of_fisher() -> None:
    """Of 60 records 20 are wrong, eight of them among the 20 of the subgroup: as many by chance in
    about three of ten permutations."""
    inside = np.arange(60) < 20
    wrong = (np.arange(60) < 8) | (np.arange(60) >= 48)
    (p,) = corrected(wrong.tolist(), inside.tolist())
    exact = stats.hypergeom.sf(7, 60, 20, 20)
    assert exact == pytest.approx(0.3115, abs=2e-4)
    assert p == pytest.approx(exact, abs=0.09)


def test_subgroups_are_corrected_for_their_number() -> None:
    """Ten of 20 wrong where 5.4 are expected: alone twice in a hundred, beside eleven subgroups of
    other records nearly twelve times as often."""
    records = np.arange(240)
    groups = [records // 20 == number for number in range(12)]
    wrong = (groups[0] & (records % 20 < 10)) | (~groups[0] & (records % 20 < 5))
    p = corrected(wrong.tolist(), *(rows.tolist() for rows in groups))
    alone = corrected(wrong.tolist(), groups[0].tolist())[0]
    exact = stats.hypergeom.sf(9, 240, 65, 20)
    assert exact == pytest.approx(0.0203, abs=2e-3)
    assert alone == pytest.approx(exact, abs=0.03)
    assert p[0] == pytest.approx(1 - (1 - exact) ** 12, abs=0.09)
    assert min(p[1:]) > 0.9


def test_the_intervals_of_a_subgroup_count_its_groups() -> None:
    """Resamples spread evenly from 0 to 1: of twelve groups that tell as much as ten, the normal
    share beyond t of 2.262 x the root of 10/9 is cut off each end, 0.86%, and not 2.5%."""
    even = np.linspace(0, 1, 10_001)
    table = np.array([[80, 20, 0, 0], [30, 70, 0, 0]])
    cell = _cell(("false", "true"), "en", (12, 10.0), table, even, even)
    cut = stats.norm.cdf(-np.sqrt(10 / 9) * stats.t.ppf(0.975, 9))
    assert cut == pytest.approx(0.0086, abs=2e-4)
    assert cell.accuracy == pytest.approx(0.75)
    assert cell.accuracy_interval == pytest.approx((cut, 1 - cut), abs=2e-4)
    assert cell.macro_f1_interval == pytest.approx((cut, 1 - cut), abs=2e-4)
    # F1 of false: 160 of 100 + 110; of true: 140 of 100 + 90
    assert cell.macro_f1 == pytest.approx((160 / 210 + 140 / 190) / 2)
    assert (cell.n, cell.groups, cell.classes, cell.failed) == (
        200,
        12,
        {"false": 100, "true": 100},
        0,
    )
