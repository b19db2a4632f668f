"""A study that was run, read from its folder without the data or the runs, and its tables over any
two axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from claimlab.core.call import in_storage
from claimlab.core.errors import DataError, UsageError
from claimlab.core.options import Argument, Option, Place
from claimlab.core.toml_file import OF_OURS, read_json
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Table
from claimlab.study.entry import BoardEntry, Entries, published_table
from claimlab.study.file import StudyFile, read_study_file
from claimlab.study.grid_tables import tables_of
from claimlab.study.step import FILE

REPORT, DATA = "report", "study.json"


@in_storage()
def study_table(
    folder: Annotated[Place, Argument("The folder that `claimlab study run` wrote.")],
    *,
    rows: Annotated[str | None, Option("The axis down the side.")] = None,
    columns: Annotated[str | None, Option("The axis across the top.")] = None,
    cells: Annotated[str | None, Option("macro_f1, accuracy, difference or records.")] = None,
) -> list[Table]:
    """Print the results over any two axes of the grid.

    There is one table for each choice on the others. Without any of these options, also the tables
    of single steps and the published figures, as on the page.
    """
    study, scored, content = saved_study(folder)
    tables = tables_of(study, scored, rows=rows, columns=columns, cells=cells)
    if rows or columns or cells:
        return tables
    saved = [Table(t["columns"], t["rows"], caption=t["caption"]) for t in content.get("shown", ())]
    return [*tables, *more_tables(study, scored, saved)]


def more_tables(study: StudyFile, scored: Entries, shown: Sequence[Table]) -> list[Table]:
    """What the page has beside the grid: tables of single steps, and published figures."""
    figures = published_table(study, scored)
    return [*shown, *([] if figures is None else [figures])]


@in_storage()
def saved_study(folder: str | Path) -> tuple[StudyFile, list[BoardEntry], JsonObject]:
    """A study that was run, without the data or the runs: its file, its figures, and all that its
    page says."""
    saved = Path(folder) / REPORT / DATA
    if not saved.is_file():
        raise UsageError(
            f"'{folder}' is not the folder of a finished study.", "Run the study first."
        )
    try:
        content: JsonObject = dict(read_json(saved, most=OF_OURS))
        scored = [BoardEntry.of(entry) for entry in content["entries"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"'{saved}' is not as a study writes it: {str(error)[:200]}.", "Run the study again."
        ) from None
    return read_study_file(Path(folder) / FILE), scored, content
