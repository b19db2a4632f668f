"""The share of rationales that cite what was not retrieved holds for publishers, not for records."""

from __future__ import annotations

import json

import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.core.record import to_records, to_side_table
from claimlab.evaluate.defend.citations import citations
from claimlab.text.unit import Unit


def run_of(publishers: int, wrong: int, size: int = 20) -> Dataset:
    """Publishers of so many records each; the first `wrong` are cited for what was not there."""
    ids = [f"r{i}" for i in range(publishers * size)]
    sources = [f"publisher {i // size}" for i in range(len(ids))]
    records = pl.DataFrame({"id": ids, "text": ids, "source": sources, "kind": "claim"})
    meta = [json.dumps({"unsupported_citations": int(i // size < wrong)}) for i in range(len(ids))]
    predictions = pl.DataFrame(
        {
            "record_id": ids,
            "label": "true",
            "meta": meta,
            "rationale": "see https://a.example/1",
        }
    )
    evidence = pl.DataFrame({"record_id": ids, "url": "https://a.example/1"})
    return Dataset.build(
        "cited",
        to_records(records.with_columns(dataset=pl.lit("cited"))),
        tables={
            "predictions": to_side_table("predictions", predictions),
            "evidence": to_side_table("evidence", evidence),
        },
    )


def test_publishers_are_resampled() -> None:
    """5 of 20 publishers: by hand, a publisher's share has a standard error of sqrt(.25 .75 / 20),
    so that the interval is about .06 to .45; of 400 records it would be .21 to .29."""
    found = citations(run_of(20, 5), Unit("source"))
    assert found is not None
    assert (found.citing, found.unsupported) == (400, 100)
    assert found.interval is not None
    low, high = found.interval
    assert low == pytest.approx(0.06, abs=0.03)
    assert high == pytest.approx(0.46, abs=0.03)


def test_few_publishers_have_no_interval_and_equal_answers_have_one() -> None:
    few = citations(run_of(5, 1), Unit("source"))
    assert few is not None
    assert few.interval is None
    none = citations(run_of(20, 0), Unit("source"))
    assert none is not None
    assert none.interval == pytest.approx((0.0, 0.161), abs=0.002)  # Wilson, 0 of 20
