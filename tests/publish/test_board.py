"""A board ranks what is verified and refuses the rest; its template verifies pull requests."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from parts.planted import planted

import claimlab as cl
from claimlab.core.errors import DataError, OutputExists
from claimlab.publish.board import new_board
from claimlab.publish.bundle import canonical

pytestmark = pytest.mark.slow
RUNS = {
    "words": {},
    "logistic": {"settings": {"model": "logistic"}},
    "length": {"detector": "shortcut", "settings": {"feature": "length"}},
    "luck": {"detector": "stratified"},
    "most": {"detector": "majority"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`data`, and `results` with a bundle of each of five runs on it."""
    folder = tmp_path_factory.mktemp("board")
    planted()[0].write(folder / "data")
    (folder / "results").mkdir()
    for name, options in RUNS.items():
        cl.detect(folder / "data", output=folder / name, **options)  # type: ignore[arg-type]
        cl.publish_bundle(folder / name, folder / "results" / f"{name}.json", draws=200)
    return folder


def test_five_bundles_are_ranked_and_ties_share_a_rank(place: Path, tmp_path: Path) -> None:
    ranked = cl.publish_board(place / "results", output=tmp_path / "board", data=place / "data")
    assert ranked.refused == {}
    board = ranked.evaluation.board("veracity", "planted")
    assert board is not None
    assert set(board.tied) >= {"words", "length"}
    assert board.ranks["luck"] in ("4", "4-5")
    first, last = next(one.ranks for one in board.standings if one.name == "words") or (0, 0)
    assert first == 1 < last
    page = (tmp_path / "board" / "index.html").read_text(encoding="utf-8")
    assert "cannot be told apart" in page
    assert len(page) < 300_000
    assert json.loads((tmp_path / "board" / "board.json").read_bytes())["refused"] == {}


