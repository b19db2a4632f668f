"""The comments of a preset are followed as written: every line that is a setting is uncommented,
every value that an axis is said to take is added, the variables that are named are set, and the
study is ready."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from parts.packages import leaf_marked
from parts.planted import planted
from parts.standin import StandIn, own_profile

from claimlab.core.dataset import Dataset
from claimlab.core.settings import declared
from claimlab.detect.detector import DETECTORS
from claimlab.study.check import study_check
from claimlab.study.front import study_run
from claimlab.study.new import presets, study_new

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SETTING = re.compile(
    r'# (\[|[\w"][\w."-]* = )'
)  # a table or an option; anything else is a sentence
ADDED = re.compile(r"(?m)^(.*\])(.*?)( +# add (.+))$")
VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
TRIAL = "# a trial"  # beside the one setting that is a choice and not part of the recipe


def followed(text: str) -> str:
    """The preset with its comments carried out."""
    lines = [
        line[2:] if SETTING.match(line) and TRIAL not in line else line
        for line in text.splitlines()
    ]
    return ADDED.sub(
        lambda hit: f"{hit[1][:-1]}, {', '.join(_names(hit[4]))}]{hit[2]}", "\n".join(lines)
    )


def _names(comment: str) -> list[str]:
    return re.findall(r'"[^"]+"', comment)


@pytest.mark.parametrize("preset", leaf_marked(sorted(presets())))
def test_comments_are_settings_that_exist(preset: str, tmp_path: Path) -> None:
    text = followed(study_new(tmp_path / "preset.toml", preset).read_text(encoding="utf-8"))
    study = tomllib.loads(text)
    for name, options in study.get("detector", {}).items():
        known = declared(DETECTORS.get(options.get("detector", name)))
        assert set(options.get("settings", {})) <= set(known), f"[detector.{name}]"


@pytest.mark.slow
@pytest.mark.parametrize("preset", leaf_marked(sorted(presets())))
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
    text = re.sub(r"(?m)^seeds = .*$", "seeds = [0]\nsample = 400", text)
    text = re.sub(r"(?m)^limit = .*$", "limit = 6", text)
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    cells, problems, _ = study_check(tmp_path / "study.toml", trust=True)
    assert cells
    assert [problem for problem in problems if not of_this_machine(problem)] == []


def of_this_machine(problem: str) -> bool:
    """An extra that is not installed, a dataset that may be absent, or a class or a value that the
    small sample lacks.
    """
    lacks = re.search(r"no record of class|There is no (family|script|word-order) named", problem)
    return "pip install" in problem or "dataset bluff" in problem or lacks is not None


def every_model(body: dict[str, Any]) -> str:
    """A stand-in for all models of Table 20: agents, the judge of hops, and the detector."""
    asked, said = body["messages"][0]["content"], body["messages"][-1]["content"]
    number = len(said) % 3
    if "The possible labels" in asked:
        label = ["true", "half-true", "false"][number]
        return json.dumps({"rationale": "Known.", "label": label, "confidence": 0.7})
    if "Retell it" in asked:
        statement = re.findall(r"<statement>\s*(.*?)\s*</statement>", said, re.S)[-1]
        told = {"claim": f"{statement} It was said.", "influencing_attributes": ["job"]}
        return json.dumps({**told, "influencing_reason": "Work."})
    if "Pants on Fire" in asked:
        return json.dumps({"rationale": "So.", "verdict": ["True", "Half True", "False"][number]})
    if "`stated`" in asked:
        return json.dumps({"rationale": "So.", "stated": [1]})
    from claimlab_simulate.evolve.drift.fuse import FuseReading

    return json.dumps({"rationale": "So.", **dict.fromkeys(FuseReading().dimensions, 3)})


@pytest.mark.slow
def test_table_20_is_made_of_judged_hops_and_stands_beside_the_papers(
    real_data: Path, tmp_path: Path
) -> None:
    text = followed(study_new(tmp_path / "preset.toml", "evolved-claims").read_text("utf-8"))
    text = re.sub(r"(?m)^data = .*$", f'data = "{real_data.as_posix()}"\nsample = 8', text)
    text = re.sub(r"(?m)^seeds = .*$", "seeds = [0]", text).replace('"openai"', '"m.toml"')
    (tmp_path / "study.toml").write_text(text.replace('"m.toml"', f'"{tmp_path}/m.toml"'), "utf-8")
    only = {"part": "Table 20: six classes after 10 and 30 steps", "evolve": "moderate"}
    with StandIn(every_model) as server:
        profile = f'[m]\nbase_url = "{server.url}"\nmodel = "m"\n'
        (tmp_path / "m.toml").write_text(profile, "utf-8")
        only |= {"dataset": "verified"}
        grid = study_run(tmp_path / "study.toml", tmp_path / "out", only=only, trust=True)
    assert [grid.reason(cell) for cell in grid.cells] == [None] * len(grid.cells)
    asked = [cell for cell in grid.cells if cell.axes["detector"] == "zero-shot"]
    assert {cell.axes["stage"] for cell in asked} == {"10 steps", "30 steps"}
    for cell in asked:
        run = Dataset.open(grid.folder(cell))
        homes = {json.loads(meta)["home"] for meta in run.records["meta"]}
        assert (len(run.records), homes) == (8, {"Technocratic Moderate"})
        assert set(run.records["label_raw"]) <= {"True", "Half True", "False"}
    hops = [len(text.split("It was said.")) for text in run.records["text"]]
    assert hops == [31] * 8, "the last stage is after 30 retellings"
    page = (tmp_path / "out" / "report" / "report.md").read_text("utf-8")
    for published in ("11.9", "7.6"):  # macro-F1 of moderate* and of moderate
        assert f"| GPT-4o (published) | {published} |" in page


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
    own_profile(Path("model.toml"), '[m]\nbase_url = "https://api.example.org/v1"\n')
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
