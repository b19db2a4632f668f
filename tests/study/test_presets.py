"""The presets run on the real files, at a small size."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from claimlab.study.front import study_run
from claimlab.study.new import presets, study_new

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SMALL: dict[str, dict[str, str]] = {
    "pt-afc": {"dataset": "covid19-br"},
    "evolved-claims": {"dataset": "evolved", "train": "seed"},
    "cdl-baselines": {"dataset": "twitter15"},
    "bluff": {"dataset": "nlp4if", "part": "Task 1: settings"},
}
RECORDS = 300


def small(preset: str, place: Path) -> Path:
    """The preset as a user would try it: one seed and a sample of each dataset."""
    text = study_new(place / "preset.toml", preset).read_text(encoding="utf-8")
    text = re.sub(r"(?m)^data = .*$", f'data = "{DATA.as_posix()}"', text)
    text = re.sub(r"(?m)^# sample = .*$", f"sample = {RECORDS}", text)
    file = place / "study.toml"
    file.write_text(re.sub(r"(?m)^seeds = .*$", "seeds = [0]", text), encoding="utf-8")
    return file


def test_every_published_preset_is_tried() -> None:
    assert set(SMALL) == set(presets()) - {"compare"}


@pytest.mark.slow
@pytest.mark.parametrize("preset", sorted(SMALL))
def test_a_preset_runs_at_a_small_size(preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not DATA.is_dir():
        pytest.skip("the real datasets are not at ../shared/data")
    monkeypatch.setenv("CLAIMLAB_CL100K", str(DATA / "cl100k_base.tiktoken"))
    monkeypatch.chdir(tmp_path)
    grid = study_run(small(preset, tmp_path), "out", only=SMALL[preset])
    reasons = {reason for cell in grid.cells if (reason := grid.reason(cell))}
    assert all("API_KEY" in reason or "openai" in reason for reason in reasons), reasons
    models = [e for e in grid.entries if e.axes["detector"] == "tfidf"]
    assert models
    assert all(e.records > 0 for e in models)
    assert (tmp_path / "out" / "report" / "index.html").is_file()
    expected = {show.title for show in grid.study.show} if preset == "pt-afc" else set()
    assert expected <= {title for title, _ in grid.tables}
