"""The embedded model end to end: a real model extracts claims bound by a schema; the run is
recorded and replayed.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.llm import weights


@pytest.mark.slow
@pytest.mark.needs("xllamacpp")
def test_the_embedded_model_extracts_is_labelled_and_replays_to_the_same_bytes(
    reviews: Path, dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        weights.install()
    except ClaimlabError as error:
        pytest.skip(f"the model cannot be installed here: {error}")
    dataset.records = dataset.records.filter(pl.col("id").is_in(["same", "deep"]))
    dataset.write(tmp_path / "data")
    common = [
        "--provider",
        f"local:{reviews}",
        "--extract",
        "model",
        "--profile",
        "embedded",
        "--json",
    ]
    assert run(["enrich", str(tmp_path / "data"), "-o", str(tmp_path / "out"), *common]) == 0
    found = json.loads(capsys.readouterr().out)["enrichment"]
    assert found["needed_extraction"] == 1
    assert found["extracted"] + sum(found["failures"].values()) >= 1
    assert "too small for results" in found["standing"][0]
    (claim,) = Dataset.open(tmp_path / "out").tables["claims"].rows(named=True)
    assert claim["record_id"] == "deep"
    assert claim["method"].startswith("model: SmolLM2")
    assert claim["text"].strip(), (
        "how long it is, is up to the model: no sentence is cut by the schema"
    )
    assert "too small for results" in json.loads(claim["meta"])["standing"]

    weights.weights_path().unlink()  # a replay needs no model
    again = [
        "enrich",
        str(tmp_path / "data"),
        "-o",
        str(tmp_path / "again"),
        *common,
        "--set",
        "mode=replay",
    ]
    assert run([*again, "--set", f"cache={tmp_path / 'out.cache'}"]) == 0
    first, second = (
        {p.name: p.read_bytes() for p in (tmp_path / d).iterdir()} for d in ("out", "again")
    )
    assert first == second
