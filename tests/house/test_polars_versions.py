"""The same rows and the same JSON under the oldest and the newest Polars that are admitted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import polars_versions as versions
import pytest


@pytest.mark.slow
def test_the_oldest_and_the_newest_polars_give_the_same_results(tmp_path: Path) -> None:
    try:
        versions.install(versions.OLD, tmp_path / "site")
    except subprocess.CalledProcessError as error:
        pytest.skip(
            f"polars {versions.OLD} cannot be installed here: {error.stderr.strip().splitlines()[-1]}"
        )
    assert versions.run(tmp_path / "old", tmp_path / "site") == versions.OLD
    assert versions.run(tmp_path / "new") == pl.__version__ != versions.OLD
    assert list(versions.differences(tmp_path / "old", tmp_path / "new")) == []


def test_a_difference_is_found_and_hashes_are_none(tmp_path: Path) -> None:
    for name, rows, digest in (("a", [1, 2], "0" * 64), ("b", [2, 1], "f" * 64)):
        folder = tmp_path / name
        folder.mkdir()
        pl.DataFrame({"n": rows}).write_parquet(folder / "t.parquet")
        (folder / "same.json").write_text(f'{{"sha256": "{digest}"}}', encoding="utf-8")
        (folder / "other.json").write_text(f'{{"list": [{{"n": {rows[0]}}}]}}', encoding="utf-8")
    found = list(versions.differences(tmp_path / "a", tmp_path / "b"))
    assert found == ["other.json: list[0].n: 1, 2", "t.parquet: row 0: {'n': (1, 2)}"]
