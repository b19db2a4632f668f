"""A small file that claims to be a huge one is refused in a sentence that names the limit and how
to lift it.
"""

from __future__ import annotations

import contextlib
import io
import random
import resource
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from claimlab.core import bounds
from claimlab.core.declared import room_of
from claimlab.core.errors import UnreadableFile
from claimlab.files.archives import archive_members
from claimlab.files.parquet import read_typed


def dictionary(
    rows: int, length: int, write: Callable[[pl.LazyFrame, Path], None], folder: Path
) -> Path:
    """One long value in every row: next to nothing on disk."""
    frame = pl.LazyFrame({"text": ["x" * length]}).select(pl.col("text").repeat_by(rows).explode())
    write(frame, folder / "bomb")
    return folder / "bomb"


def parquet(frame: pl.LazyFrame, file: Path) -> None:
    frame.collect().write_parquet(file)


def arrow(frame: pl.LazyFrame, file: Path) -> None:
    frame.collect().write_ipc(file, compression="zstd")


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@pytest.mark.slow
@pytest.mark.parametrize("write", [parquet, arrow])
def test_a_table_of_one_repeated_value_is_refused_before_it_fills_the_memory(
    tmp_path: Path, write: Callable[[pl.LazyFrame, Path], None]
) -> None:
    file = dictionary(6_000_000, 1_000, write, tmp_path)
    before = peak()
    with pytest.raises(UnreadableFile, match=rf"at most 4 GB.*{bounds.VARIABLE}=1"):
        read_typed(file, "bomb")
    with pytest.raises(UnreadableFile, match="at most 4 GB"):
        read_typed(file.read_bytes(), "bomb")
    assert peak() - before < 1 << 30


def shared(value: object, rows: int) -> pl.LazyFrame:
    return pl.LazyFrame({"text": [value]}).select(pl.col("text").repeat_by(rows).explode())


@pytest.mark.parametrize("form", ["parquet", "ipc", "ipc_stream"])
@pytest.mark.parametrize(
    ("value", "rows"),
    [(b"x" * 1_000, 200_000), ({"a": ["x" * 1_000]}, 200_000), ([7] * 100_000, 2_000)],
    ids=["bytes", "nested", "a list of numbers"],
)
def test_values_that_are_no_plain_text_are_measured_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: object, rows: int, form: str
) -> None:
    monkeypatch.setattr(bounds, "FREE_BYTES", 64 << 20)
    file, frame = tmp_path / "bomb", shared(value, rows).collect()
    getattr(frame, f"write_{form}")(file, compression="zstd")
    assert file.stat().st_size < 1 << 20
    if isinstance(value, list):  # nothing of it is read: one row may be larger than the memory
        for reader in ("scan_parquet", "scan_ipc", "read_ipc_stream"):
            monkeypatch.setattr(pl, reader, None)
    for source in (file, file.read_bytes()):
        with pytest.raises(UnreadableFile, match="looks like a bomb"):
            read_typed(source, "bomb")


@pytest.mark.parametrize("form", ["parquet", "ipc", "ipc_stream"])
def test_what_a_file_declares_is_the_size_of_its_values(form: str) -> None:
    rows = 1_000
    frame = pl.DataFrame(
        {
            "text": [f"{number:0100d}" for number in range(rows)],
            "numbers": [[number, 2 * number] for number in range(rows)],
            "flag": [True, None] * (rows // 2),
            "kind": pl.Series(["a", "b"] * (rows // 2), dtype=pl.Categorical),
        }
    )
    for compression in ("uncompressed", "zstd", "lz4"):
        file = io.BytesIO()
        getattr(frame, f"write_{form}")(file, compression=compression)
        room = room_of(file, "a", "Parquet" if form == "parquet" else "Arrow")
        assert rows * (100 + 2 * 8) < room < 2 * rows * (100 + 2 * 8)


@pytest.mark.parametrize("form", ["parquet", "ipc", "ipc_stream"])
def test_a_damaged_declaration_is_a_sentence(form: str) -> None:
    file, generator = io.BytesIO(), random.Random(7)
    getattr(pl.DataFrame({"a": [["x"], ["y", "z"]]}), f"write_{form}")(file)
    for _ in range(2_000):
        data = bytearray(file.getvalue())
        for _ in range(generator.randint(1, 4)):
            data[generator.randrange(8, len(data))] = generator.choice((0, 1, 127, 128, 255))
        start = time.process_time()
        with contextlib.suppress(UnreadableFile):
            room_of(io.BytesIO(data), "a", "Parquet" if form == "parquet" else "Arrow")
        assert time.process_time() - start < 1


def test_a_table_out_of_proportion_is_refused_and_can_be_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "FREE_BYTES", 1 << 20)
    file = dictionary(300_000, 100, parquet, tmp_path)
    with pytest.raises(UnreadableFile, match="looks like a bomb"):
        read_typed(file, "bomb")
    monkeypatch.setenv(bounds.VARIABLE, "1")
    assert read_typed(file, "bomb").height == 300_000


def test_ordinary_text_packs_far_less_than_the_limit(tmp_path: Path) -> None:
    texts = [
        f"Claim {n}: the bridge over river {n % 97} opened in {1900 + n % 100}."
        for n in range(50_000)
    ]
    frame = pl.DataFrame({"text": texts, "label": ["true", "false"] * 25_000})
    frame.write_parquet(tmp_path / "t.parquet", compression="zstd")
    needed = int(frame.estimated_size())
    assert needed < bounds.TABLE_RATIO / 5 * (tmp_path / "t.parquet").stat().st_size


def test_many_files_and_many_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_MEMBERS", 3)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(4):
            archive.writestr(f"{number}.csv", "a,b\n1,2\n")
    with pytest.raises(UnreadableFile, match=rf"holds 4 files; at most 3.*{bounds.VARIABLE}=1"):
        archive_members(packed.getvalue(), "many.zip")
    with pytest.raises(UnreadableFile, match=rf"2,001 columns; at most 2,000.*{bounds.VARIABLE}=1"):
        bounds.refuse_wide(2_001, "wide.csv")
    monkeypatch.setenv(bounds.VARIABLE, "1")
    assert len(archive_members(packed.getvalue(), "many.zip")) == 4
    bounds.refuse_wide(2_001, "wide.csv")
