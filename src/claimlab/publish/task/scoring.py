"""Score what participants sent: each file read strictly, ranks on the private half of the test, and
what an organiser should look at before anybody is congratulated.

A record without an answer counts as wrong: in macro-F1 it is a false negative of its class and a
false positive of every other, so that no score rises by leaving records out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.errors import ClaimlabError
from claimlab.core.shown import Shown
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.interval import DRAWS, Interval, interval
from claimlab.core.stats.scores import Floats, Ints
from claimlab.core.types import JsonObject
from claimlab.core.units import Units
from claimlab.core.words import several
from claimlab.detect.strict.asked import Asked
from claimlab.evaluate.board import Board, RunStanding, placed
from claimlab.evaluate.common_draws import Drawn
from claimlab.publish.alike import remarks
from claimlab.publish.task.layout import (
    HALVES,
    GapRule,
    Gold,
    TaskFile,
)
from claimlab.publish.task.submission import Submission, problem_of, read_submission


@dataclass(frozen=True)
class Entry:
    """One submission: its team and file, and its scores where it was accepted."""

    team: str
    run: str
    sha256: str = ""
    answered: int = 0
    records: int = 0
    refused: str = ""
    flags: tuple[str, ...] = ()
    macro_f1: dict[str, float] = field(default_factory=dict)  # of each half
    accuracy: dict[str, float] = field(default_factory=dict)
    own_rule: dict[str, float] = field(default_factory=dict)  # macro-F1 as the task counts gaps
    interval: Interval | None = None
    ranks: str = ""

    @property
    def name(self) -> str:
        return self.team if self.run in ("", self.team) else f"{self.team}/{self.run}"

    def to_json(self) -> JsonObject:
        return {**vars(self), "name": self.name, "flags": list(self.flags)}


@dataclass(frozen=True, repr=False)
class TaskScores(Shown):
    """The submissions of a task, ranked by the private half; the refused ones after the others."""

    task: TaskFile
    entries: list[Entry]
    board: Board | None

    @property
    def table(self) -> pl.DataFrame:
        rows = [
            {
                "rank": entry.ranks,
                "submission": entry.name,
                **{f"macro_f1_{half}": entry.macro_f1.get(half) for half in reversed(HALVES)},
                "answered": entry.answered,
                "flags": "; ".join([*([entry.refused] if entry.refused else []), *entry.flags]),
            }
            for entry in self.entries
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def refused(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.refused]

    def headline(self) -> str:
        scored = len(self.entries) - len(self.refused)
        flagged = sum(bool(entry.flags) for entry in self.entries)
        return (
            f"of '{self.task.name}': {several(scored, 'submission')} scored,"
            f" {len(self.refused)} refused, {flagged} to look at"
        )

    def to_json(self) -> JsonObject:
        """What may be published: no label, no answer, and the HMAC of the gold."""
        return {
            "task": self.task.name,
            "gold_hmac": self.task.gold_hmac,
            "records": {
                "private": self.task.private,
                "public": self.task.records - self.task.private,
            },
            "submissions": [entry.to_json() for entry in self.entries],
            "board": None if self.board is None else self.board.rows(),
        }


def scored(
    task: TaskFile,
    asked: Asked,
    gold: Gold,
    files: Sequence[tuple[str, str, Path]],
    *,
    plausible: float,
    seed: int,
) -> TaskScores:
    entries: list[Entry] = []
    accepted: dict[int, Submission] = {}
    sent: dict[str, int] = {}
    for team, name, file in files:
        sent[team] = sent.get(team, 0) + 1
        entry, submission = _read(task, asked, team, name, file)
        if sent[team] > task.per_team:
            entry, submission = (
                replace(entry, refused=f"more than {task.per_team} of this team"),
                None,
            )
        if submission is not None:
            accepted[len(entries)] = submission
        entries.append(entry)
    measured = _Measured.of(task, gold, list(accepted.values()))
    sent_in = [entries[n] for n in accepted]
    flags = remarks(
        measured.truth,
        list(measured.said.T),
        [entry.name for entry in sent_in],
        plausible=plausible,
        compared=lambda a, b: sent_in[a].team != sent_in[b].team,
    )
    for column, (number, submission) in enumerate(accepted.items()):
        gap = [
            f"{len(ids):,} {what}"
            for ids, what in (
                (submission.gaps, "without an answer"),
                (submission.declined, "with an answer outside the classes"),
            )
            if ids
        ]
        entries[number] = replace(
            entries[number],
            macro_f1={half: measured.macro_f1(half)[column] for half in HALVES},
            accuracy={half: measured.accuracy(half)[column] for half in HALVES},
            own_rule={half: measured.macro_f1(half, task.gaps)[column] for half in HALVES},
            flags=(*gap, *flags[column]),
        )
    board = None
    if accepted:
        names = [entries[n].name for n in accepted]
        board = measured.board(task, names, seed)
        standing = {row.name: row for row in board.standings}
        ranks = board.ranks
        entries = [
            replace(entry, interval=standing[entry.name].interval, ranks=ranks[entry.name])
            if entry.name in standing and not entry.refused
            else entry
            for entry in entries
        ]
    order = sorted(
        entries, key=lambda e: (bool(e.refused), -e.macro_f1.get("private", 0.0), e.name)
    )
    return TaskScores(task, order, board)


def _read(
    task: TaskFile, asked: Asked, team: str, name: str, file: Path
) -> tuple[Entry, Submission | None]:
    """A submission, refused where it does not fit the task; a gap alone does not refuse it."""
    entry = Entry(team, name, records=asked.rows.height)
    try:
        submission = read_submission(file, asked)
    except ClaimlabError as error:
        return replace(entry, refused=problem_of(error)), None
    entry = replace(entry, sha256=submission.sha256, answered=len(submission.answers))
    if submission.problems:
        return replace(entry, refused=" ".join(submission.problems)), None
    if submission.gaps and task.gaps == "refused":
        return replace(entry, refused=" ".join(submission.lines())), None
    if not submission.answers:
        return replace(entry, refused="No record is answered."), None
    return entry, submission


@dataclass(frozen=True)
class _Measured:
    """Truth and answers as codes (records, submissions); a gap is -1."""

    truth: Ints
    said: Ints
    halves: pl.Series
    groups: Ints
    classes: int

    @classmethod
    def of(cls, task: TaskFile, gold: Gold, submissions: Sequence[Submission]) -> _Measured:
        code = {name: n for n, name in enumerate(task.classes)}
        rows = gold.rows.sort("id")
        said = [
            [code[s.answers[i]] if i in s.answers else -1 for i in rows["id"]] for s in submissions
        ]
        truth = np.array([code[label] for label in rows["label"]], np.int64)
        matrix = np.array(said, np.int64).reshape(len(said), len(truth)).T
        return cls(truth, matrix, rows["half"], codes_of(rows["group"]), len(code))

    def accuracy(self, half: str) -> list[float]:
        rows = (self.halves == half).to_numpy()
        right = self.said == self.truth[:, None]
        return [float(share) for share in right[rows].mean(axis=0)] if rows.any() else []

    def macro_f1(self, half: str, gaps: GapRule = "wrong") -> list[float]:
        weights = (self.halves == half).to_numpy().astype(np.float64)[None, :]
        return [float(score) for score in self._f1(weights, gaps)[0]]

    def _f1(self, weights: Floats, gaps: GapRule = "wrong") -> Floats:
        """Macro-F1 over the classes of the test (draws, submissions) of weighted records."""
        scores = []
        for k in range(self.classes):
            true, said = (self.truth == k)[:, None], self.said == k
            gap = (self.said < 0) & (gaps in ("wrong", "refused"))
            true = true & (self.said >= 0) if gaps == "answered" else true
            hits = weights @ (true & said).astype(np.float64)
            wrong = weights @ (~true & (said | gap)).astype(np.float64)
            missed = weights @ (true & ~said).astype(np.float64)
            total = 2 * hits + wrong + missed
            scores.append(np.divide(2 * hits, total, out=np.zeros_like(hits), where=total > 0))
        present = np.isin(np.arange(self.classes), self.truth)
        return np.asarray(np.stack(scores)[present].mean(axis=0))

    def board(self, task: TaskFile, names: list[str], seed: int) -> Board:
        """Ranks on the private half, from resamples of its groups."""
        private = (self.halves == "private").to_numpy()
        part = replace(
            self,
            truth=self.truth[private],
            said=self.said[private],
            halves=self.halves.filter(pl.Series(private)),
            groups=self.groups[private],
        )
        group = np.unique(part.groups, return_inverse=True)[1].ravel()
        units = Units("group", group)
        units = Units.records(len(group)) if units.count == len(group) else units
        rng = np.random.default_rng(seed)
        even = np.full(units.count, 1 / units.count)
        times = rng.multinomial(units.count, even, size=DRAWS)[:, units.codes]
        scores = part._f1(np.ones((1, len(group))))[0]
        drawn = Drawn(scores, part._f1(times.astype(np.float64)), units, units.effective)
        board = Board(task.name, task.name, "macro_f1", "Macro-F1", len(group), units.count, [])
        if len(names) < 2:
            return placed_alone(board, names[0], drawn)
        return placed(board, names, drawn)[0]


def placed_alone(board: Board, name: str, drawn: Drawn) -> Board:
    """The board of a single submission, which has the first rank."""
    score = float(drawn.scores[0])
    ends = interval(drawn.draws[:, 0], drawn.effective, point=score)
    standing = RunStanding(name, score, ends, (1, 1))
    return replace(board, units=drawn.units.words, standings=[standing])
