"""What a cleaning left out and why: in a line on the pages of the datasets that it made and began
with, and on a page of its own, as `claimlab clean --report` shows it.
"""

from __future__ import annotations

import polars as pl

from claimlab.clean.run import STAGES, Cleaned
from claimlab.clean.views import stage_blocks
from claimlab.core.dataset import RECORDS, Dataset
from claimlab.core.errors import NotFound
from claimlab.core.tables import read_parquet
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Blocks
from claimlab.web.page import Data, page
from claimlab.web.workspace import FolderName, Shape, Workspace, WorkspaceFolder

LEFT = ("dropped", "doubtful")


class Cleaning(Shape):
    """How many records a cleaning left out, by the step that did."""

    dataset: str
    """The one that it made."""
    dataset_link: str
    link: str
    """What each step did."""
    records: int
    """Before it."""
    kept: int
    dropped: dict[str, int]
    doubtful: dict[str, int]


class CleaningPage(FolderName):
    """What each step of a cleaning did."""

    cleaning: Cleaning
    recipe: str
    stages: list[JsonObject]


def cleanings_of(workspace: Workspace, place: WorkspaceFolder) -> list[Cleaning]:
    """Of the cleanings that made these records or began with them, those that left out some: where
    few are left, the audit of a check is of the records before.
    """
    near = [
        dataset
        for dataset in workspace.of("dataset")
        if dataset.entry.id == place.entry.id
        or (
            dataset.manifest.lineage
            and place.digest in dataset.manifest.lineage[-1].inputs.values()
        )
    ]
    lines = [
        _line(relative, stages) for relative in near if (stages := _stages(relative)) is not None
    ]
    return [line for line in lines if line.dropped or line.doubtful]


def blocks_of(workspace: Workspace, page: CleaningPage) -> Blocks:
    """The stages, and some of the records that left, each with its reason."""
    place = workspace.get(page.id)
    files = {name: file for name in LEFT if (file := place.table(name)) is not None}
    dataset = Dataset(
        page.name,
        read_parquet(place.folder / RECORDS, columns=["id"]),
        {name: read_parquet(file) for name, file in files.items()},
    )
    return stage_blocks(Cleaned(dataset, pl.DataFrame(page.stages, schema=STAGES)))


@page("/datasets/{place}/cleaning", "cleaning.html.jinja", cleaning_blocks=blocks_of)
def cleaning_page(place: Data) -> CleaningPage:
    """What each step of a cleaning did."""
    stages = _stages(place)
    if stages is None:
        raise NotFound(f"'{place.entry.name}' was not made by a cleaning.", "Choose one that was.")
    parameters = place.manifest.lineage[-1].parameters
    return CleaningPage(
        **place.named,
        cleaning=_line(place, stages),
        recipe=f"{parameters.get('recipe')}, version {parameters.get('version')}",
        stages=stages.to_dicts(),
    )


def _stages(place: WorkspaceFolder) -> pl.DataFrame | None:
    """The table of the stages, where the last step of the dataset is a cleaning."""
    lineage, file = place.manifest.lineage, place.table("stages")
    if file is None or not lineage or lineage[-1].step != "clean":
        return None
    try:
        stages = (
            read_parquet(file, columns=list(STAGES))
            .cast(pl.Schema(STAGES))
            .drop_nulls(("step", "in"))
        )
    except (OSError, pl.exceptions.PolarsError):
        return None  # it was changed since: the page of the dataset is of its records
    return stages if stages.height else None


def _line(place: WorkspaceFolder, stages: pl.DataFrame) -> Cleaning:
    def by_step(name: str) -> dict[str, int]:
        left = stages.group_by("step", maintain_order=True).agg(pl.col(name).sum())
        return dict(left.filter(pl.col(name) > 0).sort(name, descending=True).iter_rows())

    link = place.entry.link
    return Cleaning(
        dataset=place.entry.name,
        dataset_link=link,
        link=f"{link}/cleaning",
        records=stages["in"][0],
        kept=place.entry.records or 0,
        dropped=by_step("dropped"),
        doubtful=by_step("doubtful"),
    )
