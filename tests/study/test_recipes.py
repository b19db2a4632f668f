"""The comments of a preset are followed as written: every line that is a setting is uncommented,
every value that an axis is said to take is added, the variables that are named are set, and the
study is ready."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from claimlab.core.settings import declared
from claimlab.detect.detector import DETECTORS
from claimlab.generate.planted import planted
from claimlab.study.check import study_check
from claimlab.study.new import presets, study_new

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SETTING = re.compile(
    r'# (\[|[\w"][\w."-]* = )'
)  # a table or an option; anything else is a sentence
ADDED = re.compile(r"(?m)^(.*\])(.*?)( +# add (.+))$")
VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
TRIAL = "sample"  # the one setting that is a choice and not part of the recipe


def followed(text: str) -> str:
    """The preset with its comments carried out."""
    lines = [
        line[2:] if SETTING.match(line) and not line.startswith(f"# {TRIAL}") else line
        for line in text.splitlines()
    ]
    return ADDED.sub(
        lambda hit: f"{hit[1][:-1]}, {', '.join(_names(hit[4]))}]{hit[2]}", "\n".join(lines)
    )


def _names(comment: str) -> list[str]:
    return re.findall(r'"[^"]+"', comment)


@pytest.mark.parametrize("preset", sorted(presets()))
def test_comments_are_settings_that_exist(preset: str, tmp_path: Path) -> None:
    text = followed(study_new(tmp_path / "preset.toml", preset).read_text(encoding="utf-8"))
    study = tomllib.loads(text)
    for name, options in study.get("detector", {}).items():
        known = declared(DETECTORS.get(options.get("detector", name)))
        assert set(options.get("settings", {})) <= set(known), f"[detector.{name}]"


@pytest.mark.slow
@pytest.mark.parametrize("preset", sorted(presets()))
def test_a_study_is_ready_once_its_comments_are_followed(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not DATA.is_dir() and preset != "compare":
        pytest.skip("the real datasets are not at ../shared/data")
    monkeypatch.setenv("CLAIMLAB_CL100K", str(DATA / "cl100k_base.tiktoken"))
    monkeypatch.chdir(tmp_path)
    planted(size=240)[0].write(tmp_path / "demo" / "planted")
    text = study_new(tmp_path / "preset.toml", preset).read_text(encoding="utf-8")
    for variable in set(VARIABLE.findall(text)) - {"CLAIMLAB_CL100K"}:
        monkeypatch.setenv(variable, "not-a-key")
    text = re.sub(r"(?m)^data = .*$", f'data = "{DATA.as_posix()}"', followed(text))
    text = re.sub(r"(?m)^seeds = .*$", "seeds = [0]\nsample = 2000", text)
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    cells, problems, _ = study_check(tmp_path / "study.toml", trust=True)
    assert cells
    assert [problem for problem in problems if not of_this_machine(problem)] == []


def of_this_machine(problem: str) -> bool:
    """An extra that is not installed, a dataset that may be absent, or a class that the small
    sample lacks.
    """
    return "pip install" in problem or "dataset bluff" in problem or "no record of class" in problem


ASKED = """
seeds = [0]
[datasets.data]
folder = "data"
[grid]
detector = ["asked"]
[detector.asked]
"""


def test_a_model_beside_a_profile_that_names_none_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    planted(size=120)[0].write(tmp_path / "data")
    Path("model.toml").write_text(
        '[m]\nbase_url = "https://api.example.org/v1"\n', encoding="utf-8"
    )
    text = f'{ASKED}detector = "llm-zero-shot"\nprofile = "model.toml"\n'
    Path("study.toml").write_text(text, encoding="utf-8")
    assert any(
        "does not say which model to ask" in problem
        for problem in study_check("study.toml", trust=True)[1]
    )
    Path("study.toml").write_text(f'{text}model = "m"\n', encoding="utf-8")
    assert study_check("study.toml", trust=True)[1] == []


def test_a_setting_that_a_detector_does_not_have_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    planted(size=120)[0].write(tmp_path / "data")
    text = f'{ASKED}detector = "tfidf"\nsettings = {{ ngrams = "word" }}\n'
    Path("study.toml").write_text(text, encoding="utf-8")
    assert [
        "no setting of the detector 'tfidf' named 'ngrams'" in p
        for p in study_check("study.toml", trust=True)[1]
    ] == [True]
