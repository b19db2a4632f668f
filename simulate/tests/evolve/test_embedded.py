"""The embedded model plays the agents and one auditor; the run is recorded, says what it is worth,
and replays.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.llm import weights


@pytest.mark.slow
@pytest.mark.needs("xllamacpp")
def test_the_embedded_model_plays_agents_and_replays_to_the_same_bytes(
    town: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        weights.install()
    except ClaimlabError as error:
        pytest.skip(f"the model cannot be installed here: {error}")
    town.claims(1).write(tmp_path / "claims")
    common = [
        "evolve",
        "run",
        str(tmp_path / "claims"),
        "--kind",
        "intervened",
        "--target",
        "style=colloquial",
    ]
    model = [
        "--rewriter",
        "model",
        "--auditor",
        "model",
        "--set",
        "auditors=1",
        "--profile",
        "embedded",
        "--steps",
        "1",
    ]
    assert run([*common, *model, "-o", str(tmp_path / "out")]) == 0
    assert "too small for results" in capsys.readouterr().err
    (hop,) = Dataset.open(tmp_path / "out").tables["traces"].rows(named=True)
    assert hop["role"] in ("producer", "bystander", "failed")
    votes = json.loads(hop["meta"])["votes"]
    assert len(votes) == 1
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "nothing"))  # a replay needs no model
    cache = ["--set", "mode=replay", "--set", f"cache={tmp_path / 'out.cache'}"]
    assert run([*common, *model, *cache, "-o", str(tmp_path / "again")]) == 0
    first, second = (
        {p.name: p.read_bytes() for p in (tmp_path / d).iterdir()} for d in ("out", "again")
    )
    assert first == second
