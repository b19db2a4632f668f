"""The task `matching`: which fact-checks of an archive answer a claim. How well a ranking does, and
when its best is good enough to be an answer.

What is right is in the side table `qrels` of the queries, or in a TREC file. The figures are those
of trec_eval: success@k, reciprocal rank, average precision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UnreadableFile
from claimlab.core.stats.interval import Interval, mean_interval, wilson
from claimlab.core.stats.scores import Flags, Floats
from claimlab.core.types import JsonObject
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
FEWEST = 20  # answers of labelled queries, below which nothing is decided
SURE = 0.674  # standard deviations: three times in four the precision is at least as asked for


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


Figure = Callable[[Sequence[str], Collection[str]], float]
FIGURES: dict[str, Figure] = {
    **{f"success@{k}": partial(success, k=k) for k in (1, 5, 10)},
    "MRR": reciprocal_rank,
    "MAP": average_precision,
}


def figures(rankings: Mapping[str, Ranking], qrels: Qrels, *, seed: int = 0) -> JsonObject:
    """Each figure with its interval over the queries that have an answer."""
    answerable = [query for query in rankings if qrels.get(query)]
    lists = {query: [id for id, _ in rankings[query]] for query in answerable}
    out: JsonObject = {"queries": len(answerable)}
    for name, figure in FIGURES.items():
        numbers = np.array([figure(lists[q], qrels[q]) for q in answerable], np.float64)
        enough = len(numbers) >= FEWEST
        out[name] = {
            "value": float(numbers.mean()) if len(numbers) else None,
            "interval": mean_interval(numbers, seed=seed) if enough else None,
        }
    return out


@dataclass(frozen=True)
class Decision:
    """The least score at which the best match is an answer. `precision` with its interval, and the
    share of queries that get an answer, are of labelled queries that did not choose the threshold.
    `no_match` is how often those that got none have none in the archive, the precision of "no
    match"; null where every labelled query has an answer. A null threshold: no score reaches the
    precision that was asked for."""

    asked: float
    threshold: float | None
    precision: float | None = None
    interval: Interval | None = None
    answered: float | None = None
    queries: int = 0
    no_match: float | None = None
    no_match_interval: Interval | None = None


def decide(rankings: Mapping[str, Ranking], qrels: Qrels, precision: float) -> Decision:
    """Choose the threshold on every second labelled query, and try it on the rest. A query without
    a right answer in the archive is one that must get none."""
    known = sorted(query for query in rankings if query in qrels)
    score = np.array([rankings[q][0][1] if rankings[q] else 0.0 for q in known])
    right = np.array([bool(rankings[q]) and rankings[q][0][0] in qrels[q] for q in known])
    absent = np.array([not qrels[q] for q in known])
    first = np.arange(len(known)) % 2 == 0
    if len(known) < 2 * FEWEST:
        return Decision(precision, None, queries=len(known))
    threshold = _threshold(score[first], right[first], precision)
    if threshold is None:
        return Decision(precision, None, queries=int((~first).sum()))
    answers = score[~first] >= threshold
    share, ends = _share(right[~first][answers])
    return Decision(
        precision,
        threshold,
        share,
        ends,
        float(answers.mean()),
        len(answers),
        *(_share(absent[~first][~answers]) if absent.any() else (None, None)),
    )


def _share(flags: Flags) -> tuple[float | None, Interval | None]:
    hits, n = int(flags.sum()), len(flags)
    return (hits / n if n else None), (wilson(hits, n) if n >= FEWEST else None)


def _threshold(score: Floats, right: Flags, precision: float) -> float | None:
    """The lowest score at which the precision is as asked for, by Wilson's lower end at `SURE`: the
    best of many scores looks better than it is.
    """
    order = np.argsort(-score, kind="stable")
    n = np.arange(1, len(order) + 1)
    share = np.cumsum(right[order]) / n
    half = SURE * np.sqrt(share * (1 - share) / n + (SURE / (2 * n)) ** 2)
    lower = (share + SURE**2 / (2 * n) - half) / (1 + SURE**2 / n)
    enough = np.flatnonzero((lower >= precision) & (n >= FEWEST))
    return float(score[order][enough[-1]]) if len(enough) else None


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
    return {q: sorted(ranking, key=lambda one: -one[1]) for q, ranking in rankings.items()}


def as_run(rankings: Mapping[str, Ranking], name: str = "claimlab") -> str:
    """The rankings as a TREC run file."""
    lines = [
        f"{as_word(query)} Q0 {as_word(id)} {rank} {score:.6f} {name}"
        for query, ranking in rankings.items()
        for rank, (id, score) in enumerate(ranking, 1)
    ]
    return "".join(f"{line}\n" for line in lines)