def test_what_does_not_re_derive_is_refused_and_has_no_rank(place: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    shutil.copytree(place / "results", results)
    content = json.loads((results / "luck.json").read_bytes())
    content["figures"]["runs"][0]["scores"]["macro_f1"] = 0.999
    (results / "forged.json").write_bytes(canonical(content))
    (results / "broken.json").write_bytes((results / "words.json").read_bytes()[:5000])
    shutil.copy(results / "words.json", results / "zz.json")
    (results / "outside.json").symlink_to(place / "results" / "luck.json")
    ranked = cl.publish_board(results)
    assert {line.run for line in ranked.lines} == set(RUNS)
    assert set(ranked.refused) == {
        "forged.json",
        "broken.json",
        "zz.json",
        "outside.json",
    }
    assert "macro_f1: the bundle says 0.999" in ranked.refused["forged.json"]
    assert ranked.refused["zz.json"] == "the same as words.json"
    assert ranked.refused["outside.json"] == "a link"


def test_runs_on_other_records_are_another_board(place: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    shutil.copytree(place / "results", results)
    cl.split(place / "data", "random", seed=9, output=tmp_path / "other")
    for name in ("stratified", "majority"):
        cl.detect(tmp_path / "other", name, output=tmp_path / name)
        cl.publish_bundle(tmp_path / name, results / f"other-{name}.json", draws=200)
    ranked = cl.publish_board(results)
    sizes = {
        board.dataset: len(board.standings)
        for board in ranked.evaluation.boards
        if board.metric == "macro_f1"
    }
    assert sorted(sizes.values()) == [2, 5]
    wrong = cl.publish_board(results, data=place / "data").refused
    assert set(wrong) == {"other-stratified.json", "other-majority.json"}


def test_flags_of_the_bundles_are_shown(place: Path, tmp_path: Path) -> None:
    records = planted(size=300)[0]
    cl.split(records, "random", output=tmp_path / "leaky")
    cl.detect(tmp_path / "leaky", "stratified", output=tmp_path / "run")
    cl.overlap(tmp_path / "leaky", cutoff="2021-01", output=tmp_path / "known")
    (tmp_path / "results").mkdir()
    file = tmp_path / "results" / "run.json"
    cl.publish_bundle(tmp_path / "run", file, draws=200)
    (line,) = cl.publish_board(tmp_path / "results").lines
    assert "test records in train (near)" in line.flags


def test_a_folder_without_bundles_is_a_sentence(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(DataError, match="is not a folder of bundles"):
            cl.publish_board(place)
    (tmp_path / "dataset.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match="is not a folder of bundles"):
        cl.publish_board(tmp_path)
    (tmp_path / "old.json").write_text('{"bundle": "claimlab result 0"}', encoding="utf-8")
    with pytest.raises(DataError, match="No bundle in .* is verified. old.json: .*bundle"):
        cl.publish_board(tmp_path)


def test_other_files_of_the_folder_are_passed_over(place: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    shutil.copytree(place / "results", results)
    shutil.copytree(place / "words", results / "run")  # with its dataset.json
    (results / ".claimlab.json").write_text('{"kind": "board"}', encoding="utf-8")
    (results / "notes.json").write_text("not JSON", encoding="utf-8")
    (results / "link.json").symlink_to(place / "words" / "dataset.json")
    ranked = cl.publish_board(results)
    assert {line.run for line in ranked.lines} == set(RUNS)
    assert ranked.refused == {}


def test_the_template_verifies_what_a_pull_request_adds(place: Path, tmp_path: Path) -> None:
    new_board(tmp_path / "repository")
    with pytest.raises(OutputExists):
        new_board(tmp_path / "repository")
    folder = tmp_path / "repository"
    workflow = yaml.safe_load((folder / ".github/workflows/verify.yml").read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in workflow[True]  # YAML reads `on` as true
    steps = {
        step["name"]: step["run"] for step in workflow["jobs"]["verify"]["steps"] if "run" in step
    }
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def run(step: str) -> int:
        words = ["bash", "-eo", "pipefail", "-c", steps[step]]
        return subprocess.run(words, cwd=folder, env=env, capture_output=True).returncode

    shutil.copy(place / "results" / "luck.json", folder / "results")
    assert run("verify") == 0
    whole = (place / "results" / "words.json").read_bytes()
    (folder / "results" / "added.json").write_bytes(whole.replace(b'"seed":0', b'"seed":1'))
    assert run("verify") == 1
    assert run("board") == 0
    assert "added.json" in (folder / "board" / "index.html").read_text("utf-8")


def test_a_site_shows_ranks_intervals_and_refusals_of_boards(place: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    shutil.copytree(place / "results", results)
    (results / "broken.json").write_text('{"bundle":"claimlab result 2"', "utf-8")
    for name in ("one", "two"):
        ranked = cl.publish_board(results, output=tmp_path / name / "board")
    cl.publish_site([tmp_path / "one", tmp_path / "two"], tmp_path / "public")
    for name in ("board", "board-2"):  # two folders of one name are two pages
        page = (tmp_path / "public" / "results" / f"{name}.html").read_text("utf-8")
        for run in ranked.evaluation.runs:
            low, high = run.intervals["macro_f1"] or (0, 0)
            shown = rf">{run.name}</td>\s*<td[^>]*>{100 * (run.scores.macro_f1 or 0):.1f}</td>"
            assert re.search(rf"{shown}\s*<td[^>]*>{100 * low:.1f} to {100 * high:.1f}</td>", page)
        assert "cannot be told apart" in page
        above = {run.name for run in ranked.evaluation.runs if run.chance.beaten}
        (named,) = re.findall(r"majority class [\d.]+, random guess [\d.]+, .*?\): (.*)\.", page)
        assert above
        assert set(named.split(", ")) == above
        assert re.search(r"broken\.json</td>\s*<td[^>]*>[^<]*not JSON", page)
    file = tmp_path / "one" / "board" / "board.json"
    file.write_text(file.read_text("utf-8").replace('"standings"', '"places"'), "utf-8")
    with pytest.raises(DataError, match="cannot be read"):
        cl.publish_site(tmp_path / "one", tmp_path / "public", force=True)


def test_copies_under_another_name_and_copied_gold_are_flagged(tmp_path: Path) -> None:
    """The same answers, a copy with gaps and the gold itself were ranked without a word."""
    data = planted(size=320)[0]
    gold = data.records.filter(pl.col("split") == "test").select("id", label="veracity")
    gold = gold.filter(pl.col("label").is_in(["true", "false"]))
    other = pl.col("label").replace({"true": "false", "false": "true"})
    rng = np.random.default_rng(2)

    def mine(skill: float) -> pl.DataFrame:
        wrong = pl.Series(rng.random(gold.height) > skill)
        return gold.with_columns(label=pl.when(wrong).then(other).otherwise("label"))

    first = mine(0.6)
    errors = first.filter(first["label"] != gold["label"])["id"]
    answers = {
        "first": first,
        "again": first,
        "holes": first.filter(~pl.col("id").is_in(errors.gather_every(4).implode())),
        "honest": mine(0.65),
        "gold": gold,
    }
    for name, table in answers.items():
        table.write_csv(tmp_path / f"{name}.csv")
        cl.detect(data, predictions=tmp_path / f"{name}.csv", output=tmp_path / name)
        cl.publish_bundle(tmp_path / name, tmp_path / "board" / f"{name}.json")
    ranked = cl.publish_board(tmp_path / "board", output=tmp_path / "page")
    flags = {line.run: line.flags for line in ranked.lines}
    assert "the same answers as first" in flags["again"]
    assert "100% of the errors" in flags["holes"]
    assert "are those of first" in flags["holes"]
    assert "implausible: 100.0% of all answers are right" in flags["gold"]
    assert not re.search("implausible|those of|same answers", flags["honest"])
    assert "the same answers as first" in (tmp_path / "page" / "index.html").read_text("utf-8")
