"""The data that come with the package are those that bench/parts makes."""

from __future__ import annotations

from pathlib import Path

from demo_data import write

from claimlab.core.demo import FOLDER
from claimlab.core.digest import digest_file


def test_the_demo_data_are_made_again_to_the_byte(tmp_path: Path) -> None:
    write(tmp_path)
    made, shipped = (
        {str(file.relative_to(folder)): digest_file(file) for file in folder.rglob("*.*")}
        for folder in (tmp_path, FOLDER)
    )
    assert made == shipped
    assert len(shipped) == 8
