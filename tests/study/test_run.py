"""A study run: each step once, failures as cells, one cap, the same bytes after a kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from parts import forked
from parts.planted import planted
from parts.standin import StandIn, own_profile
from sklearn.metrics import f1_score

import claimlab as cl
from claimlab.core.calls.estimate import cost_of
from claimlab.core.dataset import Dataset
from claimlab.evaluate.common_draws import over_seeds
from claimlab.study.front import study_run
from claimlab.study.score import entries

GRID = """
seeds = [0, 1]
[datasets.data]
folder = "data"
[grid]
split = ["random", "group"]
detector = ["stratified", "tfidf"]
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    planted(size=240)[0].write(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(GRID, encoding="utf-8")
    return tmp_path


def stamps(folder: Path) -> dict[str, int]:
    return {p.name: (p / "dataset.json").stat().st_mtime_ns for p in (folder / "steps").iterdir()}


def files(folder: Path) -> dict[str, bytes]:
    skip = {"timings.json", "costs.html"}
    found = (p for p in folder.rglob("*") if p.is_file() and p.name not in skip)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}


@pytest.mark.slow
def test_every_step_is_done_once_and_only_what_changed_is_done_again(place: Path) -> None:
    grid = study_run("study.toml", "out")
    assert (len(grid.cells), len(grid.done)) == (16, 16)
    first = stamps(place / "out")
    assert len(first) == 2 * 2 + 16  # two splits with two seeds, and a run each
    study_run("study.toml", "out")
    assert stamps(place / "out") == first
    (place / "study.toml").write_text(
        GRID.replace('"stratified", ', '"stratified", "shortcut", '), encoding="utf-8"
    )
    study_run("study.toml", "out")
    after = stamps(place / "out")
    assert {name: after[name] for name in first} == first
    assert len(after) == len(first) + 4


def test_the_mean_over_seeds_is_that_of_scikit_learn(place: Path) -> None:
    grid = study_run("study.toml", "out", only=["detector=tfidf", "split=group"])
    entry = entries(grid)[0]
    scores = []
    for cell in grid.cells:
        run = cl.Dataset.open(grid.folder(cell))
        rows = run.records.join(run.tables["predictions"], left_on="id", right_on="record_id")
        scores.append(
            f1_score(rows["veracity"].to_list(), rows["label"].to_list(), average="macro")
        )
    assert entry.macro_f1 == pytest.approx(np.mean(scores))
    assert entry.interval is not None
    assert entry.interval[0] <= entry.macro_f1 <= entry.interval[1]
    one_seed = entries(
        study_run("study.toml", "one", only=["detector=tfidf", "split=group", "seed=0"])
    )[0]
    alone = cl.evaluate(f"out/steps/{grid.cells[0].node.name}").runs[0]
    assert one_seed.macro_f1 == alone.scores.macro_f1
    assert one_seed.interval == pytest.approx(alone.intervals["macro_f1"], abs=0.02)
    ends = [end for e in grid.entries for end in e.interval or ()]
    assert 0 <= min(ends) <= max(ends) <= 1, "few seeds widen an interval, but no score exceeds 100"


@pytest.mark.slow
def test_a_detector_is_compared_with_the_baseline_and_never_with_itself(place: Path) -> None:
    found = entries(study_run("study.toml", "out", only={"split": "group"}), baseline="majority")
    by_name = {e.axes["detector"]: e for e in found}
    assert by_name["majority"].p is None
    tfidf, guess = by_name["tfidf"], by_name["stratified"]
    assert tfidf.difference == pytest.approx(tfidf.macro_f1 - by_name["majority"].macro_f1)
    assert tfidf.p_holm is not None
    assert guess.p_holm is not None
    assert tfidf.p_holm < 0.05
    assert tfidf.difference_interval is not None
    assert 0 < tfidf.difference_interval[0] < tfidf.difference < tfidf.difference_interval[1]


