"""The figures of a leaderboard or a study on a site."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from pydantic import TypeAdapter, ValidationError

from claimlab.core.errors import DataError
from claimlab.core.stats.chance import STAR, Chance
from claimlab.core.stats.ranks import rank_words
from claimlab.core.types import JsonObject
from claimlab.evaluate.board import Board
from claimlab.evaluate.tables import standings
from claimlab.pages.blocks import (
    Block,
    Blocks,
    Cell,
    Column,
    Columns,
    Fold,
    Section,
    Table,
    Text,
    percent,
    span,
)


def results_of(content: JsonObject) -> tuple[str, Blocks]:
    """The figures of a leaderboard or a study, and which of both it is."""
    try:
        if "evaluation" in content:
            return "Leaderboard", list(_board(content))
        return "Study", list(_study(content))
    except (ValidationError, KeyError, TypeError) as error:
        raise DataError(f"A board or study cannot be read: {error}.", "Make it again.") from None


def _board(content: JsonObject) -> Iterator[Block]:
    boards = TypeAdapter(list[Board]).validate_python(content["evaluation"]["boards"])
    runs = {run["name"]: run for run in content["evaluation"]["runs"]}
    intervals = {name: run["intervals"] for name, run in runs.items()}
    for (task, dataset), same in groupby(boards, lambda board: (board.task, board.dataset)):
        first, *others = (_with_own(board, intervals) for board in same)
        folds = [Fold(f"By {other.title}", [standings(other)]) for other in others]
        blocks: Blocks = [Text(first.headline(), "conclusion"), standings(first)]
        blocks += [Text(_beside_luck(first, runs)), Text(first.limits())]
        yield Section(f"{dataset}, {task}", [*blocks, *folds])
    bundles: Columns[JsonObject] = (
        Column("Run", "run"),
        Column("Bundle", lambda run: run["bundle"][:12]),
        Column("Flags", "flags", optional=True),
    )
    yield Section("Bundles", [Table.of(bundles, content["runs"], "Each was verified.")])
    if content["refused"]:
        yield Section("Refused", [Table(("File", "Why"), list(content["refused"].items()))])


def _beside_luck(board: Board, runs: JsonObject) -> str:
    """Which systems do more than guess, beside what guesses reach: a rank does not say so."""
    names = [standing.name for standing in board.standings]
    luck = [TypeAdapter(Chance).validate_python(runs[name]["chance"]) for name in names]
    above = ", ".join(name for name, chance in zip(names, luck, strict=True) if chance.beaten)
    trivial = f"majority class {percent(luck[0].majority).text}"
    trivial += f", random guess {percent(luck[0].stratified).text}, permuted labels"
    return f"Above every baseline that does not read the text ({trivial}): {above or 'none'}."


def _with_own(board: Board, intervals: JsonObject) -> Board:
    """The board with the intervals that the leaderboard itself shows: those of each run, not those
    of the draws by which all runs were compared."""
    own = {name: ends_of_run.get(board.metric) for name, ends_of_run in intervals.items()}
    standings = [
        replace(standing, interval=own[standing.name] or standing.interval)
        for standing in board.standings
    ]
    return replace(board, standings=standings)


def _study(content: JsonObject) -> Iterator[Block]:
    entries: list[JsonObject] = content["entries"]
    axes = list(dict.fromkeys(axis for row in entries for axis in row["axes"]))
    rows = [
        [
            *(str(row["axes"].get(axis, "")) for axis in axes),
            _starred(row),
            span(row["interval"]),
            rank_words(row["ranks"]),
            row["records"],
        ]
        for row in entries
    ]
    caption = f"{STAR.format('figures of this study')} Ranks are among the detectors of a setting."
    yield Text(content["conclusion"], "conclusion")
    heads = [*axes, "Macro-F1, %", "95% interval", "Rank", "Records"]
    yield Section("Settings", [Table(heads, rows, caption)])


def _starred(row: JsonObject) -> Cell:
    score = percent(row["macro_f1"])
    beaten = TypeAdapter(Chance).validate_python(row["chance"]).beaten
    return replace(score, text=f"{score.text}*") if beaten else score
