"""The embedded model end to end: a real model detects, its answers are recorded, and replay to the
same bytes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.core import sync
from claimlab.core.calls.calls import Calls, Mode
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.detect.detector import DETECTORS
from claimlab.detect.run import detect
from claimlab.llm import weights
from claimlab.llm.open import open_provider
from claimlab.search.local import build_index
from claimlab.search.providers.local import LocalProvider


def data(tests: int) -> Dataset:
    rows = [
        {
            "id": f"t{i}",
            "text": f"Mill {i} sold looms.",
            "veracity": "false" if i % 2 else "true",
            "split": "train",
        }
        for i in range(16)
    ]
    rows += [
        {"id": f"r{i}", "text": f"Mill {i + 20} sold boats.", "veracity": "true", "split": "test"}
        for i in range(tests)
    ]
    return Dataset.build("mills", pl.DataFrame(rows))


@pytest.fixture
def installed(tmp_path: Path) -> None:
    try:
        weights.install()
    except ClaimlabError as error:
        pytest.skip(f"the model cannot be installed here: {error}")


@pytest.mark.slow
@pytest.mark.needs("xllamacpp")
@pytest.mark.parametrize(
    ("name", "records", "most"),
    [("llm-zero-shot", 3, 60), ("llm-few-shot", 2, 12), ("llm-search", 1, 120)],
)
@pytest.mark.usefixtures("installed")
def test_the_embedded_model_detects_and_replays_to_the_same_bytes(
    name: str, records: int, most: int, tmp_path: Path
) -> None:
    (tmp_path / "facts.txt").write_text(
        "Mill 20 sold boats in the year of the flood.", encoding="utf-8"
    )
    more: dict[str, Any] = {"max_tokens": most}
    if name == "llm-search":
        build_index(tmp_path / "facts.txt", tmp_path / "index")
        more |= {"search": LocalProvider(tmp_path / "index"), "searches": 1, "results": 1}

    def once(mode: Mode, folder: str) -> Dataset:
        model = open_provider("embedded", calls=Calls(mode, tmp_path / "cache"))
        run = detect(data(records), DETECTORS.get(name)(model=model, **more))
        sync.run(model.close())
        run.write(tmp_path / folder)
        return run

    run = once("record", "first")
    table = run.tables["predictions"]
    assert table.height == records
    assert any("too small for results" in note for note in run.notes)
    for row in table.to_dicts():
        meta = json.loads(row["meta"])
        ends = [row["label"] in ("true", "false"), "abstained" in meta, "failure" in meta]
        assert sum(ends) == 1, "a label, an abstention or a failure that says why"
        assert (row["cost"], row["seconds"] > 0, meta["calls"] >= 1) == (0.0, True, True)
        # so small a model may fail to answer, but by its own words only, never for a fault on the
        # way
        assert meta.get("failure") in (
            None,
            "invalid-json",
            "invalid-schema",
            "no-tag",
            "no-answer",
            "refused",
        )
    once("replay", "again")
    first, again = (
        {p.name: p.read_bytes() for p in (tmp_path / d).iterdir()} for d in ("first", "again")
    )
    if (
        name == "llm-search"
    ):  # the search itself is not recorded here, and its times of retrieval differ
        first, again = ({"predictions": files["predictions.parquet"]} for files in (first, again))
    assert first == again
