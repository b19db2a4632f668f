"""The demo's split stage: by lot the planted copies leak, kept together nothing does."""

from __future__ import annotations

from pathlib import Path

from parts.planted import clean_twin, planted

from claimlab.cli.tour import Tour, run_split
from claimlab.core.dataset import Dataset
from claimlab.pages.blocks import Cell, Section, Table


def test_the_demo_shows_what_leaks_by_lot_and_not_by_what_belongs_together(tmp_path: Path) -> None:
    dataset, truth = planted(size=240)
    tour = Tour(tmp_path, 20, dataset, clean_twin(size=120), truth)
    run_split(tour)
    (section,) = tour.sections
    assert isinstance(section, Section)
    (table,) = (b for b in section.blocks if isinstance(b, Table))
    leaks = {str(row[0]): [c.text for c in row[2:] if isinstance(c, Cell)] for row in table.rows}
    assert leaks["near-duplicates"] == ["0", "0", "0"]
    assert int(leaks["random"][0]) > 0
    assert Dataset.open(tmp_path / "split").lineage[-1].step == "split"
