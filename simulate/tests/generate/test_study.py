"""One study file from seeds to export: generate, filter, review by batches, audit, split, detect,
export.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import claimlab as cl
from claimlab.core.calls.estimate import cost_of
from claimlab.core.dataset import Dataset
from claimlab.exchange.export import read_export
from claimlab.exchange.synthetic import lacks
from claimlab.study.check import study_check
from claimlab.study.front import study_run

START = """
name = "Generated"
references = false
[datasets.seeds]
folder = "seeds"
[generate.both]
chain = ["real", "altered"]
languages = ["eng", "por", "deu"]
size = 24
profile = "writer.toml"
[filter.quick]
metrics = ["structure", "language", "details", "change-log"]
[grid]
generate = ["both"]
filter = ["quick"]
detector = ["tfidf"]
split = ["group"]
"""
WHOLE = """
review = ["batches"]
task = ["veracity", "authorship"]
[review.batches]
answers = "answers.csv"
batch = 30
inspect = 0.2
[[show]]
title = "Shortcuts"
step = "audit"
values = ["checks"]
after = { generate = "both", filter = "quick", review = "batches" }
columns = ["check", "verdict"]
[audit.checks]
checks = ["length", "language"]
[[show]]
title = "Exports"
step = "export"
values = ["jsonl"]
after = { generate = "both", filter = "quick", review = "batches" }
"""


def answer_review(generated: Path, folder: Path) -> tuple[int, int]:
    """Annotators inspect a fifth of each batch: all is well but in the second, which is
    discarded.
    """
    review = cl.review_create(
        generated, folder / "review", task="keep", batch=30, inspect=0.2, people=["ana"], per_item=1
    )
    about, members = (
        review.about(),
        dict(review.batches().members.select("record_id", "batch").iter_rows()),
    )
    for number, item in enumerate(review.queue("ana")):
        value = "remove" if members[about[item.id].record_id] == 2 else "keep"
        review.decide("ana", item.id, value, key=f"00000000-0000-4000-8000-{number:012d}")
    cl.review_export(review, folder / "exported")
    (folder / "answers.csv").write_bytes((folder / "exported" / "decisions.csv").read_bytes())
    review.close()
    return len(members), sum(batch == 2 for batch in members.values())


@pytest.mark.slow
def test_generated_text_goes_through_a_whole_study_with_its_labels(
    seeds: Dataset, writer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seeds.write("seeds")
    assert writer.profile == str(tmp_path / "writer.toml")
    Path("start.toml").write_text(START, encoding="utf-8")
    cost = cost_of(study_run, "start.toml", "out", trust=True)
    assert cost["money_most"] > 0
    assert writer.server.counts()["served"] == 0
    study_run("start.toml", "out", trust=True)
    calls = writer.server.counts()["served"]
    assert calls == 24
    filtered = next(Path("out/steps").glob("quality_filter-*"))
    total, discarded = answer_review(filtered, tmp_path)
    Path("whole.toml").write_text(START + WHOLE, encoding="utf-8")
    study_check("whole.toml", trust=True)
    grid = study_run("whole.toml", "out", trust=True)
    assert [grid.reason(cell) for cell in grid.cells] == [None] * len(grid.cells)
    assert {str(cell.axes["task"]) for cell in grid.done} == {"veracity", "authorship"}
    assert writer.server.counts()["served"] == calls, "what was generated is not paid for again"
    runs = [Dataset.open(grid.folder(cell)) for cell in grid.done]
    exports = [read_export(place) for place in sorted(Path("out/steps").glob("export-*"))]
    assert [len(dataset) for dataset in exports] == [total - discarded]
    for dataset in (*runs, *exports):  # a run holds the records that were tested
        assert dataset.synthetic
        assert {step.step for step in dataset.lineage} >= {"generate", "quality filter", "review"}
        made = dataset.records.filter(pl.col("authorship") != "HWT")
        assert made.height
        assert all(lacks(meta) == [] for meta in made["meta"])
    labels = {
        json.loads(meta)["synthetic"]["label"] for meta in exports[0].records["meta"].drop_nulls()
    }
    assert labels == {"real", "altered"}
    assert "Shortcuts" in Path("out/report/report.md").read_text(encoding="utf-8")
