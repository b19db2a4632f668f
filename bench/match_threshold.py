"""Does the threshold of `match` hold? Simulated scores of which the truth is known, and published
archives of which a part is hidden.

    python bench/match_threshold.py                       # simulated; --runs 40: minutes
    python bench/match_threshold.py --archives            # published sets, as `claimlab match` does

A claim has a right fact-check with score R and a best wrong one with score W: the higher is first.
Masked, or without an answer, W is first. A run labels queries, decides, and is right if the true
precision of its threshold, where the stated share of the claims has no answer, is as asked for.
What it finds is compared with what an oracle finds: by the lowest threshold that is as precise.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from harness import begin, parser, shared
from parts.matching_sets import SETS, matching

from claimlab.claims.match_lookup import Lookup, vectors_of_texts
from claimlab.claims.match_masked import Answers
from claimlab.claims.matches import match_of
from claimlab.core.progress import progress
from claimlab.core.stats.scores import Flags, Floats
from claimlab.search.fusion import SentenceEncoder
from claimlab.search.local import LocalIndex, build_index
from claimlab.tasks.matching import Decision, decide
from claimlab.text.vectors import CHARACTERS_READ

ASKED = 0.9
SHARES = (0.0, 0.3, 0.5)
SIZES = (100, 400)
TRUTH = 400_000  # queries that stand for all
CUTS = 2_000


class Scores(NamedTuple):
    """Of queries: what the best scores and whether it is right, and what it scores masked."""

    first: Floats
    right: Flags
    masked: Floats


def apart(distance: float) -> Callable[[np.random.Generator, int], Scores]:
    """Normal scores; right ones are higher by so many standard deviations."""

    def draw(rng: np.random.Generator, n: int) -> Scores:
        right, wrong = rng.normal(distance, 1, n), rng.normal(0, 1, n)
        return Scores(np.maximum(right, wrong), right > wrong, wrong)

    return draw


def skewed(rng: np.random.Generator, n: int) -> Scores:
    right, wrong = rng.beta(5, 2, n), rng.beta(2, 5, n)
    return Scores(np.maximum(right, wrong), right > wrong, wrong)


def heavy(rng: np.random.Generator, n: int) -> Scores:
    right, wrong = rng.standard_t(4, n) + 3, rng.standard_t(4, n)
    return Scores(np.maximum(right, wrong), right > wrong, wrong)


def tied(rng: np.random.Generator, n: int) -> Scores:
    """Scores of six values."""
    right, wrong = rng.normal(3, 1, n).round().clip(0, 5), rng.normal(0, 1, n).round().clip(0, 5)
    return Scores(np.maximum(right, wrong), right > wrong, wrong)


def copies(rng: np.random.Generator, n: int) -> Scores:
    """4% of the claims have a second fact-check that the labels do not know."""
    right, wrong = rng.normal(3, 1, n), rng.normal(0, 1, n)
    wrong = np.where(rng.random(n) < 0.04, rng.normal(3, 1, n), wrong)
    return Scores(np.maximum(right, wrong), right > wrong, wrong)


def flat(share: float) -> Callable[[np.random.Generator, int], Scores]:
    """The score says nothing of whether the best is right: the worst case of choosing."""

    def draw(rng: np.random.Generator, n: int) -> Scores:
        return Scores(rng.normal(0, 1, n), rng.random(n) < share, rng.normal(-4, 1, n))

    return draw


def unknown_copies(rng: np.random.Generator, n: int) -> Scores:
    """The best is always right, and one claim in eight has a second fact-check."""
    masked = np.where(rng.random(n) < 1 / 8, rng.normal(0, 1, n), -9.0)
    return Scores(rng.normal(0, 1, n), np.ones(n, bool), masked)


@dataclass(frozen=True)
class World:
    name: str
    draw: Callable[[np.random.Generator, int], Scores]


WORLDS = (
    World("strong scores (3 sd)", apart(3)),
    World("skewed scores (beta)", skewed),
    World("heavy tails (t, 4)", heavy),
    World("ties (6 values)", tied),
    World("4% unknown copies", copies),
    World("fair scores (2 sd)", apart(2)),
    World("weak scores (1 sd)", apart(1)),
    World("flat, .89 right", flat(0.89)),
    World("12.5% unknown copies", unknown_copies),
)


@dataclass(frozen=True)
class Truth:
    scores: Scores

    def precision(self, least: float, unanswered: float) -> float:
        right, answers = self._counts(least, unanswered)
        return right / answers if answers else 1.0

    def found(self, least: float) -> float:
        """The share of claims with an answer that get it."""
        return float((self.scores.right & (self.scores.first >= least)).mean())

    def _counts(self, least: float, unanswered: float) -> tuple[float, float]:
        reached = (1 - unanswered) * (self.scores.first >= least).mean()
        return (1 - unanswered) * self.found(least), float(
            reached + unanswered * (self.scores.masked >= least).mean()
        )

    def oracle(self, unanswered: float, asked: float = ASKED) -> float:
        """The most that can be found at the precision asked for."""
        scores = self.scores
        cuts = np.unique(np.quantile(scores.first, np.linspace(0, 1, CUTS, endpoint=False)))
        first, right, masked = (
            1 - np.searchsorted(np.sort(values), cuts) / len(values)
            for values in (scores.first, scores.first[scores.right], scores.masked)
        )
        right = right * scores.right.mean()
        answers = (1 - unanswered) * first + unanswered * masked
        enough = (1 - unanswered) * right >= asked * answers
        return float(right[enough].max(initial=0.0))


@cache
def truth_of(world: World) -> Truth:
    return Truth(world.draw(np.random.default_rng(99), TRUTH))


def decided(
    scores: Scores, without: int, unanswered: float | None, asked: float = ASKED
) -> Decision:
    """As `match` does with labelled queries, of which so many have no answer."""
    n = len(scores.first)
    names = [f"q{i:04}" for i in range(n)]
    first = np.where(np.arange(n) < n - without, scores.first, scores.masked)
    rankings = {
        name: [("right" if right else "wrong", score)]
        for name, right, score in zip(names, scores.right, first.tolist(), strict=True)
    }
    truth = {name: {"right"} if i < n - without else set() for i, name in enumerate(names)}
    masked = dict(zip(names[: n - without], scores.masked.tolist(), strict=False))
    return decide(rankings, truth, asked, unanswered=unanswered, masked=masked)


class Cell(NamedTuple):
    """Over runs: how often the true precision is below the asked one, what is found of what an
    oracle finds, how often nothing is answered; of the precision printed for claims of which none,
    30% and 50% have no answer, how often its interval holds the true one, how often the lower end
    is below that, and how much it is above it."""

    below: float
    found: float | None
    silent: float
    covered: float
    safe: float
    over: float


def simulated(world: World, n: int, share: float, runs: int, *, labelled: bool) -> Cell:
    """`labelled`: the labelled queries lack answers as often as the claims do, and the share is
    taken from them."""
    truth = truth_of(world)
    best = truth.oracle(share)
    rng = np.random.default_rng(n)
    below, found, silent, covered, safe, over = 0, [], 0, [], [], []
    for _ in range(runs):
        without = int(rng.binomial(n, share)) if labelled else 0
        decision = decided(world.draw(rng, n), without, None if labelled else share)
        if decision.threshold is None:
            silent += 1
            found.append(0.0)
            continue
        real = truth.precision(decision.threshold, share)
        below += real < ASKED
        found.append(truth.found(decision.threshold))
        for at in decision.at:
            if at["unanswered"] in SHARES and at["interval"] and at["precision"] is not None:
                real = truth.precision(decision.threshold, at["unanswered"])
                covered.append(at["interval"][0] <= real <= at["interval"][1])
                safe.append(at["interval"][0] <= real)
                over.append(at["precision"] - real)
    share_found = float(np.mean(found)) / best if best > 0.01 else None
    return Cell(
        below / runs,
        share_found,
        silent / runs,
        float(np.mean(covered)) if covered else np.nan,
        float(np.mean(safe)) if safe else np.nan,
        float(np.mean(over)) if over else np.nan,
    )


def rows(worlds: tuple[World, ...], runs: int) -> Iterator[str]:
    for world in worlds:
        for labelled in (False, True):
            for n in SIZES:
                for share in SHARES:
                    if labelled and not share:
                        continue
                    cell = simulated(world, n, share, runs, labelled=labelled)
                    found = "-" if cell.found is None else f"{cell.found:.0%}"
                    cells = [world.name, "labelled" if labelled else "masked", n, f"{share:.0%}"]
                    cells += [f"{cell.below:.1%}", found, f"{cell.silent:.0%}"]
                    cells += [f"{cell.covered:.0%}", f"{cell.safe:.0%}", f"{cell.over:+.3f}"]
                    yield "| " + " | ".join(map(str, cells)) + " |"


class Looked(NamedTuple):
    """Of labelled queries of a published set: the scores with the archive as it is, and masked; and
    what the best scores where the right answers alone, not their copies, are hidden."""

    scores: Scores
    hidden: Floats


def looked_up(name: str, folder: Path, most: int, place: Path) -> Looked:
    claims, checks, truth = matching(name, folder)
    checks.write(place / name)
    build_index(place / name, place / f"{name}.index", factcheck=True)
    index = LocalIndex(
        place / f"{name}.index", SentenceEncoder(vectors_of_texts, (), CHARACTERS_READ)
    )
    answers = Answers.of(truth, index, claims.records["id"].to_list())
    queries = sorted(query for query, ids in answers.qrels.items() if ids)
    queries = np.random.default_rng(0).permutation(queries)[:most].tolist()
    answers = replace(answers, qrels={query: answers.qrels[query] for query in queries})
    lookup = Lookup(index, claims.records.filter(claims.records["id"].is_in(queries)))
    masked = answers.masked(lookup, progress)
    first, right, hidden = [], [], []
    for query in queries:
        (best,) = [match_of(hit) for hit in lookup.best(query, 1)] or [{"id": "", "score": -np.inf}]
        first.append(best["score"])
        right.append(best["id"] in answers.qrels[query])
        own = {answers.places[id] for id in answers.qrels[query]}
        others = lookup.best(query, 1, without=own)
        hidden.append(others[0].score if others else -np.inf)
    of_masked = np.array([masked[query] for query in queries])
    scores = Scores(np.array(first), np.array(right, bool), of_masked)
    return Looked(scores, np.array(hidden))


def archived(looked: Looked, asked: float, share: float, runs: int, n: int) -> list[str]:
    """Queries are drawn with replacement and labelled; all of the set are the truth, where a share
    of the answers is hidden and their copies are not."""
    rng = np.random.default_rng(0)
    truth = Truth(looked.scores._replace(masked=looked.hidden))
    below, printed, real, found = 0, [], [], []
    for _ in range(runs):
        own = rng.integers(len(looked.hidden), size=n)
        decision = decided(Scores(*(part[own] for part in looked.scores)), 0, share, asked)
        if decision.threshold is None:
            found.append(0.0)
            continue
        real.append(truth.precision(decision.threshold, share))
        found.append(truth.found(decision.threshold))
        below += real[-1] < asked
        printed.append(np.nan if decision.precision is None else decision.precision)
    oracle = truth.oracle(share, asked)
    shown = [f"{np.nanmean(printed):.2f}", f"{np.mean(real):.2f}"] if real else ["-", "-"]
    of_oracle = f"{np.mean(found) / oracle:.0%}" if oracle > 0.01 else "-"
    silent = f"{1 - len(real) / runs:.0%}"
    return [*shown, f"{below / runs:.0%}", of_oracle, silent, f"{oracle:.2f}"]


def archives(folder: Path, most: int, runs: int) -> None:
    print(
        "| set | labelled | asked | hidden | printed | true | below asked | found, of an"
        " oracle's | nothing answered | an oracle finds |\n" + "|---" * 10 + "|"
    )
    with tempfile.TemporaryDirectory() as place:
        for name in SETS:
            looked = looked_up(name, folder, most, Path(place))
            for n in SIZES:
                for asked in (0.8, ASKED):
                    for share in SHARES:
                        cells = [name, n, asked, f"{share:.0%}"]
                        cells += archived(looked, asked, share, runs, n)
                        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--archives", action="store_true", help="published sets")
    made.add_argument("--queries", type=int, default=800, help="of each published set, at most")
    made.add_argument("--runs", type=int, default=200)
    made.add_argument("--only", default="", help="worlds whose name holds this")
    options = begin(made)
    if options.archives:
        archives(shared(folder=options.data), options.queries, options.runs)
        return
    print(
        "| scores | without an answer | labelled | unanswered | below .9 | found, of an oracle's |"
        " nothing answered | interval holds | lower end holds | printed less true |\n"
        + "|---" * 10
        + "|"
    )
    for row in rows(tuple(w for w in WORLDS if options.only in w.name), options.runs):
        print(row, flush=True)


if __name__ == "__main__":
    main()
