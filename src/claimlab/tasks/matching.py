"""The task `matching`: which fact-checks of an archive answer a claim. How well a ranking does, and
when its best is good enough to be an answer.

What is right is in the side table `qrels` of the queries, or in a TREC file. The figures are those
of trec_eval: success@k, reciprocal rank, average precision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypedDict
from urllib.parse import quote

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UnreadableFile
from claimlab.core.stats.interval import LEAST_UNITS, Interval, mean_interval
from claimlab.core.stats.threshold import Cases, Measured, measured, threshold
from claimlab.core.types import JsonObject
from claimlab.core.units import Units, too_few
from claimlab.core.words import several
from claimlab.tasks import Task

Qrels = Mapping[str, Collection[str]]
Ranking = Sequence[tuple[str, float]]  # ids with their scores, best first
QRELS = "qrels"
_WHITESPACE = re.compile(r"\s")
TASK = Task(
    "matching",
    "Which fact-checks of an archive answer a claim: rankings, scored against the table `qrels`.",
    lambda records: pl.Series([None] * records.height, dtype=pl.String),
    ("match", "no match"),
    {
        "match": "A fact-check of the archive answers the claim.",
        "no match": "The archive has no fact-check of the claim.",
    },
    "Which fact-checks answer this claim?",
    metric="MRR",
)
FEWEST_QUERIES = 20  # labelled queries, below which nothing is decided
SHARES = (0.0, 0.3, 0.5)  # of claims without an answer, at which the precision is measured
LEAST_SHARE = (
    0.3  # that is assumed where labelled queries have fewer: most have an answer by choice
)
DIFFERENT = 0.05  # p: masked queries that score otherwise are no stand-in for those without answer
NOTHING = -np.inf  # the score where nothing is near


def success(ids: Sequence[str], truth: Collection[str], k: int = 1) -> float:
    """1 if a right one is among the first `k`."""
    return float(any(id in truth for id in ids[:k]))


def reciprocal_rank(ids: Sequence[str], truth: Collection[str]) -> float:
    return next((1 / rank for rank, id in enumerate(ids, 1) if id in truth), 0.0)


def average_precision(ids: Sequence[str], truth: Collection[str]) -> float:
    """The mean over the right ones of the precision at their rank; a missing one counts 0."""
    right, total = 0, 0.0
    for rank, id in enumerate(ids, 1):
        if id in truth:
            right += 1
            total += right / rank
    return total / len(truth) if truth else 0.0


RankingFigure = Callable[[Sequence[str], Collection[str]], float]
FIGURES: dict[str, RankingFigure] = {
    **{f"success@{k}": partial(success, k=k) for k in (1, 5, 10)},
    "MRR": reciprocal_rank,
    "MAP": average_precision,
}


def figures(
    rankings: Mapping[str, Ranking],
    qrels: Qrels,
    *,
    groups: Mapping[str, str] | None = None,
    seed: int = 0,
) -> JsonObject:
    """Each figure with its interval over the queries that have an answer. Queries of one group (a
    debate, an event) are not independent: groups are resampled."""
    answerable = [query for query in rankings if qrels.get(query)]
    lists = {query: [id for id, _ in rankings[query]] for query in answerable}
    units = _units(answerable, groups or {})
    out: JsonObject = {"queries": len(answerable)}
    for name, figure in FIGURES.items():
        numbers = np.array([figure(lists[q], qrels[q]) for q in answerable], np.float64)
        enough = len(numbers) >= FEWEST_QUERIES
        out[name] = {
            "value": float(numbers.mean()) if len(numbers) else None,
            "interval": mean_interval(numbers, cluster=units.codes, seed=seed) if enough else None,
        }
    return out


class Precision(TypedDict):
    """How often an answer is right, and "no match" is, where such a share of the claims has no
    answer in the archive."""

    unanswered: float
    precision: float | None
    interval: Interval | None
    no_match: float | None


@dataclass(frozen=True)
class Decision:
    """The least score at which the best match is an answer, so that answers have the precision that
    was `asked` for where a share `unanswered` of the claims has no answer in the archive. A null
    threshold: no score reaches it for sure.

    `precision` with its interval is measured on queries that did not choose the threshold, at that
    share, and `at` others. `answered` is the share of all claims that get an answer then, `found`
    that of the claims with an answer that get the right one. `no_match` is how often claims that
    get none have none.

    `queries` have a labelled answer, `without` have none. `source` says what stands for claims
    without an answer: labelled queries, or masked ones, or both. `why` there is no threshold.
    `units` are those of the labelled queries: queries of one group are not independent."""

    asked: float
    unanswered: float
    threshold: float | None = None
    precision: float | None = None
    interval: Interval | None = None
    at: Sequence[Precision] = ()
    answered: float | None = None
    found: float | None = None
    no_match: float | None = None
    queries: int = 0
    without: int = 0
    source: str | None = None
    why: str | None = None
    units: JsonObject = field(default_factory=dict)


def decide(
    rankings: Mapping[str, Ranking],
    qrels: Qrels,
    precision: float,
    *,
    unanswered: float | None = None,
    masked: Mapping[str, float] | None = None,
    groups: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Decision:
    """Choose the threshold that keeps the precision where a share `unanswered` of the claims has no
    answer: by default the share among labelled queries, and at least `LEAST_SHARE`.

    `masked` is what the best match of a query scores without its right answers and their copies: by
    default the best of its ranking that is not right. Queries of one group are not independent.
    """
    queries = sorted(query for query in rankings if query in qrels)
    having = [query for query in queries if qrels[query]]
    lacking = [query for query in queries if not qrels[query]]
    hidden = _next_best(rankings, qrels, having) if masked is None else masked
    units = _units(queries, groups or {})
    code = dict(zip(queries, units.codes.tolist(), strict=True))
    scores, source = _without(rankings, lacking, {q: hidden[q] for q in having if q in hidden})
    share = len(lacking) / max(len(queries), 1)
    share = max(LEAST_SHARE, share) if unanswered is None else unanswered
    cases = Cases(
        np.array([_best(rankings[query]) for query in having], np.float64),
        np.array([_is_right(rankings[query], qrels[query]) for query in having], bool),
        np.array([code[query] for query in having], np.int64),
        np.array([*scores.values()], np.float64),
        np.array([code[query] for query in scores], np.int64),
    )
    decision = Decision(
        precision,
        share,
        queries=len(having),
        without=len(lacking),
        source=source,
        units=units.to_json(),
    )
    least = threshold(cases, precision, share)
    if least is None:
        return replace(decision, why=_why(decision, cases))
    kept = measured(cases, least, precision, share, seed=seed)
    value, ends = kept.at(share)
    return replace(
        decision,
        threshold=least,
        precision=value,
        interval=ends,
        at=[_at(kept, one) for one in sorted({*SHARES, share})],
        answered=kept.given(share),
        found=kept.found,
        no_match=kept.no_match(share),
    )


def _at(kept: Measured, share: float) -> Precision:
    value, ends = kept.at(share)
    return {
        "unanswered": share,
        "precision": value,
        "interval": ends,
        "no_match": kept.no_match(share),
    }


def _why(decision: Decision, cases: Cases) -> str:
    """Why there is no threshold."""
    if decision.queries < FEWEST_QUERIES:
        labelled = several(decision.queries, "labelled query", "labelled queries")
        return f"{labelled} with an answer in the archive; at least {FEWEST_QUERIES} are needed"
    if cases.units < LEAST_UNITS:
        count = len(np.unique(cases.unit))
        counted = several(count, "group")
        return too_few(f"{decision.queries:,} labelled queries of {counted}", count, cases.units)
    if decision.source is None and decision.unanswered:
        return "nothing shows what claims without an answer score"
    return "no score reaches it for sure"


def _best(ranking: Ranking) -> float:
    return ranking[0][1] if ranking else NOTHING


def _is_right(ranking: Ranking, answers: Collection[str]) -> bool:
    return bool(ranking) and ranking[0][0] in answers


def _next_best(
    rankings: Mapping[str, Ranking], qrels: Qrels, queries: Sequence[str]
) -> dict[str, float]:
    """The best score of each query that is not of a right answer, where its ranking reaches that
    far."""
    scores = {}
    for query in queries:
        others = (score for id, score in rankings[query] if id not in qrels[query])
        best = next(others, None)
        if best is not None:
            scores[query] = best
    return scores


def _without(
    rankings: Mapping[str, Ranking], lacking: Sequence[str], hidden: Mapping[str, float]
) -> tuple[dict[str, float], str | None]:
    """What claims without an answer score, and what stands for them: labelled queries without an
    answer, and masked ones as far as these score alike."""
    own = {query: _best(rankings[query]) for query in lacking}
    if not hidden or not own:
        source = "labelled queries" if own else "masked queries" if hidden else None
        return own or dict(hidden), source
    if len(own) >= FEWEST_QUERIES and _differ([*own.values()], [*hidden.values()]):
        return own, "labelled queries"
    return {**own, **hidden}, "labelled and masked queries"


def _differ(scores: Sequence[float], others: Sequence[float]) -> bool:
    """By the test of Mann and Whitney."""
    from scipy.stats import mannwhitneyu

    return bool(mannwhitneyu(scores, others).pvalue < DIFFERENT)


def _units(queries: Sequence[str], groups: Mapping[str, str]) -> Units:
    """Queries of one group are one unit."""
    column = pl.Series([groups.get(query) for query in queries], dtype=pl.String)
    grouped = column.drop_nulls().is_duplicated().any()
    return Units.by("group", column) if grouped else Units.records(len(queries))


def _trec(file: Path, columns: int, shape: str) -> Iterator[list[str]]:
    """The lines of a TREC file as cells; a sentence for one of another shape."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"'{file}' cannot be read: {error}.", "Check the file.") from None
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if cells and (len(cells) != columns or not cells[3].lstrip("-").isdigit()):
            raise UnreadableFile(
                f"Line {number} of '{file.name}' is not a line of TREC.", f"Write: {shape}."
            )
        if cells:
            yield cells


