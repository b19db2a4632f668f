"""`claimlab match`: which fact-checks of an archive answer a claim."""

from __future__ import annotations

import claimlab as cl
from claimlab.claims.match_views import shown_score
from claimlab.claims.matches import Matches
from claimlab.cli.command import Call, verb
from claimlab.cli.output import echo, emit, show_grid, suggest, wants_json
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Column, Columns, Table

app = verb()
MATCHES_SHOWN = 10
COLUMNS: Columns[JsonObject] = (
    Column("Score", shown_score),
    Column("Verdict", missing=""),
    Column("Date", format=lambda time: time.date().isoformat(), missing=""),
    Column("Publisher", missing=""),
    Column("Claim", lambda row: row["text"] or row["title"] or ""),
    Column("Link", "url", missing=""),
)


@app.of(cl.match, page="output")
def match(call: Call[Matches]) -> None:
    matches = call()
    if wants_json():
        listed = [_as_json(row) for row in matches] if call["text"] is not None else []
        emit({"output": call["output"], **matches.to_json(), "matches": listed})
    else:
        echo(matches.conclusion())
        for why, n in matches.not_measured.items():
            echo(f"Not measured: {why}: {n:,}.")
        for name, figure in matches.scores.items():
            if isinstance(figure, dict) and figure["value"] is not None:
                echo(f"  {name} {figure['value']:.3f}")
        _print(matches, one=call["text"] is not None)
    call.show_page()
    if matches.decision is None:
        suggest("claimlab match QUERIES --archive ARCHIVE -o DIR --qrels FILE")
    elif call["output"] is not None:
        suggest(f"claimlab evaluate {call.output} -o {call.output}-report")


def _as_json(row: JsonObject) -> JsonObject:
    return {**row, "date": None if row["date"] is None else row["date"].date().isoformat()}


def _print(matches: Matches, *, one: bool) -> None:
    rows = list(matches) if one else [row for row in matches if row["rank"] == 1]
    if rows:
        show_grid(Table.of(COLUMNS, rows[:MATCHES_SHOWN]), whole=3)
