"""The preset `bluff-each` on a made-up tree in BLUFF's schema: every word order left out once, in
every task.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from claimlab.core import packaged
from claimlab.core.languages import table
from claimlab.study.front import study_run
from claimlab.study.new import study_new

ORDERS = {"SVO": "spa", "SOV": "tur", "VSO": "ara"}
EACH = 24
PLACES = ("Velmore", "Ostrel", "Arvana", "Tindal", "Quarrow")


def machine_row(language: str, i: int) -> dict[str, str]:
    author = ("MGT", "HAT", "MTT")[i % 3]
    return {
        "uuid": f"g-{language}-{i}",
        "article_content": f"{language} {i}: the bridge of {PLACES[i % 5]} cost {i} coins, they say.",
        "language": language,
        "model": "lab_model-1",
        "degree": ("critical", "minor", "moderate")[i % 3],
        "veracity": "fake_news" if (i // 3) % 2 else "real_news",
        **{flag: "y" if flag == author else "n" for flag in ("HAT", "MGT", "MTT", "HWT")},
    }


def human_row(language: str, i: int) -> dict[str, str]:
    return {
        "uuid": f"h-{language}-{i}",
        "article_content": f"{language} {i}: nobody paid {i} coins for a bridge in {PLACES[i % 5]}.",
        "language": language,
        "organization": "Faro Check",
        "veracity": ("true", "false")[i % 2],
    }


@pytest.mark.slow
def test_every_word_order_is_left_out_in_every_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bluff" / "data" / "processed" / "generated_data"
    for made, row in (
        ("ai_generated/lab_model-1", machine_row),
        ("human_written/Faro Check", human_row),
    ):
        for language in ORDERS.values():
            file = folder / made / language / "data.csv"
            file.parent.mkdir(parents=True)
            pl.DataFrame([row(language, i) for i in range(EACH)]).write_csv(file)
    monkeypatch.chdir(tmp_path)
    text = study_new(tmp_path / "preset.toml", "bluff-each").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^data = .*$", 'data = "."', text)
    text = re.sub(r'(load = "(?:nlp4if-2021|mumin)"\nsource = .*)', r"\1\noptional = true", text)
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    only = {"part": "BLUFF: word order"}
    grid = study_run(tmp_path / "study.toml", tmp_path / "out", only=only, trust=True)
    for entry in grid.entries:
        order = entry.axes["split.hold_out"]
        if order in ORDERS:
            assert entry.failed is None
            assert entry.macro_f1 is not None
            assert entry.records <= 2 * EACH, "only the order that was left out is tested on"
        else:
            assert str(order) in (entry.failed or "")
    assert {entry.axes["task"] for entry in grid.entries} == {f"bluff-{i}" for i in range(1, 5)}


def test_every_value_that_is_left_out_exists() -> None:
    """A value that only small samples lack is not told from a misspelt one when a study is
    checked.
    """
    parts = packaged.toml("claimlab.study", "bluff-each.toml")["part"]
    for grid in (part["grid"] for part in parts):
        (by,) = grid["split"]
        kinds = {getattr(language, by.replace("-", "_")) for language in table().values()}
        assert len(grid["split.hold_out"]) > 1
        assert set(grid["split.hold_out"]) <= kinds
