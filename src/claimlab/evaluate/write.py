"""An evaluation on disk: `evaluation.json` holds everything, all else beside it is a view of it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from claimlab.audit.write import PLOTS, write_plots
from claimlab.core.atomic import atomic_folder
from claimlab.core.errors import OutputExists
from claimlab.evaluate.run import Evaluation
from claimlab.evaluate.views.page import SIZES, leaderboard_page, page
from claimlab.evaluate.views.tables import flat
from claimlab.files.cells import escape_cells
from claimlab.pages.blocks import Figure, walk
from claimlab.pages.html import to_html_within
from claimlab.pages.latex import to_latex
from claimlab.pages.markdown import to_markdown

FILE = "evaluation.json"


def refuse_evaluation(folder: Path, force: bool) -> None:
    """Raise before any work is done when `folder` holds something; `force` replaces an older evaluation only."""
    if folder.exists() and any(folder.iterdir()) and not (force and (folder / FILE).is_file()):
        raise OutputExists(folder)


def write_evaluation(evaluation: Evaluation, folder: Path, *, force: bool = False) -> None:
    """Write the report folder in one atomic step: JSON, a table, HTML, Markdown, LaTeX and pictures."""
    refuse_evaluation(folder, force)
    with atomic_folder(folder) as building:
        text = json.dumps(evaluation.to_json(), ensure_ascii=False, indent=1) + "\n"
        (building / FILE).write_text(text, encoding="utf-8")
        _table(evaluation).write_csv(building / "scores.csv")
        whole, board = page(evaluation), leaderboard_page(evaluation)
        html = to_html_within([whole, *(page(evaluation, size) for size in SIZES[1:])])
        (building / "index.html").write_text(html, encoding="utf-8")
        short = to_html_within([board, leaderboard_page(evaluation, SIZES[1])])
        (building / "leaderboard.html").write_text(short, encoding="utf-8")
        (building / "report.md").write_text(to_markdown(whole), encoding="utf-8")
        (building / "leaderboard.tex").write_text(to_latex(board), encoding="utf-8")
        write_plots((b for b in walk(whole.blocks) if isinstance(b, Figure)), building / PLOTS)


def _table(evaluation: Evaluation) -> pl.DataFrame:
    """Every figure as one table; values come from data, and no cell of them can start a formula."""
    frame = pl.DataFrame(flat(evaluation), infer_schema_length=None)
    return frame.with_columns(escape_cells(pl.col(c)) for c, t in frame.schema.items() if t == pl.String)
