"""Above chance: the best of three baselines, labels permuted by groups, corrected for all that is
tested together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from parts.planted import clean_twin
from scipy.stats import hypergeom
from sklearn.metrics import f1_score

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.stats.chance import Chance, corrected
from claimlab.evaluate.chance import against_chance
from claimlab.evaluate.evaluation import evaluate_runs
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.views import conclusion
from claimlab.tasks import TASKS

Labels = np.ndarray
TRUE, FALSE = "true", "false"


def run_of(
    truth: Labels, said: Labels, groups: Labels | None = None, ids: Labels | None = None
) -> ScoredRun:
    names = np.arange(len(truth)).astype(str) if ids is None else ids
    table = pl.DataFrame(
        {
            "id": names, "truth": truth, "said": said, "abstained": None, "scores": None,
            "group": [None] * len(truth) if groups is None else groups.astype(str),
        },
        schema_overrides=dict.fromkeys(("id", "truth", "said", "abstained", "scores", "group"), pl.String),
    )  # fmt: skip
    return ScoredRun(
        "run", "data", "", TASKS.get("veracity"), None, table, (FALSE, TRUE), 0, 0, 0, 0
    )


def words(is_true: Labels) -> Labels:
    return np.where(is_true, TRUE, FALSE)


def test_the_baselines_are_those_worked_out_by_hand() -> None:
    """200 records, 60 of them true; 50 answers are true, 20 of these rightly: permuted, the overlap
    is hypergeometric."""
    truth = words(np.arange(200) < 60)
    said = words(np.isin(np.arange(200), [*range(20), *range(100, 130)]))
    measured = against_chance([run_of(truth, said)])
    overlap = np.arange(51)
    both = 2 * overlap / (60 + 50)
    neither = 2 * (200 - 60 - 50 + overlap) / (140 + 150)
    by_chance = float((hypergeom(200, 60, 50).pmf(overlap) * (both + neither) / 2).sum())
    assert measured.majority == pytest.approx(f1_score(truth, [FALSE] * 200, average="macro"))
    assert measured.stratified == 0.5
    assert measured.permuted == pytest.approx(by_chance, abs=0.005)
    assert measured.best == max(0.5, measured.permuted)
    assert measured.difference == pytest.approx(
        f1_score(truth, said, average="macro") - measured.best
    )
    assert measured.moved == pytest.approx(2 * 0.3 * 0.7, abs=0.02)
    exact = float(hypergeom(200, 60, 50).sf(19))
    assert measured.p is not None
    assert measured.p >= min(exact, 0.03) / 2


def test_what_beats_its_own_proportions_but_no_guess_has_no_star() -> None:
    """Nearly always one class: clearly better than the same answers at random, and still worse than
    a random guess.
    """
    truth = words(np.arange(600) < 300)
    said = words(np.arange(600) < 18)
    measured = corrected([against_chance([run_of(truth, said)])])[0]
    assert measured.permuted is not None
    assert measured.permuted < f1_score(truth, said, average="macro") < 0.5
    assert not measured.beaten


@pytest.mark.slow
def test_groups_are_one_observation_each() -> None:
    """A guess for each of 40 groups of 25 records is 40 guesses, not 1,000: over many such guesses,
    few are starred.
    """
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 25)
    truth = words(np.repeat(np.arange(40) % 2 == 0, 25))
    stars = [
        corrected(
            [
                against_chance(
                    [run_of(truth, words(np.repeat(rng.random(40) < 0.5, 25)), groups)], draws=300
                )
            ]
        )[0]
        for _ in range(60)
    ]
    assert sum(chance.beaten for chance in stars) <= 6
    alone = [
        corrected(
            [against_chance([run_of(truth, words(np.repeat(rng.random(40) < 0.5, 25)))], draws=300)]
        )[0]
        for _ in range(30)
    ]
    assert sum(chance.beaten for chance in alone) > 6, (
        "without groups the same guesses look significant"
    )


def test_what_cannot_be_tested_says_why() -> None:
    many, half = np.arange(200), words(np.arange(200) % 2 == 0)
    assert (
        against_chance([run_of(half, words(many >= 0))]).why == "Every record has the same answer."
    )
    assert (
        against_chance([run_of(words(many >= 0), half)]).why
        == "Macro-F1 is not measured: only one class."
    )
    few = against_chance([run_of(half, half, many // 50)])
    assert few.p is None
    assert few.why == "Only 200 records of 4 groups (largest 25%); at least 6 are needed."
    thin = against_chance([run_of(words(many < 3), words(many < 5))])
    assert (thin.p, thin.why) == (None, "Too few records of true.")
    # All large groups are true, all small ones false: no group can take the label of another.
    sizes = np.concatenate([np.repeat(np.arange(20), 12), np.arange(20, 260)])
    bound = against_chance(
        [run_of(words(sizes < 20), words(np.arange(len(sizes)) % 2 == 0), sizes)]
    )
    assert bound.p is None
    assert bound.why is not None
    assert bound.why.startswith("Shuffling the labels of whole groups changes only")


def test_a_permutation_gives_a_record_the_same_label_in_every_seed() -> None:
    """Three seeds with the same records and answers are one run: no narrower, no surer than it."""
    rng = np.random.default_rng(1)
    truth = words(rng.random(300) < 0.5)
    said = np.where(rng.random(300) < 0.57, truth, words(rng.random(300) < 0.5))
    one = against_chance([run_of(truth, said)])
    three = against_chance([run_of(truth, said)] * 3)
    assert (one.p, one.permuted, one.moved) == pytest.approx((three.p, three.permuted, three.moved))


def test_p_values_are_corrected_for_all_that_were_tested() -> None:
    measured = corrected([Chance(p=0.01), Chance(), Chance(p=0.04), Chance(p=0.02)])
    assert [chance.p_holm for chance in measured] == pytest.approx([0.03, None, 0.04, 0.04])
    assert [chance.beaten for chance in measured] == [True, False, True, True]
    assert [c.beaten for c in corrected([Chance(p=0.03), Chance(p=0.03)])] == [False, False]


@pytest.mark.slow
def test_stars_and_ties_on_the_board(data: Dataset, make_run: Callable[..., Dataset]) -> None:
    from claimlab.evaluate.scored_run import open_runs

    skills = {"sharp": 0.9, "sharp too": 0.9, "poor": 0.7, "luck": 0.5}
    runs = [
        one
        for i, (name, skill) in enumerate(skills.items())
        for one in open_runs(make_run(data, skill, seed=i, detector=name), name=name)
    ]
    done = evaluate_runs(runs, draws=500)
    assert {run.name: run.chance.beaten for run in done.runs} == {
        "sharp": True, "sharp too": True, "poor": True, "luck": False,
    }  # fmt: skip
    board = done.boards[0]
    assert sorted(board.tied) == ["sharp", "sharp too"]
    assert board.ranks == {"sharp": "1-2", "sharp too": "1-2", "poor": "3", "luck": "4"}
    text = conclusion(done.runs, board)
    assert re.match(r"sharp( too)? and sharp( too)? cannot be told apart \(p 0\.\d+\); ", text)
    assert "; both are above poor and luck." in text
    rest = evaluate_runs([run for run in runs if run.name != "sharp too"], draws=500)
    assert conclusion(rest.runs, rest.boards[0]).startswith(
        "sharp is the best of 3 runs, clearly above poor and luck. sharp: macro-F1 "
    )
    chance = [run for run in done.runs if run.name == "luck"]
    assert ("which can be chance" in conclusion(chance)) == (
        (chance[0].chance.difference or 0) >= 0
    )


STRUCTURES = (
    "twin",
    "twitter15",
    "fibvid",
    "liar-new",
)  # grouped and unbalanced; all but the first are real


@pytest.fixture(scope="module")
def structures(
    real_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, pl.DataFrame]:
    """Labels and groups alone: 150 groups of both classes, 200 events, 74% false, 92% false."""
    place = tmp_path_factory.mktemp("structures")
    loaded = {"twin": clean_twin(size=900).records}
    for name in STRUCTURES[1:]:
        loaded[name] = cl.load(name, source=real_data / f"{name}.zip", output=place / name).records
    return {
        name: records.filter(pl.col("veracity").is_in([TRUE, FALSE])).select(
            "id", "group", truth="veracity"
        )
        for name, records in loaded.items()
    }


def guesses(
    kind: str, truth: Labels, unit: Labels, test: Labels, rng: np.random.Generator
) -> Labels:
    """Answers that know nothing of the test records: a coin, the labels' proportions, one guess per
    group, and the majority of the training rows for each value of a meaningless column."""
    n, share = len(truth), float((truth == TRUE).mean())
    if kind in ("coin", "proportions"):
        return words(
            rng.random(n) < (share if kind == "proportions" else rng.choice([0.2, 0.5, 0.8]))
        )
    if kind == "by group":
        return words((rng.random(unit.max() + 1) < 0.5)[unit])
    column = rng.integers(12, size=unit.max() + 1)[unit]
    true = np.bincount(column[~test], truth[~test] == TRUE, 12)
    return words((true >= share * np.bincount(column[~test], minlength=12))[column])


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 3])
def test_at_most_5_of_100_tables_of_guesses_have_a_star(
    structures: dict[str, pl.DataFrame], seeds: int
) -> None:
    """100 tables of 16 figures each (4 kinds of guess on 4 label structures, test sets of a fifth,
    groups whole).
    """
    rng, starred = np.random.default_rng(seeds), 0
    whole = {
        name: rows.select(pl.coalesce("group", "id")).to_series().to_numpy()
        for name, rows in structures.items()
    }
    units = {name: np.unique(groups, return_inverse=True)[1] for name, groups in whole.items()}
    for _ in range(100):
        figures = []
        for name, rows in structures.items():
            truth, unit = rows["truth"].to_numpy(), units[name]
            for kind in ("coin", "proportions", "by group", "column"):
                runs = []
                for _ in range(seeds):
                    test = np.isin(unit, rng.permutation(unit.max() + 1)[: (unit.max() + 1) // 5])
                    said = guesses(kind, truth, unit, test, rng)
                    mine = rows.filter(pl.Series(test))
                    groups = unit[test] if mine["group"].null_count() < mine.height else None
                    runs.append(run_of(truth[test], said[test], groups, mine["id"].to_numpy()))
                figures.append(against_chance(runs, draws=1_000))
        starred += any(chance.beaten for chance in corrected(figures))
    assert starred <= 5, f"{starred} of 100 tables"
