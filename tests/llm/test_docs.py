"""The page on language models: its Python runs, its TOML is a profile, its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from claimlab.cli.app import run as command
from claimlab.llm.profiles import find_profile

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "llm.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "docs"}
    for block in blocks("python"):
        exec(compile(block, "docs/llm.md", "exec"), names)
    assert "1 call, about" in capsys.readouterr().out


def test_the_profile_can_be_used(tmp_path: Path) -> None:
    (block,) = blocks("toml")
    path = tmp_path / "lab.toml"
    path.write_text(block, encoding="utf-8")
    assert find_profile(str(path)).price is not None


def test_the_commands_exist(capsys: pytest.CaptureFixture[str]) -> None:
    named = set(re.findall(r"^    claimlab (llm (?:batch )?\w+)", PAGE, flags=re.MULTILINE))
    assert named >= {"llm profiles", "llm test", "llm install", "llm prompts", "llm batch status"}
    for line in sorted(named):
        assert command([*line.split(), "--help"]) == 0
        assert "--json" in capsys.readouterr().out
