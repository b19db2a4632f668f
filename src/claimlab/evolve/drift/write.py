"""A drift report on disk: `drift.json` holds every figure, the pages and pictures beside it are views of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.atomic import atomic_folder
from claimlab.core.dataset import Dataset, write_parquet
from claimlab.core.errors import OutputExists
from claimlab.evolve.drift.hops import groups_of
from claimlab.evolve.drift.measure import Drift
from claimlab.evolve.drift.views.page import VIEWER, report
from claimlab.evolve.drift.views.viewer import Societies, Society, to_page
from claimlab.evolve.society.network import Network
from claimlab.pages.blocks import Figure, Report, walk
from claimlab.pages.charts import svg_to_png
from claimlab.pages.html import to_html
from claimlab.pages.markdown import to_markdown

FILE = "drift.json"
HOPS = "hops.parquet"
PLOTS = "plots"


def refuse_report(folder: Path, force: bool, marker: str = FILE) -> None:
    """Raise before any work is done when `folder` holds something; `force` replaces an older report only."""
    if folder.exists() and any(folder.iterdir()) and not (force and (folder / marker).is_file()):
        raise OutputExists(folder)


def write_drift(
    found: Drift, folder: Path, societies: Societies | None = None, *, traces: int, seed: int = 0, force: bool = False
) -> None:
    """The report folder, in one atomic step; `traces` is how many the viewer holds."""
    refuse_report(folder, force)
    page = report(found, viewer=VIEWER if traces else None)
    with atomic_folder(folder) as building:
        write_json(found.to_json(), building / FILE)
        write_parquet(found.hops.drop("votes"), building / HOPS)
        write_report(page, building)
        if traces:
            html = to_page(found.hops, societies, most=traces, seed=seed)
            (building / VIEWER).write_text(html, encoding="utf-8")


def write_report(page: Report, folder: Path) -> None:
    """The page, the same in Markdown, and every picture as SVG and PNG."""
    (folder / "index.html").write_text(to_html(page), encoding="utf-8")
    (folder / "report.md").write_text(to_markdown(page), encoding="utf-8")
    plots = folder / PLOTS
    plots.mkdir()
    for figure in (b for b in walk(page.blocks) if isinstance(b, Figure) and b.name):
        (plots / f"{figure.name}.svg").write_text(figure.svg + "\n", encoding="utf-8")
        (plots / f"{figure.name}.png").write_bytes(svg_to_png(figure.svg))


def write_json(value: dict[str, Any], file: Path) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def society_of(dataset: Dataset) -> Society | None:
    """The agents and ties that a run left beside its traces; null where it left none."""
    agents, edges = dataset.tables.get("agents"), dataset.tables.get("edges")
    if agents is None or edges is None or not agents.height:
        return None
    ids = agents["id"].to_list()
    number = {name: i for i, name in enumerate(ids)}
    known = edges.filter(pl.col("source").is_in(ids) & pl.col("target").is_in(ids))
    source, target = (np.array([number[n] for n in known[c].to_list()], dtype=np.int32) for c in ("source", "target"))
    return Society(ids, Network.of_edges(len(ids), source, target), groups_of(dataset))