def test_drawing_the_seeds_adds_their_spread() -> None:
    rng = np.random.default_rng(0)
    records, seeds = rng.normal(0, 1, (20_000, 1)), np.array([[-2.0, 0.0, 2.0]])
    wide = over_seeds(records + seeds)
    # The variance of the mean: of the records (common to all seeds), and of three seeds with
    # variance 4.
    assert np.var(wide) == pytest.approx(1 + 4 / 3, rel=0.05)


@pytest.mark.slow
def test_a_step_that_fails_is_a_reason_and_stops_no_other_cell(place: Path) -> None:
    text = (
        GRID
        + '[detector.broken]\ndetector = "shortcut"\nsettings = { feature = "no-such-column" }\n'
    )
    (place / "study.toml").write_text(
        text.replace('"tfidf"]', '"tfidf", "broken"]'), encoding="utf-8"
    )
    grid = study_run("study.toml", "out")
    failed = [c for c in grid.cells if grid.reason(c)]
    assert {c.axes["detector"] for c in failed} == {"broken"}
    assert len(grid.done) == 16
    assert "no-such-column" in str(grid.reason(failed[0]))
    page = (place / "out" / "report" / "index.html").read_text(encoding="utf-8")
    assert "no-such-column" in page


def test_the_folder_of_something_else_is_not_taken(place: Path) -> None:
    (place / "mine").mkdir()
    (place / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(cl.ClaimlabError, match="other than a study"):
        study_run("study.toml", "mine")
    assert (place / "mine" / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.slow
def test_the_answers_in_the_study_file_make_the_report(place: Path) -> None:
    names = ("aim", "intended_generalisation", "shifts_in_scope", "shifts_out_of_scope")
    said = "\n".join(f'{name} = "It is said here in one sentence."' for name in names)
    (place / "study.toml").write_text(
        f'{GRID}[report]\ntitle = "A planted study"\n{said}\n', encoding="utf-8"
    )
    study_run("study.toml", "out", only={"detector": "tfidf"})
    cl.report("out", "eqa")
    page = (place / "eqa" / "index.html").read_text(encoding="utf-8")
    assert "A planted study" in page
    assert "detector tfidf" in page


def test_datasets_can_be_merged_in_the_file(place: Path) -> None:
    other = planted(size=200, seed=3)[0]
    other.name = "other"
    other.write(place / "other")
    merged = '[datasets.other]\nfolder = "other"\n[datasets.both]\nmerge = ["data", "other"]\n[grid]\ndataset = ["both"]\n'
    (place / "study.toml").write_text(GRID.replace("[grid]\n", merged), encoding="utf-8")
    grid = study_run(
        "study.toml", "out", only={"detector": "tfidf", "split": "random", "seed": "0"}
    )
    assert len(grid.done) == 1
    run = cl.Dataset.open(grid.folder(grid.cells[0]))
    assert {i.split("/")[0] for i in run.records["id"]} == {cl.Dataset.open("data").name, "other"}


@pytest.mark.slow
def test_killed_three_times_a_study_ends_with_the_same_bytes(place: Path) -> None:
    study_run("study.toml", "whole/out")
    expected = files(place / "whole" / "out")
    env = {**os.environ, "PYTHONPATH": str(Path(cl.__file__).parents[1])}
    command = [
        sys.executable,
        "-c",
        "import claimlab as cl; cl.study_run('study.toml', 'killed/out')",
    ]
    steps = place / "killed" / "out" / "steps"
    for done in (1, 6, 14):
        child = forked.Popen(command, cwd=place, env=env)
        while child.poll() is None and (
            not steps.is_dir() or len([*steps.glob("*/dataset.json")]) < done
        ):
            time.sleep(0.005)
        assert child.poll() is None, "over before it could be killed"
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert forked.run(command, cwd=place, env=env, check=False).returncode == 0
    found = files(place / "killed" / "out")
    assert json.loads(found["cells.json"]) == json.loads(expected["cells.json"])
    assert [name for name in expected if expected[name] != found.get(name)] == []
    assert found.keys() == expected.keys()


def test_the_tables_say_the_same_in_every_form(place: Path) -> None:
    grid = study_run("study.toml", "out", only={"seed": "0"})
    report = place / "out" / "report"
    scores = pl.read_csv(report / "scores.csv")
    saved = json.loads((report / "study.json").read_text(encoding="utf-8"))["entries"]
    assert scores["macro_f1"].to_list() == pytest.approx([e["macro_f1"] for e in saved])
    assert len(saved) == len(grid.cells)
    tables = cl.study_table("out", rows="detector", columns="split")
    assert [row[0] for row in tables[0].rows] == ["majority", "length alone", "stratified", "tfidf"]
    assert "longtable" in (report / "document.tex").read_text(encoding="utf-8")
    assert "\\begin{tabular}" in (report / "table.tex").read_text(encoding="utf-8")


ASKING = """
seeds = [0, 1, 2]
[datasets.data]
folder = "data"
[grid]
split = ["random"]
detector = ["model"]
[detector.model]
detector = "llm-zero-shot"
profile = "model.toml"
limit = 8
"""


@pytest.fixture
def asked(place: Path) -> Iterator[StandIn]:
    verdict = json.dumps({"rationale": "It is so.", "label": "true", "confidence": 0.9})
    with StandIn(answer=lambda _: verdict) as server:
        prices = "prices = { m = { input = 1.0, output = 2.0 } }"
        own_profile(
            place / "model.toml", f'[stand-in]\nbase_url = "{server.url}"\nmodel = "m"\n{prices}\n'
        )
        (place / "study.toml").write_text(ASKING, encoding="utf-8")
        yield server


@pytest.mark.slow
@pytest.mark.usefixtures("place")
def test_one_cap_holds_over_all_cells_and_starts(asked: StandIn) -> None:
    for _ in range(2):
        grid = study_run("study.toml", "out", max_calls=11, trust=True)
        assert asked.requests <= 11
    spent = [c for c in grid.cells if c.axes["detector"] == "model" and grid.reason(c)]
    assert spent, "three cells of eight questions do not fit into eleven calls"
    assert len(grid.done) == len(grid.cells) - len(spent), "what asks nobody is done all the same"
    grid = study_run("study.toml", "out", max_calls=1000, trust=True)
    assert len(grid.done) == len(grid.cells)
    assert asked.requests == len(asked.seen), "no question is asked twice"


@pytest.mark.usefixtures("place")
def test_the_estimate_holds_what_the_run_then_costs(asked: StandIn) -> None:
    priced = cost_of(study_run, "study.toml", "out", trust=True)
    assert asked.requests == 0
    grid = study_run("study.toml", "out", trust=True)
    cost = sum(entry.cost for entry in grid.entries)
    assert 0 < priced["money_least"] <= cost <= priced["money_most"]


def test_the_columns_of_an_import_can_be_named(place: Path) -> None:
    rows = cl.Dataset.open("data").records
    rows.select(body="text", verdict="veracity", other=pl.lit("x y z")).write_csv("rows.csv")
    study = '[datasets.rows]\nimport = "rows.csv"\ntext = "body"\nlabel = "verdict"\n[grid]\ndataset = ["rows"]\n'
    (place / "study.toml").write_text(GRID.replace("[grid]\n", study), encoding="utf-8")
    grid = study_run("study.toml", "out", only={"split": "random", "seed": "0"})
    assert len(grid.done) == len(grid.cells)


def test_the_layout_and_the_labels_of_an_import_can_be_named(place: Path) -> None:
    rows = cl.Dataset.open("data").records.filter(pl.col("veracity").is_in(["true", "false"]))
    rows = rows.select(
        pl.col("text"), pl.when(pl.col("veracity") == "true").then(1).otherwise(0).alias("y")
    )
    rows.write_csv("rows.txt", separator="|", include_header=False)
    study = (
        '[datasets.rows]\nimport = "rows.txt"\ntext = "1"\nlabel = "2"\nmap = "1=true,0=false"\n'
        'delimiter = "pipe"\nheader = false\n[grid]\ndataset = ["rows"]\n'
    )
    (place / "study.toml").write_text(GRID.replace("[grid]\n", study), encoding="utf-8")
    grid = study_run(
        "study.toml", "out", only={"split": "random", "seed": "0", "detector": "tfidf"}
    )
    assert len(grid.done) == len(grid.cells) == 1
    brought = cl.Dataset.open(next((place / "out" / "steps").glob("import-*")))
    counts = Counter(rows["y"])
    assert brought.manifest().counts["veracity"] == {"false": counts[0], "true": counts[1]}
    (place / "study.toml").write_text(
        GRID.replace("[grid]\n", study.replace("header = false", 'quotes = "few"')),
        encoding="utf-8",
    )
    with pytest.raises(cl.ClaimlabError, match="`quotes` cannot be 'few'"):
        study_run("study.toml", "other")


def test_tables_need_neither_the_data_nor_the_runs(place: Path) -> None:
    (place / "study.toml").write_text(GRID + '[table]\nbaseline = "majority"\n', encoding="utf-8")
    study_run("study.toml", "out", only={"seed": "0"})
    before = cl.study_table("out", rows="split", columns="detector", cells="difference")
    shutil.rmtree(place / "data")
    shutil.rmtree(place / "out" / "steps")
    assert cl.study_table("out", rows="split", columns="detector", cells="difference") == before
    assert [row[1].text for row in before[0].rows] == ["baseline", "baseline"]


@pytest.mark.slow
def test_without_the_baseline_nothing_is_called_the_baseline(place: Path) -> None:
    (place / "study.toml").write_text(GRID + '[table]\nbaseline = "absent"\n', encoding="utf-8")
    study_run("study.toml", "out", only={"seed": "0"})
    table = cl.study_table("out", cells="difference")[0]
    assert {cell.text for row in table.rows for cell in row[1:]} == {"not measured"}


@pytest.mark.slow
def test_a_clear_difference_stays_clear_among_many_comparisons(place: Path) -> None:
    """Of records without a publisher or author: of twelve publishers, no p could be so small."""
    data = Dataset.open(place / "data")
    data.records = data.records.with_columns(
        pl.lit(None, pl.String).alias(name) for name in ("source", "author")
    )
    data.write(place / "data", force=True)
    copies = "".join(f'[detector.copy{i}]\ndetector = "tfidf"\n' for i in range(60))
    names = ", ".join(f'"copy{i}"' for i in range(60))
    (place / "study.toml").write_text(
        GRID.replace('"stratified", "tfidf"', names) + copies, encoding="utf-8"
    )
    found = entries(study_run("study.toml", "out", only={"split": "random", "seed": "0"}))
    copied = [e for e in found if str(e.axes["detector"]).startswith("copy")]
    assert len(copied) == 60
    assert all(e.p_holm is not None and e.p_holm < 0.05 for e in copied)


def test_the_conclusion_counts_the_stars_and_what_is_above_every_reference(place: Path) -> None:
    grid = study_run("study.toml", "out", only={"split": "random"})
    tfidf, length = (
        next(e for e in grid.entries if e.axes["detector"] == n) for n in ("tfidf", "length alone")
    )
    assert tfidf.interval is not None
    assert length.macro_f1 is not None
    assert tfidf.interval[0] < length.macro_f1, "the planted data gives the label away by length"
    page = (place / "out" / "report" / "index.html").read_text(encoding="utf-8")
    starred = [e for e in grid.entries if e.axes["detector"] in ("tfidf", "stratified")]
    assert sum(e.chance.beaten for e in starred) == 1
    assert (
        "1 of 2 detector settings scores significantly above every baseline that does not" in page
    )
    assert "for all of them; 0 of these also above 'length alone'." in unescape(page)
