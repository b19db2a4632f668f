from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from claimlab.cli.app import run as command
from claimlab.core.errors import UnknownName, UsageError
from claimlab.detect.detector import DETECTORS
from claimlab.detect.settings import known_settings, read_settings
from claimlab.generate.planted import planted


class Made:
    name = "made"
    handles = ("model",)

    def __init__(
        self,
        *,
        model: object = None,
        size: int = 1,
        rate: float | None = None,
        fast: bool = False,
        mood: Literal["calm", "loud"] = "calm",
        screen: list[str] | None = None,
    ) -> None: ...


def test_settings_are_typed_by_the_constructor() -> None:
    found = read_settings(Made, ["size=3", "rate=1e-4", "fast=yes", "mood=loud"])  # type: ignore[arg-type]
    assert found == {"size": 3, "rate": 1e-4, "fast": True, "mood": "loud"}
    assert read_settings(Made, ["rate=none", "fast=0"]) == {"rate": None, "fast": False}  # type: ignore[arg-type]


def test_what_is_handed_in_or_no_plain_value_is_no_setting() -> None:
    assert sorted(known_settings(Made)) == ["fast", "mood", "rate", "size"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pair", "sentence"),
    [
        ("size=big", "The setting 'size' cannot be 'big'. Give a whole number."),
        ("fast=perhaps", "The setting 'fast' cannot be 'perhaps'. Give yes or no."),
        ("mood=sad", "The setting 'mood' cannot be 'sad'. Give calm or loud."),
        ("size", "'size' is no setting. Write it as KEY=VALUE"),
        ("size=none", "cannot be 'none'"),
    ],
)
def test_a_wrong_value_is_a_sentence(pair: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        read_settings(Made, [pair])  # type: ignore[arg-type]
    assert sentence in str(error.value)


def test_an_unknown_key_names_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="Choose one of: feature"):
        read_settings(DETECTORS.get("shortcut"), ["x=1"])
    with pytest.raises(UsageError, match="'majority' has no settings"):
        read_settings(DETECTORS.get("majority"), ["x=1"])
    with pytest.raises(UsageError, match="given twice"):
        read_settings(DETECTORS.get("shortcut"), ["feature=a", "feature=b"])


@pytest.mark.parametrize("name", DETECTORS.names())
def test_every_detector_has_settings_that_can_be_read(name: str) -> None:
    assert isinstance(known_settings(DETECTORS.get(name)), dict)


def test_the_command_line_hands_settings_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted(size=120)[0].write(tmp_path / "data")
    words = ["detect", str(tmp_path / "data"), "-o", str(tmp_path / "run")]
    assert command([*words, "--detector", "shortcut", "--set", "feature=punctuation", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["lineage"][-1]["parameters"]["settings"] == {"feature": "punctuation"}
    assert command([*words, "--force", "--set", "speed=9"]) == 2
    assert "Choose one of: characters, model, strength, words." in capsys.readouterr().err
