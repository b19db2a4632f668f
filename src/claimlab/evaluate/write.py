"""An evaluation on disk: `evaluation.json` holds everything, all else beside it is a view of it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from claimlab.evaluate.result import Evaluation
from claimlab.evaluate.views.page import SIZES, leaderboard_page, page
from claimlab.evaluate.views.tables import flat
from claimlab.files.cells import escape_cells
from claimlab.pages.folder import Contents, write_report

FILE = "evaluation.json"
KIND = "evaluation"


def write_evaluation(evaluation: Evaluation, folder: Path, *, force: bool = False) -> None:
    """Write the report folder in one atomic step: JSON, a table, HTML, Markdown, LaTeX and
    figures.
    """
    write_report(contents(evaluation), folder, force=force)


def contents(evaluation: Evaluation) -> Contents:
    board = leaderboard_page(evaluation)
    return Contents(
        KIND,
        (page(evaluation, size) for size in SIZES),
        data={FILE: evaluation.to_json()},
        more_pages={
            "leaderboard.html": (
                board if size == SIZES[0] else leaderboard_page(evaluation, size)
                for size in SIZES[:2]
            )
        },
        papers={"leaderboard.tex": board},
        files={"scores.csv": _table(evaluation).write_csv()},
    )


def _table(evaluation: Evaluation) -> pl.DataFrame:
    """Every figure as one table; values come from data, and no cell of them can start a formula."""
    frame = pl.DataFrame(flat(evaluation), infer_schema_length=None)
    return frame.with_columns(
        escape_cells(pl.col(c)) for c, t in frame.schema.items() if t == pl.String
    )
