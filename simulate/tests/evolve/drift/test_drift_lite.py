"""drift-lite: a planted edit moves the dimension it is about, nothing moves without one, and
released pairs separate.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimlab.catalog.load import load
from claimlab_simulate.evolve.drift.lite import DIMENSIONS, NAMES, TOTAL, drift_lite

BASE = "The old mill in Garrow sold 300 looms in 1931."
# What was done to the base claim, and the dimension that must move most compared with the other
# planted edits.
EDITS = {
    "sentiment": "The horrible, disgusting old mill in Garrow sold 300 terrible looms in 1931.",
    "new_information": "The old mill in Garrow sold 300 looms in 1931 to weavers from Tolm, with spindles, belts and 40 crates of wool.",
    "certainty": "The old mill in Garrow might possibly have sold perhaps 300 looms in 1931.",
    "style": "OMG you guys, our old mill in Garrow just sold like 300 looms in 1931! Seriously! You know what I mean?!",
    "temporal": "The old mill in Garrow sold 300 looms last year, in March.",
    "paraphrase": "Garrow's ancient factory found buyers for three hundred weaving machines before the war.",
}  # fmt: skip


@pytest.mark.parametrize("dimension", [n for n in NAMES if n != "new_information"])
def test_an_edit_moves_its_own_dimension_most(dimension: str) -> None:
    measured = drift_lite([BASE] * len(EDITS), list(EDITS.values()))
    column = dict(zip(EDITS, measured[dimension].to_list(), strict=True))
    assert max(column, key=lambda edit: column[edit]) == dimension


def test_added_facts_are_new_information_and_dropped_ones_are_not() -> None:
    added, dropped = drift_lite(
        [BASE, BASE], [EDITS["new_information"], "The old mill sold looms."]
    )["new_information"]
    assert added > 0.4
    assert dropped == 0


def test_the_same_text_has_not_moved_and_a_missing_one_is_null() -> None:
    measured = drift_lite([BASE, BASE, None], [BASE, None, BASE])
    assert measured.row(0) == (0.0,) * 7
    assert measured.row(1) == measured.row(2) == (None,) * 7


def test_the_total_is_the_mean_and_the_weak_are_named() -> None:
    measured = drift_lite([BASE], [EDITS["style"]])
    assert measured[TOTAL][0] == pytest.approx(np.mean(measured.row(0)[:6]))
    assert [d.name for d in DIMENSIONS if d.weak] == ["certainty", "temporal"]


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_every_dimension_stays_between_nought_and_its_ceiling(a: str, b: str) -> None:
    row = drift_lite([a], [b]).row(0, named=True)
    for dimension in DIMENSIONS:
        assert 0 <= row[dimension.name] <= dimension.ceiling
    assert drift_lite([a], [a])[TOTAL][0] == 0


@pytest.mark.realdata
@pytest.mark.slow
def test_released_pairs_separate_as_published_in_the_docs(real_data: Path) -> None:
    """Colloquial against official, micro against macro: strong dimensions tell them apart, weak
    ones hardly.
    """
    from sklearn.metrics import roc_auc_score

    areas: dict[str, list[float]] = {name: [] for name in NAMES}
    for variant, value in (
        ("language-style", "Colloquial–Emotional"),
        ("message-granularity", "Micro/Detailed"),
    ):
        records = load("evolved-claims", real_data / "evolved-claims.zip", variant=variant).records
        notes = [json.loads(m)["synthetic"] for m in records["meta"].to_list()]
        measured = drift_lite([n["origin"]["base_claim"] for n in notes], records["text"].to_list())
        truth = pl.Series([n["changes"][0]["value"] == value for n in notes])
        for name in NAMES:
            areas[name].append(float(roc_auc_score(truth.to_numpy(), measured[name].to_numpy())))
    style, micro = 0, 1
    assert areas["new_information"][style] > 0.9
    assert areas["new_information"][micro] > 0.7
    assert areas["style"][style] > 0.9
    assert areas["style"][micro] > 0.7
    assert areas["paraphrase"][style] > 0.95
    assert (
        max(areas["certainty"] + areas["temporal"]) < 0.7
    )  # if this ever fails, they are weak no more: say so
