"""Settings of plug-ins, typed by their constructors."""

from __future__ import annotations

from typing import Literal

import pytest

from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.settings import declared, read


class Opaque:
    """What a program hands in: no word of a command can be one."""


class Plain:
    pass


class Made:
    def __init__(
        self,
        *,
        model: Opaque | None = None,
        size: int = 1,
        rate: float | None = None,
        fast: bool = False,
        mood: Literal["calm", "loud"] = "calm",
        screen: list[str] | None = None,
    ) -> None: ...


def test_settings_are_typed_by_the_constructor() -> None:
    found = read(Made, ["size=3", "rate=1e-4", "fast=yes", "mood=loud"], of="it")
    assert found == {"size": 3, "rate": 1e-4, "fast": True, "mood": "loud"}
    assert read(Made, ["rate=none", "fast=0"], of="it") == {"rate": None, "fast": False}


def test_what_is_not_a_plain_value_is_not_a_setting() -> None:
    assert sorted(declared(Made)) == ["fast", "mood", "rate", "size"]


@pytest.mark.parametrize(
    ("pair", "sentence"),
    [
        ("size=big", "The setting 'size' cannot be 'big'. It should be a valid integer"),
        ("fast=perhaps", "The setting 'fast' cannot be 'perhaps'. It should be a valid boolean"),
        ("mood=sad", "The setting 'mood' cannot be 'sad'. It should be 'calm' or 'loud'."),
        ("size", "'size' is not a valid setting. Write it as KEY=VALUE"),
        ("size=none", "cannot be 'none'"),
    ],
)
def test_a_wrong_value_is_a_sentence(pair: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        read(Made, [pair], of="it")
    assert sentence in str(error.value)


def test_an_unknown_key_names_the_known_ones() -> None:
    with pytest.raises(
        UnknownName,
        match="no setting of the made one named 'x'. Choose one of: fast, mood, rate, size",
    ):
        read(Made, ["x=1"], of="the made one")
    with pytest.raises(UsageError, match="The plain one has no settings"):
        read(Plain, ["x=1"], of="the plain one")
    with pytest.raises(UsageError, match="given twice"):
        read(Made, ["size=1", "size=2"], of="it")
