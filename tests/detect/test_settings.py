"""A detector's settings: declared by its constructor, read from words, and named in the lineage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from parts.planted import planted

from claimlab.cli.app import run as command
from claimlab.core.settings import declared
from claimlab.detect.detector import DETECTORS, Detector


@pytest.mark.parametrize("name", DETECTORS.names())
def test_every_detector_says_what_it_was_set_to(name: str) -> None:
    kind = DETECTORS.get(name)
    assert issubclass(kind, Detector)
    settings, parameters = set(declared(kind)), kind().parameters()
    assert settings - kind.unreported <= set(parameters)
    assert not kind.unreported & set(parameters)
    assert json.loads(json.dumps(parameters)) == parameters


def test_the_command_line_hands_settings_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(size=120)[0].write(tmp_path / "data")
    words = ["detect", str(tmp_path / "data"), "-o", str(tmp_path / "run")]
    assert (
        command([*words, "--detector", "shortcut", "--set", "feature=punctuation", "--json"]) == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["lineage"][-1]["parameters"]["settings"] == {"feature": "punctuation"}
    assert command([*words, "--force", "--set", "speed=9"]) == 2
    assert "Choose one of: characters, model, strength, words." in capsys.readouterr().err
