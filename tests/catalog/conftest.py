"""What tests of loaders share: the synthetic raw files of each dataset (`samples/NAME/raw`), and
ways to write others.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import openpyxl
import pytest

SAMPLES = Path(__file__).with_name("samples")


@pytest.fixture
def sample() -> Callable[..., Path]:
    """`sample(name, folder, without=())`: the dataset's synthetic files, copied to `folder`, which
    is returned.
    """

    def copied(name: str, folder: Path, without: Sequence[str] = ()) -> Path:
        source = SAMPLES / name / "raw"
        for file in sorted(f for f in source.rglob("*") if f.is_file()):
            member = file.relative_to(source)
            if not any(part in member.as_posix() for part in without):
                (folder / member).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, folder / member)
        return folder

    return copied


@pytest.fixture
def write() -> Callable[..., Path]:
    """`write(folder, {member: text or bytes})`: the files under `folder`, which is returned."""

    def written(folder: Path, files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return folder

    return written


@pytest.fixture
def xlsx() -> Callable[..., bytes]:
    """`xlsx(rows)`: a workbook with one sheet."""

    def workbook(rows: Sequence[Sequence[object]]) -> bytes:
        book, buffer = openpyxl.Workbook(), io.BytesIO()
        for row in rows:
            book.active.append(list(row))
        book.save(buffer)
        return buffer.getvalue()

    return workbook