def read_qrels(file: Path) -> dict[str, set[str]]:
    """A TREC qrels file: query, iteration, document, relevance; a query whose documents all have
    relevance 0 has no answer."""
    rows = ((q, d, int(r)) for q, _, d, r in _trec(file, 4, "query 0 document relevance"))
    return _qrels(rows)


def qrels_of(dataset: Dataset) -> dict[str, set[str]] | None:
    """The answers that the queries of a dataset have; null where it has no table of them."""
    table = dataset.tables.get(QRELS)
    if table is None:
        return None
    return _qrels(table.select("record_id", "document", "relevance").iter_rows())


def _qrels(rows: Iterator[tuple[str, str, int]]) -> dict[str, set[str]]:
    qrels: dict[str, set[str]] = {}
    for query, document, relevance in rows:
        answers = qrels.setdefault(query, set())
        if relevance > 0:
            answers.add(document)
    return qrels


def as_word(id: str) -> str:
    """An id as one word of a TREC file: whitespace would end it, or begin another line."""
    return _WHITESPACE.sub(lambda blank: quote(blank[0]), id)


def as_qrels(qrels: Qrels) -> str:
    """Answers as a TREC qrels file; a query without one has a line of relevance 0."""
    lines = [
        f"{as_word(query)} 0 {as_word(document)} {int(document != '-')}"
        for query, answers in qrels.items()
        for document in sorted(answers) or ["-"]
    ]
    return "".join(f"{line}\n" for line in lines)


def read_run(file: Path) -> dict[str, list[tuple[str, float]]]:
    """A TREC run file: query, Q0, document, rank, score, name. Its scores order the documents, and
    its lines where these are equal."""
    rankings: dict[str, list[tuple[str, float]]] = {}
    for query, _, document, _, score, _ in _trec(file, 6, "query Q0 document rank score name"):
        try:
            rankings.setdefault(query, []).append((document, float(score)))
        except ValueError:
            raise UnreadableFile(
                f"'{file.name}' has '{score}' as a score.", "Write a number."
            ) from None
    return {q: sorted(ranking, key=lambda hit: -hit[1]) for q, ranking in rankings.items()}


def as_run(rankings: Mapping[str, Ranking], name: str = "claimlab") -> str:
    """The rankings as a TREC run file."""
    lines = [
        f"{as_word(query)} Q0 {as_word(id)} {rank} {score:.6f} {name}"
        for query, ranking in rankings.items()
        for rank, (id, score) in enumerate(ranking, 1)
    ]
    return "".join(f"{line}\n" for line in lines)
