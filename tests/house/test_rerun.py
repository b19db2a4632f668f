"""Every folder that a verb writes can be made again from what it says of itself, to the same
bytes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from parts.packages import leaf_marked

import claimlab as cl

from .test_twins import TWINS, Twin

WRITE_FILES = ("catalog", "labels", "publish bundle")  # one page or table, not a folder
FOLDERS = [twin for twin in TWINS if not twin.command.startswith(WRITE_FILES)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "twin", leaf_marked(FOLDERS, lambda twin: twin.command), ids=lambda twin: twin.command
)
def test_a_folder_is_repeated_to_the_same_bytes(
    twin: Twin, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    twin.call(str(tmp_path / "out"))
    if not twin.command.startswith(
        "study"
    ):  # the paths in a study file are read from the current folder
        monkeypatch.chdir(tmp_path)
    result = cl.rerun(tmp_path / "out", inputs=workspace, cache=workspace / "calls")
    assert result.differences == {}
    assert result.files > 1
