"""How good a run is, beside baselines and other runs on the same records, and in subgroups."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from claimlab.evaluate.evaluation import baselines
from claimlab.evaluate.metrics.table_scores import calibration
from claimlab.evaluate.slices import slice_run
from claimlab.web.compare import RivalRun, rivals_of
from claimlab.web.page import Here, Run, page
from claimlab.web.predictions import board_of, run_of, same_records, score_of, title_of, usual_trait
from claimlab.web.run_filters import RunFilters
from claimlab.web.workspace import Shape


class SubgroupRow(Shape):
    value: str
    n: int
    accuracy: float | None
    macro_f1: float | None
    interval: tuple[float, float] | None
    why: str | None
    link: str


class RunFigures(Shape):
    """How good the run is, beside baselines and other runs on the same records."""

    run: str
    macro_f1: float | None
    interval: tuple[float, float] | None
    baselines: dict[str, float | None]
    headline: str
    """Which runs on these records cannot be told apart."""
    rivals: list[RivalRun]
    ece: float | None
    curve: list[tuple[float, float, int]]
    """Confidence, share right and predictions, in ten bins of confidence."""
    curve_note: str
    by: str
    subgroups: list[SubgroupRow]
    suppressed: int
    """Subgroups that are too small to say something of."""


@page("/runs/{place}/figures", "run-figures.html.jinja")
def run_figures(place: Run, filters: Annotated[RunFilters, Query()], workspace: Here) -> RunFigures:
    """A run beside others, and subgroups."""
    part, run = filters.part, run_of(place, filters.part)
    by = filters.subgroup or usual_trait(run)
    score, ends = score_of(place, part)
    places = same_records(workspace, place) if not part else [place]
    board = board_of(places) if len(places) > 1 else None
    if board is not None:  # one interval on the page, of the resamples that rank the runs
        ends = next(
            (standing.interval for standing in board.standings if standing.name == title_of(place)),
            ends,
        )
    calibrated = calibration(run.answers)
    slices = slice_run(run, by)
    base = f"/runs/{place.entry.id}"
    return RunFigures(
        run=place.entry.id,
        macro_f1=score,
        interval=ends,
        baselines={baseline.name: baseline.macro_f1 for baseline in baselines(run)}
        if run.table.height
        else {},
        headline=board.headline() if board is not None else "",
        rivals=rivals_of(places, board),
        ece=calibrated.ece,
        curve=[(point.confidence, point.accuracy, point.n) for point in calibrated.curve],
        curve_note=calibrated.why or "",
        by=by,
        subgroups=[
            SubgroupRow(
                **vars(cell),
                interval=cell.macro_f1_interval,
                link=RunFilters(part=part, subgroup=by, value=[cell.value]).link(base),
            )
            for cell in slices.cells
        ],
        suppressed=slices.suppressed,
    )
