"""`cl.study_run`: the grid of a study file, made and scored."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from claimlab.core.atomic import atomic_text
from claimlab.core.call import note_call, repeatable
from claimlab.core.engine.names import working
from claimlab.core.engine.run import check_engine
from claimlab.core.progress import Progress, silent
from claimlab.study.file import Caps
from claimlab.study.page import write_tables
from claimlab.study.run import CELLS, Grid, prepared
from claimlab.study.shared import WORK, share_steps


@repeatable("mode", "trust", "max_cost", "max_calls", "max_tokens", output="continued")
def study_run(
    study: str | Path,
    output: str | Path,
    *,
    only: Mapping[str, str] | Sequence[str] = (),
    mode: str = "record",
    trust: bool = False,
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    engine: str | None = None,
    progress: Progress = silent,
) -> Grid:
    """Run the grid of a study file and write its tables; what is done already is not done again.

    A file that names hosts, keys or paths outside its folder must have been allowed (`claimlab
    trust FILE`), unless `trust` says that it is yours. `only` keeps the cells with the given values
    (`{"detector": "tfidf"}`, or `["detector=tfidf"]`). Caps given here replace those of the file,
    and cover all cells and all starts together. With `engine`, steps that can spend nothing are
    shared among processes or machines; the others are made here, under one cap.
    """
    output = Path(output)
    caps = Caps(max_cost=max_cost, max_calls=max_calls, max_tokens=max_tokens)
    check_engine(engine)
    sharing = working(engine, output.absolute() / WORK)
    with (
        sharing,
        prepared(
            study, output, only, mode=mode, trust=trust, caps=caps, progress=progress
        ) as maker,
    ):
        share_steps(maker)
        maker.make_all()
        grid = maker.grid
        rows = [
            {"axes": dict(c.axes), "run": c.node.name, "failed": grid.reason(c)} for c in grid.cells
        ]
        atomic_text(output / CELLS, json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
        grid.entries = write_tables(grid)
        note_call(output, output)
        shutil.rmtree(output / WORK, ignore_errors=True)
    return grid
