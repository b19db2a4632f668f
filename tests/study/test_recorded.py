"""Answers that come with a study fill its cells without the model, and hold no text of the data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import recorded_answers as bench
from parts.planted import planted
from parts.standin import Body, StandIn, own_profile

from claimlab.core.calls.calls import Calls
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.study.check import study_check
from claimlab.study.front import study_run
from claimlab.study.recorded import read_answers, write_answers

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
STUDY = """
seeds = [0, 1]
references = false
[datasets.data]
folder = "data"
[grid]
split = ["random"]
detector = ["small"]
[detector.small]
detector = "llm-few-shot"
profile = "model.toml"
settings = { examples = 2 }
limit = 20
"""


def reply(body: Body) -> str:
    """A label that goes with the text, after words of the text, as small models repeat them."""
    text = body["messages"][-1]["content"]
    return f"{text[10:22]} [{'true' if len(text) % 2 else 'false'}]"


@pytest.mark.slow
def test_recorded_answers_fill_the_cells_and_hold_no_words_of_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    planted(size=240)[0].write("data")
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    with StandIn(answer=reply) as server:
        own_profile(Path("model.toml"), f'[m]\nbase_url = "{server.url}"\nmodel = "m"\n')
        asked = study_run("study.toml", "out", trust=True)
    recording = Calls("replay", cache="out/calls").recording
    assert recording is not None
    write_answers(bench.answers_in(recording, "model m", "of a stand-in"), Path("answers.json"))

    replies = read_answers("answers.json").replies
    assert len(replies) == 40
    assert set(replies.values()) == {"[true]", "[false]"}
    kept = Path("answers.json").read_text(encoding="utf-8")
    assert not any(text[1:12] in kept for text in Dataset.open("data").records["text"])

    Path("again.toml").write_text(f'recorded = "answers.json"\n{STUDY}', encoding="utf-8")
    again = study_run("again.toml", "again", trust=True, mode="replay")  # the server is gone
    assert [e.macro_f1 for e in again.entries] == [e.macro_f1 for e in asked.entries]
    assert [e.records for e in again.entries] == [20]
    own_profile(
        Path("model.toml"),
        '[m]\nbase_url = "http://127.0.0.1:9"\nmodel = "m"\nkey_variable = "ABSENT"\n',
    )
    assert study_check("again.toml", trust=True)[1] == []
    assert any("ABSENT" in problem for problem in study_check("study.toml", trust=True)[1])
    bare = study_run("study.toml", "bare", trust=True)
    assert all(bare.reason(cell) for cell in bare.cells), "without the answers nobody is there"


def test_a_file_without_answers_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    planted(size=120)[0].write("data")
    Path("study.toml").write_text(f'recorded = "nothing.json"\n{STUDY}', encoding="utf-8")
    own_profile(Path("model.toml"), '[m]\nbase_url = "http://127.0.0.1:9"\nmodel = "m"\n')
    with pytest.raises(ClaimlabError, match=r"'nothing.json' holds no recorded answers"):
        study_run("study.toml", "out", trust=True, mode="replay")


def test_what_ships_is_labels_of_a_small_model_by_hashes() -> None:
    answers = read_answers("pt-afc")
    assert "too small for results" in answers.common["notes"][0]
    assert set(answers.replies.values()) <= {"[true]", "[false]", bench.NO_TAG}
    assert all(len(key) == 64 and int(key, 16) for key in answers.replies)
    assert bench.FILE.stat().st_size < 50_000


@pytest.mark.slow
def test_the_preset_is_replayed_without_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not DATA.is_dir():
        pytest.skip("the real datasets are not at ../shared/data")
    monkeypatch.setenv("CLAIMLAB_CL100K", str(DATA / "cl100k_base.tiktoken"))
    monkeypatch.chdir(tmp_path)
    file = bench.cells_of(DATA, tmp_path / "place")
    text = re.sub(r"(?m)^seeds = .*$", "seeds = [0]", file.read_text(encoding="utf-8"))
    # the model is asked about the text alone: without the search, which takes minutes
    text = re.sub(r"(?m)^enrich = .*\n", "", text)
    file.write_text(f'recorded = "pt-afc"\n{text}', encoding="utf-8")
    only = {"detector": bench.DETECTOR}
    grid = study_run(file, tmp_path / "out", only=only, trust=True, mode="replay")
    assert {grid.reason(cell) for cell in grid.cells} == {None}
    [entry] = grid.entries
    assert (entry.axes["evidence"], entry.seeds, entry.records) == ("none", 1, 40)
    assert entry.macro_f1 is not None
