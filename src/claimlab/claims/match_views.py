"""The page of a list of matches, and its files."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from claimlab.claims.matches import Matches
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Columns,
    Report,
    Section,
    Table,
    Text,
    percent,
    short,
    span,
)
from claimlab.pages.folder import Contents
from claimlab.tasks.matching import Qrels, Ranking, as_qrels, as_run

KIND = "list of matches"
QUERIES_LISTED = 100
PRECISION = ("Without an answer (%)", "Precision (%)", "95% interval", '"No match" is right (%)')


def shown_score(match: JsonObject) -> Cell:
    """The score, with its name where words alone made it."""
    score = match["score"]
    return Cell(f"BM25 {score:.1f}" if match["meaning"] is None else f"{score:.2f}", sort=score)


MATCH: Columns[JsonObject] = (
    Column("Claim", "asked", short(120)),
    Column("Score", shown_score),
    Column("Best match", "text", short(160)),
    Column("Verdict", "verdict", optional=True),
    Column("Date", lambda row: row["date"] and row["date"].date(), str, optional=True),
    Column("Publisher", "publisher", short(40), optional=True),
    Column("Link", "url", short(60), optional=True),
    Column("Answer", "answer", optional=True),
)


def contents(
    matches: Matches, rankings: Mapping[str, Ranking], qrels: Qrels | None = None
) -> Contents:
    first = matches.rows.filter(rank=1).head(QUERIES_LISTED)
    blocks: Blocks = [Text(matches.conclusion(), "conclusion")]
    if matches.scores:
        rows = [
            (name, percent(figure["value"]), span(figure["interval"]))
            for name, figure in matches.scores.items()
            if isinstance(figure, dict)
        ]
        blocks.append(Section("Scores", [Table(("Figure", "Value (%)", "95% interval"), rows)]))
    if matches.decision is not None and matches.decision.at:
        measured = [
            (
                percent(at["unanswered"]),
                percent(at["precision"]),
                span(at["interval"]),
                percent(at["no_match"]),
            )
            for at in matches.decision.at
        ]
        note = Text(f"Claims without an answer: from {matches.decision.source}.")
        table = Table(PRECISION, measured)
        blocks.append(Section("Precision by the share of claims without an answer", [table, note]))
    if matches.not_measured:
        lines = [Text(f"{why}: {n:,}.") for why, n in matches.not_measured.items()]
        blocks.append(Section("Not measured", lines))
    blocks.append(Section("The best match of each claim", [Table.of(MATCH, first.to_dicts())]))
    page = Report("Checked before?", f"{several(matches.queries, 'query', 'queries')}.", blocks)
    files: dict[str, str | pl.DataFrame] = {
        "matches.parquet": matches.rows,
        "run.trec": as_run(rankings),
        **({} if qrels is None else {"qrels.trec": as_qrels(qrels)}),
    }
    return Contents(KIND, [page], data={"match.json": matches.to_json()}, files=files)
