"""The demo finds every planted defect, each by the part that is meant to find it."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimlab.cli.tour import Tour, run
from claimlab.generate.planted import DEFECTS


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Tour:
    return run(tmp_path_factory.mktemp("demo"), seed=20)


@pytest.mark.slow
@pytest.mark.parametrize("defect", DEFECTS)
def test_each_planted_defect_is_found(tour: Tour, defect: str) -> None:
    assert defect in tour.found


@pytest.mark.slow
def test_cleaning_finds_what_the_audit_cannot(tour: Tour) -> None:
    assert tour.found["wrong-language"] == "clean: language"
    assert tour.found["too-short"] == "clean: too-short"
    assert tour.twin_cleaned is not None
    assert tour.twin_cleaned.dataset.records.equals(tour.twin.records)
    assert "it loses nothing" in Path(tour.folder / "index.html").read_text(encoding="utf-8")
