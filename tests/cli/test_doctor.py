"""`claimlab doctor`."""

from __future__ import annotations

import json

import pytest

from claimlab import __version__
from claimlab.cli.app import run


def test_it_says_what_is_there_and_never_shows_a_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    assert run(["doctor"]) == 0
    printed = capsys.readouterr().out
    assert __version__ in printed
    assert "sk-very" not in printed
    assert run(["doctor", "--json"]) == 0
    printed = capsys.readouterr().out
    assert "sk-very" not in printed
    present = {row["name"]: row["present"] for rows in json.loads(printed).values() for row in rows}
    assert present["OPENAI_API_KEY"] is True
    assert present["GROQ_API_KEY"] is False
    assert present["web"] is True  # the tests need it


def test_an_extra_that_is_missing_is_named_with_its_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("claimlab.core.extras._installed", lambda package: package != "fastapi")
    assert run(["doctor"]) == 0
    captured = capsys.readouterr()
    assert "pip install 'claimlab[web]'" in captured.out + captured.err
