"""How often claimlab is right about which differences are real, on planted truth.

    python bench/compare_truth.py            # about 40 minutes on one core; --quick: one minute

Test sets have the labels and groups of real ones (../shared/data), drawn anew in every draw: whole
groups, with replacement. Systems of known skill answer them. What makes a record hard is the same
for all systems to 60%, and half of it is that of its whole group. Everything is then done as
`claimlab evaluate` does it, and compared with the truth.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from harness import begin, parser, shared
from scipy.special import ndtri

import claimlab as cl
from claimlab.core.stats.ceiling import by_agreement, ceiling
from claimlab.core.stats.interval import effective_groups
from claimlab.core.stats.ranks import Ranking, foreseen, rank
from claimlab.core.stats.scores import Floats, Ints, macro_f1

REAL = ("twitter15", "fibvid", "liar-new")  # events; 74% false; 92% false
SHARE = 0.2  # of the groups: a test set
Structure = list[
    tuple[int, int, int]
]  # groups of so many records, so many of them true, and how many
SYSTEMS = {
    "3 tied": [0.8] * 3,
    "3 apart": [0.9, 0.8, 0.7],
    "10 mixed": [0.85] * 3 + [0.8] * 3 + [0.65] * 4,
    "50 mixed": [0.85] * 10 + [0.8] * 20 + [0.6] * 20,
    "200 mixed": [0.85] * 40 + [0.8] * 80 + [0.6] * 80,
}
ALIKE = 0.6  # of what makes a record hard: the same for all systems
DRAWS = 600


@dataclass(frozen=True)
class TestSet:
    """Labels of two classes and the group of each record."""

    labels: Ints
    groups: Ints


def structures() -> dict[str, Structure]:
    """The groups and labels of a fifth of each dataset, as counts alone."""
    import polars as pl

    out: dict[str, Structure] = {}
    for name in REAL:
        records = cl.load(name, source=shared(f"{name}.zip")).records.filter(
            pl.col("veracity").is_in(["true", "false"])
        )
        groups = records.group_by(pl.coalesce("group", "id")).agg(
            size=pl.len(), true=(pl.col("veracity") == "true").sum()
        )
        part = groups.sort("group").sample(fraction=SHARE, seed=0)
        kinds = part.group_by("size", "true").len().sort("size", "true")
        out[name] = [(int(size), int(true), int(n)) for size, true, n in kinds.iter_rows()]
    out["twins"] = [(2, 1, 45)]  # pairs of one true and one false text
    return out


def made(kinds: Structure) -> TestSet:
    """The test set of a structure."""
    labels, groups, group = [], [], 0
    for size, true, times in kinds:
        for _ in range(times):
            labels += [1] * true + [0] * (size - true)
            groups += [group] * size
            group += 1
    return TestSet(np.array(labels, np.int64), np.array(groups, np.int64))


def again(test: TestSet, rng: np.random.Generator) -> TestSet:
    """As many groups, drawn with replacement: each is a group of its own."""
    order = np.argsort(test.groups, kind="stable")
    size = np.bincount(test.groups)
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    picked = rng.integers(len(size), size=len(size))
    rows = np.concatenate([order[start[g] : start[g] + size[g]] for g in picked])
    return TestSet(test.labels[rows], np.repeat(np.arange(len(size)), size[picked]))


def right(known: TestSet, skills: Floats, rng: np.random.Generator) -> Floats:
    """Which answers are right (records, systems)."""
    n, groups = len(known.labels), int(known.groups.max()) + 1

    def level(*systems: int) -> Floats:  # half of it the same for a whole group
        whole = rng.normal(size=(groups, *systems))[known.groups]
        return np.asarray((whole + rng.normal(size=(n, *systems))) / np.sqrt(2))

    hard = np.sqrt(ALIKE) * level(1) + np.sqrt(1 - ALIKE) * level(len(skills))
    return np.asarray(hard < ndtri(skills))


def scores(known: TestSet, correct: Floats) -> Floats:
    """The macro-F1 of each system."""
    ones = np.ones(len(known.labels))
    return resampled(known, correct, np.asarray(ones[None]))[0]


def resampled(test: TestSet, correct: Floats, weights: Floats) -> Floats:
    """The macro-F1 of each system under weights of the records (draws, records)."""
    tables = np.zeros((len(weights), correct.shape[1], 2, 2))
    for label in (0, 1):
        mine = test.labels == label
        hits = weights[:, mine] @ correct[mine]
        tables[:, :, label, label] = hits
        tables[:, :, label, 1 - label] = weights[:, mine].sum(axis=1)[:, None] - hits
    return macro_f1(tables)


def ranking(test: TestSet, correct: Floats, rng: np.random.Generator) -> tuple[Floats, Ranking]:
    groups = int(test.groups.max()) + 1
    drawn = rng.multinomial(groups, np.full(groups, 1 / groups), size=DRAWS)[:, test.groups]
    points = scores(test, correct)
    effective = effective_groups(np.bincount(test.groups))
    return points, rank(points, resampled(test, correct, drawn.astype(np.float64)), effective)


def truth(known: TestSet, skills: Floats) -> Floats:
    """The macro-F1 that each skill has in the long run: equal skills have equal ones."""
    rng = np.random.default_rng(0)
    share = known.labels.mean()
    many = (rng.random(400_000) < share).astype(np.int64)
    alone = TestSet(many, np.arange(len(many)))
    levels = {}
    for skill in sorted(set(skills.tolist())):
        answer = (rng.random(len(many)) < skill).astype(np.float64)[:, None]
        levels[skill] = float(scores(alone, answer)[0])
    return np.array([levels[skill] for skill in skills.tolist()])


def cover(case: tuple[str, str, int]) -> tuple[int, int]:
    """Whether the rank intervals hold all true ranks, and whether the tied runs hold a best one."""
    name, systems, draw = case
    base, skills = made(SETS[name]), np.array(SYSTEMS[systems])
    rng = np.random.default_rng([draw, len(skills), len(base.labels)])
    known = again(base, rng)
    _, ranked = ranking(known, right(known, skills, rng), rng)
    best = [1 + int((skills > skill).sum()) for skill in skills]
    worst = [len(skills) - int((skills < skill).sum()) for skill in skills]
    holds = all(
        low <= first and last <= high
        for (low, high), first, last in zip(ranked.ranks, best, worst, strict=True)
    )
    return int(holds), int(all(i in ranked.tied for i in np.flatnonzero(skills == skills.max())))


def power(case: tuple[str, int]) -> tuple[float, int, int]:
    """The predicted detectable difference of two systems, and whether one of that size is seen."""
    name, draw = case
    base = made(SETS[name])
    rng = np.random.default_rng([draw, 77])
    known = again(base, rng)
    low, high = PLANTED[name]
    points, one = ranking(known, right(known, np.array([high, low]), rng), rng)
    seen = one.p[0, 1] < 0.05 and points[0] > points[1]
    return one.detectable, int(seen), len(points)


def planted(name: str) -> tuple[float, float]:
    """Two skills whose true difference is the one that is predicted to be seen in 80 of 100."""
    base, low = made(SETS[name]), 0.75
    high = low + 0.1
    for _ in range(6):
        seen = []
        for draw in range(40):
            rng = np.random.default_rng([draw, 5])
            known = again(base, rng)
            _, one = ranking(known, right(known, np.array([high, low]), rng), rng)
            seen.append(one.detectable)
        wanted = float(np.sqrt(np.mean(np.square(seen))))
        best, worst = truth(base, np.array([high, low]))
        high = min(0.99, low + (high - low) * wanted / (best - worst))
    return low, high


def under_ceiling(case: tuple[str, float, int, int]) -> int:
    """Whether the band of the noise ceiling holds the score of a perfect detector, where labels are
    wrong at a known rate: each is one annotator's, with a second one beside it, or the majority of
    three."""
    name, rate, votes, draw = case
    rng = np.random.default_rng([draw, votes, int(100 * rate)])
    test = again(made(SETS[name]), rng)
    truth = test.labels
    given = truth ^ (rng.random((max(2, votes), len(truth))) < rate)
    labels = (given.mean(axis=0) > 0.5).astype(np.int64) if votes > 1 else given[0]
    ones, n = given.sum(axis=0), len(given)
    agreeing = (ones * (ones - 1) + (n - ones) * (n - ones - 1)) / (n * (n - 1))
    divided = [[votes for votes in (k, n - k) if votes] for k in ones.tolist()]
    made_of = divided if votes > 1 else [[1]]
    quality = by_agreement(agreeing, test.groups, 2, made_of, seed=draw)
    if quality is None:
        return 0
    low, high = ceiling(np.bincount(labels, minlength=2), quality, macro_f1, seed=draw)[1]
    table = np.zeros((2, 2))
    np.add.at(table, (labels, truth), 1)
    return int(low <= float(macro_f1(table)) <= high)


RATES = ((0.05, 1), (0.15, 1), (0.15, 3))  # of wrong labels, and annotators behind each label
SETS: dict[str, Structure] = {}
PLANTED: dict[str, tuple[float, float]] = {}


def speed() -> None:
    """Processor seconds of `claimlab evaluate` on a CSV of 200 systems and 500 items."""
    known = TestSet(np.zeros(500, np.int64), np.arange(500))
    answers = right(known, np.array(SYSTEMS["200 mixed"]), np.random.default_rng(0)).astype(int)
    lines = [f"i{i},s{s},{hit}" for i, row in enumerate(answers) for s, hit in enumerate(row)]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "results.csv"
        file.write_text("\n".join(["item,system,correct", *lines]))
        begun = process_time()
        (board,) = cl.evaluate(file).boards
    print(f"{len(board.standings)} systems, {board.records} items: {process_time() - begun:.1f} s")


def main() -> None:
    made_parser = parser(__doc__)
    made_parser.add_argument("--quick", action="store_true")
    made_parser.add_argument("--draws", type=int, default=1_000)
    made_parser.add_argument("--systems", type=int, default=200, help="at most so many")
    made_parser.add_argument("--fewest", type=int, default=3, help="systems at least")
    made_parser.add_argument("--speed", action="store_true", help="rank 200 systems of 500 items")
    made_parser.add_argument("--only", help="one test set")
    made_parser.add_argument("--structures", help="JSON instead of the datasets at hand")
    chosen = begin(made_parser)
    if chosen.speed:
        speed()
        return
    known = json.loads(chosen.structures) if chosen.structures else structures()
    SETS.update({name: one for name, one in known.items() if chosen.only in (None, name)})
    draws = 60 if chosen.quick else chosen.draws
    most = 10 if chosen.quick else chosen.systems
    systems = [name for name, skills in SYSTEMS.items() if chosen.fewest <= len(skills) <= most]
    lines = [
        "| test set | systems | draws | ranks hold | the tied hold all of the best |",
        "|---|---|---:|---:|---:|",
    ]
    PLANTED.update({name: planted(name) for name in SETS})
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("fork")) as pool:
        for name in SETS:
            for which in systems:
                times = draws if len(SYSTEMS[which]) < 100 else min(draws, 300)
                cases = [(name, which, draw) for draw in range(times)]
                found = np.array(list(pool.map(cover, cases, chunksize=8)))
                ranks, tied = 100 * found.mean(axis=0)
                lines.append(f"| {name} | {which} | {times:,} | {ranks:.1f} % | {tied:.1f} % |")
                print(lines[-1], flush=True)
        lines += [
            "",
            "| test set | predicted detectable difference | power found | foreseen before a run |",
            "|---|---:|---:|---:|",
        ]
        for name in SETS:
            found = list(pool.map(power, [(name, draw) for draw in range(draws)], chunksize=8))
            gap, seen = np.mean([row[0] for row in found]), np.mean([row[1] for row in found])
            base = made(SETS[name])
            early = foreseen(base.labels, base.groups) or float("nan")
            size = f"{name}: {len(base.labels)} records, {int(base.groups.max()) + 1} groups"
            predicted, expected = f"{100 * gap:.1f} points", f"{100 * early:.1f} points"
            lines.append(f"| {size} | {predicted} | {100 * seen:.1f} % | {expected} |")
            print(lines[-1], flush=True)
        for name in SETS:
            for rate, votes in RATES:
                planted_errors = [(name, rate, votes, draw) for draw in range(draws)]
                held = np.mean(list(pool.map(under_ceiling, planted_errors, chunksize=8)))
                words = f"{name}: {100 * rate:.0f}% wrong, {votes} annotator(s)"
                print(f"ceiling, {words}: {100 * held:.1f} % of bands hold", flush=True)


if __name__ == "__main__":
    main()
