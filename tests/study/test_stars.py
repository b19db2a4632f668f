"""The stars of a study: its table computed again with NumPy and SciPy alone, and no star for a
guess.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from parts.planted import clean_twin, planted
from scipy.stats import norm

import claimlab as cl
from claimlab.evaluate.scored_run import open_runs
from claimlab.study.run import Grid
from claimlab.study.saved import study_table
from claimlab.study.score import entries, gap_of

STUDY = """
seeds = [0, 1, 2]
[datasets.planted]
folder = "planted"
[datasets.twin]
folder = "twin"
[grid]
split = ["random", "group"]
detector = ["stratified", "tfidf"]
[table]
baseline = "majority"
"""
Numbers = NDArray[np.int64]


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Grid:
    place = tmp_path_factory.mktemp("stars")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(place)
        planted(size=700)[0].write("planted")
        clean_twin(size=700).write("twin")
        Path("study.toml").write_text(STUDY, encoding="utf-8")
        return cl.study_run("study.toml", place / "out")


def rows_of(grid: Grid, run: str) -> pl.DataFrame:
    folder = grid.output / "steps" / run
    records, answers = (
        pl.read_parquet(folder / f"{name}.parquet") for name in ("records", "predictions")
    )
    return records.join(answers, left_on="id", right_on="record_id").select(
        "id", "group", "veracity", "label"
    )


def macro(truth: Numbers, said: Numbers) -> float:
    f1 = [
        2 * ((truth == c) & (said == c)).sum() / ((truth == c).sum() + (said == c).sum())
        for c in (0, 1)
    ]
    return float(np.mean(f1))


def again(grid: Grid, runs: tuple[str, ...]) -> tuple[float, float, float]:
    """Mean macro-F1 over seeds, the best of the three baselines, and one p: ten groups of about one
    size exchange their labels, and groups are resampled; both tails are those of a normal
    distribution."""
    tables = [rows_of(grid, run) for run in runs]
    seen = pl.concat(tables).unique("id", maintain_order=True)
    groups = seen["group"].to_numpy()
    names = np.unique(groups)
    label = {i: int(v == "true") for i, v in zip(seen["id"], seen["veracity"], strict=True)}
    members = {g: seen.filter(pl.col("group") == g)["id"].to_list() for g in names}
    parts = [
        (t["id"].to_list(), t["group"].to_list(), np.array([int(s == "true") for s in t["label"]]))
        for t in tables
    ]

    def mean(labels: dict[str, int]) -> float:
        return float(
            np.mean([macro(np.array([labels[i] for i in ids]), said) for ids, _, said in parts])
        )

    score, rng, permuted = mean(label), np.random.default_rng(5), []
    for _ in range(150):
        moved = dict(label)
        ordered = sorted(names, key=lambda g: (len(members[g]), rng.random()))
        for start in range(0, len(ordered), 10):
            alike = ordered[start : start + 10]
            for mine, other in zip(alike, rng.permutation(np.array(alike)), strict=True):
                theirs, n = [label[i] for i in members[other]], len(members[mine])
                moved |= dict(
                    zip(
                        members[mine],
                        rng.choice(theirs, n, replace=n > len(theirs)).tolist(),
                        strict=True,
                    )
                )
        permuted.append(mean(moved))
    best = max(0.5, float(np.mean(permuted)))
    drawn = []
    for _ in range(150):
        times = dict(
            zip(names, rng.multinomial(len(names), [1 / len(names)] * len(names)), strict=True)
        )
        scores = []
        for ids, mine, said in parts:
            repeat = np.repeat(np.arange(len(ids)), [times[g] for g in mine])
            scores.append(macro(np.array([label[i] for i in ids])[repeat], said[repeat]))
        drawn.append(np.mean(scores))
    by_chance = norm.sf((score - np.mean(permuted)) / np.std(permuted, ddof=1))
    return score, best, float(max(by_chance, norm.sf((score - best) / np.std(drawn, ddof=1))))


@pytest.mark.slow
def test_the_table_is_that_of_other_code(grid: Grid) -> None:
    scored = entries(grid)
    tested = []
    for entry in scored:
        score, best, p = again(grid, entry.runs)
        assert entry.macro_f1 == pytest.approx(score, abs=1e-9)
        assert entry.chance.best == pytest.approx(best, abs=0.02)
        assert entry.chance.difference == pytest.approx(score - (entry.chance.best or 0), abs=1e-9)
        if entry.axes["detector"] != "majority":
            tested.append((entry, p))
    assert len(tested) == 12
    order = sorted(range(len(tested)), key=lambda i: tested[i][1])
    starred, still = set(), True
    for place, i in enumerate(order):  # Holm's method
        still = still and tested[i][1] * (len(tested) - place) < 0.05
        starred |= {i} if still else set()
    mine = {i for i, (entry, _) in enumerate(tested) if entry.chance.beaten}
    assert mine == starred
    named = {tuple(tested[i][0].axes.values())[::2] for i in mine}
    assert ("planted", "tfidf") in named, "planted skill has a star"
    assert not any("twin" in name or "stratified" in name for name in named), "no guess has one"


@pytest.mark.slow
def test_p_values_are_corrected_for_the_whole_study(grid: Grid) -> None:
    scored = entries(grid)
    for raw, corrected in (
        ([e.chance.p for e in scored], [e.chance.p_holm for e in scored]),
        ([e.p for e in scored], [e.p_holm for e in scored]),
    ):
        known = sorted(
            (p, c) for p, c in zip(raw, corrected, strict=True) if p is not None and c is not None
        )
        steps = [min(1.0, p * (len(known) - i)) for i, (p, _) in enumerate(known)]
        assert [c for _, c in known] == pytest.approx(np.maximum.accumulate(steps))
        assert len(known) == 12


def test_what_any_guess_beats_gives_no_star(grid: Grid) -> None:
    """A random guess is clearly above the majority's macro-F1: its difference is real, and worth no
    star.
    """
    guesses = [e for e in grid.entries if e.axes["detector"] == "stratified"]
    assert any(
        e.p_holm is not None and e.p_holm < 0.05 and (e.difference or 0) > 0 for e in guesses
    )
    assert not any(e.differs or e.chance.beaten for e in guesses)
    for cells in ("macro_f1", "difference"):
        tables = study_table(grid.output, rows="detector", columns="split", cells=cells)
        lines = {
            (table.caption.split("dataset ")[1].split(".")[0], row[0]): row[1:]
            for table in tables
            for row in table.rows
        }
        assert not any("*" in cell.text for cell in lines["planted", "stratified"])
        assert any("*" in cell.text for cell in lines["planted", "tfidf"])
    assert all(
        "* above every baseline" in t.caption
        for t in study_table(grid.output, cells="macro_f1")[:1]
    )
    assert "* above every baseline" in (grid.output / "report" / "table.tex").read_text(
        encoding="utf-8"
    )


def test_accuracy_was_not_tested_and_has_no_star(grid: Grid) -> None:
    tables = study_table(grid.output, rows="detector", columns="split", cells="accuracy")
    assert not any("*" in cell.text for table in tables for row in table.rows for cell in row[1:])
    assert not any("*" in table.caption for table in tables)


def test_the_spread_over_seeds_is_that_of_a_sample(grid: Grid) -> None:
    for entry in grid.entries:
        scores = [macro(*(np.array([int(v == "true") for v in t[c]]) for c in ("veracity", "label"))) for t in
                  (rows_of(grid, run) for run in entry.runs)]  # fmt: skip
        assert entry.spread == pytest.approx(
            np.sqrt(sum((s - np.mean(scores)) ** 2 for s in scores) / 2)
        )


def test_the_drop_is_the_random_split_less_the_other(grid: Grid) -> None:
    page = (grid.output / "report" / "report.md").read_text(encoding="utf-8")
    section = page.split("## From a random split to a fair one")[1].split("##")[0]
    at = {tuple(e.axes.values()): e.macro_f1 or 0.0 for e in grid.entries}
    lines = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in section.splitlines()
        if line.startswith("| ")
    ][2:]
    assert len(lines) == 8
    for dataset, split, detector, *_, drop in lines:
        expected = 100 * (at[dataset, "random", detector] - at[dataset, split, detector])
        assert float(drop) == pytest.approx(expected, abs=0.1)


def test_seeds_of_two_studies_are_drawn_apart(grid: Grid) -> None:
    """Two runs a side, not of the same seeds: that the same runs are on both sides must not make
    the gap certain.
    """
    chosen = next(
        e for e in grid.entries if e.axes["detector"] == "tfidf" and e.axes["dataset"] == "twin"
    )
    runs = [run for name in chosen.runs for run in open_runs(grid.output / "steps" / name)]
    paired, apart = (gap_of(runs, runs, paired=paired, draws=500) for paired in (True, False))
    assert paired is not None
    assert apart is not None
    assert paired[1] == (0.0, 0.0)
    assert apart[1] is not None
    assert apart[1][0] < 0 < apart[1][1]


def test_detectors_of_a_setting_have_the_ranks_that_the_data_allow(grid: Grid) -> None:
    """The planted words and the planted length are found, and a guess is never the best."""
    page = (grid.output / "report" / "index.html").read_text(encoding="utf-8")
    assert "Detector against detector" in page
    for entry in grid.entries:
        assert entry.ranks is not None
        assert entry.detectable is not None
        others = [
            other
            for other in grid.entries
            if other.has({axis: entry.axes[axis] for axis in ("dataset", "split")})
        ]
        assert entry.ranks[0] <= 1 + sum(
            (other.macro_f1 or 0) > (entry.macro_f1 or 0) for other in others
        )
        if entry.axes["dataset"] == "planted":
            finds = entry.axes["detector"] in ("tfidf", "length alone")
            assert (entry.ranks[1] <= 2) == finds
            assert entry.tied <= finds
    saved = pl.read_csv(grid.output / "report" / "scores.csv")
    assert saved.filter(detector="tfidf", dataset="planted")["best_rank"].to_list() == [1, 1]


def test_errors_from_seeds_and_from_records_are_taken_apart(grid: Grid) -> None:
    for entry in grid.entries:
        if entry.spread is None or entry.interval is None:
            continue
        assert entry.from_seeds == pytest.approx(entry.spread / entry.seeds**0.5)
        assert entry.from_records is not None
        low, high = entry.interval
        both = (entry.from_seeds**2 + entry.from_records**2) ** 0.5
        assert 1.5 * both < (high - low) / 2 < 4 * both  # wider than 1.96: few groups
        assert entry.advice in ("seeds", "records")
