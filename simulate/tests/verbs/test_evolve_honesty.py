"""What `claimlab evolve` says of data that is not as hoped, and what it refuses before it
starts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.standin import StandIn, own_profile

from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab_simulate.evolve.worth.score import DIMENSIONS

ENGLISH = "Most children in Riverton drink tap water every morning before school."
GERMAN = "Die meisten Kinder in Neustadt trinken jeden Morgen vor der Schule Leitungswasser aus dem Hahn."
CHINESE = "这座城市的地铁票价将从明年一月开始上涨百分之二十,市政府今天宣布。"


def written(folder: Path, *texts: str | None, **columns: str) -> str:
    rows: list[dict[str, Any]] = [{"id": f"c{i}", "text": text, "label_raw": "1", **columns}
                                  for i, text in enumerate(texts)]  # fmt: skip
    Dataset.build("town", pl.DataFrame(rows, infer_schema_length=None)).write(folder)
    return str(folder)


def test_noise_takes_no_words_of_another_language_also_where_none_is_stated(
    tmp_path: Path,
) -> None:
    texts = (GERMAN, CHINESE, ENGLISH)
    data = written(tmp_path / "data", *texts)
    assert run(["evolve", "run", data, "-o", str(tmp_path / "out"), "--steps", "6"]) == 0
    for before, after in zip(texts, Dataset.open(tmp_path / "out").records["text"], strict=True):
        assert after != before
        assert {c for c in after if c.isalpha()} <= {c for c in before if c.isalpha()}


def test_claims_without_a_text_are_said_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "data", ENGLISH, None, None)
    assert run(["evolve", "run", data, "-o", str(tmp_path / "out"), "--steps", "2"]) == 0
    assert "2 records without a text were left out" in capsys.readouterr().err
    rating = {"rationale": "So.", **dict.fromkeys(DIMENSIONS, 0.5), "forward": False}
    with StandIn(lambda _: json.dumps(rating)) as server:
        profile = tmp_path / "mine.toml"
        own_profile(profile, f'[mine]\nbase_url = "{server.url}"\nmodel = "m"\n')
        command = ["evolve", "worth", data, "--judge", str(profile)]
        assert run([*command, "-o", str(tmp_path / "worth")]) == 0
        assert "1 claim scored (agents played by m), 2 without a score" in capsys.readouterr().out
        assert run([*command, "-o", str(tmp_path / "again"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["worth"]["unscored"] == 2


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--profile", "embedded"], "--profile"),
        (["--model", "other"], "--model"),
        (["--set", "auditor_profile=embedded"], "--set auditor_profile"),
        (["--set", "recording=somewhere"], "--set recording"),
        (["--set", "auditor_data=somewhere"], "--set auditor_data"),
        (["--network", "nowhere/ties.json"], "There is no file 'nowhere/ties.json'"),
    ],
)
def test_what_would_go_unheard_is_refused(
    more: list[str], word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "data", ENGLISH)
    assert run(["evolve", "run", data, "-o", str(tmp_path / "out"), "--steps", "2", *more]) in (
        1,
        2,
    )
    assert word in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_wrong_stage_is_refused_before_a_report_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "data", ENGLISH)
    assert run(["evolve", "run", data, "-o", str(tmp_path / "out"), "--steps", "2"]) == 0
    drift = ["evolve", "drift", str(tmp_path / "out"), "-o", str(tmp_path / "report"), "--datasets"]
    assert run([*drift, str(tmp_path / "stages"), "--set", "levels=late"]) == 2
    assert "There is no stage 'late'" in capsys.readouterr().err
    (tmp_path / "taken" / "seed").mkdir(parents=True)
    (tmp_path / "taken" / "seed" / "mine.txt").write_text("x")
    assert run([*drift, str(tmp_path / "taken")]) == 1
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("kind", ["csv", "jsonl", "hf", "croissant"])
def test_synthetic_text_leaves_the_house_with_label_origin_and_change_log(
    kind: str, tmp_path: Path
) -> None:
    data = written(tmp_path / "data", ENGLISH, language="eng")
    assert run(["evolve", "run", data, "-o", str(tmp_path / "out"), "--steps", "6"]) == 0
    assert run(["export", str(tmp_path / "out"), "-o", str(tmp_path / "x"), "--to", kind]) == 0
    assert (
        json.loads((tmp_path / "x" / "claimlab.json").read_text(encoding="utf-8"))["dataset"][
            "synthetic"
        ]
        is True
    )
    read = {"csv": pl.read_csv, "jsonl": pl.read_ndjson}.get(kind, pl.read_parquet)
    pattern = {"csv": "records.csv", "jsonl": "records.jsonl", "hf": "data/*.parquet"}.get(
        kind, "records.parquet"
    )
    for file in (tmp_path / "x").glob(pattern):
        for meta in read(file)["meta"].to_list():
            note = (json.loads(meta) if isinstance(meta, str) else meta)["synthetic"]
            note = json.loads(note) if isinstance(note, str) else note
            assert note["label"] == "1"
            assert note["origin"]["base_claim"] == ENGLISH
            assert note["changes"], "six steps change an English claim"
        break
    else:
        raise AssertionError("no records were exported")
