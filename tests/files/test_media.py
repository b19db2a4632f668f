"""Pictures as facts: which edits the hash survives, hostile files, and what becomes of addresses."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import polars as pl
import pytest
from media import apart, found, picture

import claimlab as cl
from claimlab.audit.checks.media import APART


@pytest.mark.needs("pdqhash")
@pytest.mark.slow
def test_resized_and_recompressed_pictures_are_found_and_others_are_not() -> None:
    shares = found()
    for name in ("half the size", "stretched by a fifth", "JPEG quality 20"):
        assert shares[name] >= 0.9, name
    for name in ("cropped by 20%", "mirrored"):
        assert shares[name] <= 0.1, name
    assert min(apart(picture(a), picture(a + 100)) for a in range(30)) > APART


def bomb() -> bytes:
    """A PNG of a few bytes that says it has 60,000 by 60,000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"0"))
        + chunk(b"IEND", b"")
    )


def folder(place: Path, names: list[str | None]) -> Path:
    place.mkdir(exist_ok=True)
    rows = pl.DataFrame(
        {
            "claim": [f"claim number {i} of the folder" for i in range(len(names))],
            "label": ["real", "fake"] * (len(names) // 2),
            "image": names,
        }
    )
    rows.write_csv(place / "claims.csv")
    return place


@pytest.mark.needs("pdqhash")
def test_hostile_pictures_are_counted(tmp_path: Path) -> None:
    names = [
        "whole.png",
        "bomb.png",
        "cut.jpg",
        "words.gif",
        "named.jpg",
        "link.png",
        "../out.png",
        "gone.png",
    ]
    place = folder(tmp_path / "data", names)
    picture(1).save(place / "whole.png")
    picture(1).save(tmp_path / "out.png")
    (place / "link.png").symlink_to(tmp_path / "out.png")
    picture(2).save(place / "named.jpg", "PNG")
    picture(3).save(place / "cut.jpg", "JPEG")
    (place / "cut.jpg").write_bytes((place / "cut.jpg").read_bytes()[:900])
    (place / "bomb.png").write_bytes(bomb())
    (place / "words.gif").write_text("no picture")
    for source in (place, place / "claims.csv"):
        data, _ = cl.import_files(source, text="claim", label="label")
        media = data.tables["media"]
        assert media["missing"].to_list() == [False] * 5 + [True] * 3
        assert media["hash"].is_not_null().to_list() == [
            True,
            False,
            False,
            False,
            True,
            *[False] * 3,
        ]
        (problems,) = [note for note in data.notes if note.startswith("Media with a problem")]
        for words in (
            "another format than the name says 1",
            "cut off or damaged 1",
            "no known format 1",
            "out of the folder 2",
            "too many pixels 1",
        ):
            assert words in problems


def test_addresses_are_kept_and_never_fetched(tmp_path: Path) -> None:
    place = folder(tmp_path / "data", [f"https://unreachable.invalid/{i}.jpg" for i in range(6)])
    media = cl.import_files(place, text="claim", label="label")[0].tables["media"]
    assert media["missing"].null_count() == media["sha256"].null_count() == 6


def test_pictures_named_after_ids_belong_to_their_records(tmp_path: Path) -> None:
    place = tmp_path / "data"
    (place / "img").mkdir(parents=True)
    rows = [
        {"id": f"x{i}", "claim": f"claim number {i}", "label": "real" if i % 2 else "fake"}
        for i in range(6)
    ]
    pl.DataFrame(rows).write_csv(place / "claims.csv")
    (place / "img" / "x3.png").write_bytes(b"anything")
    data, _ = cl.import_files(place, text="claim", label="label", id="id")
    assert data.tables["media"]["record_id"].to_list() == ["x3"]
    assert data.tables["media"]["bytes"].to_list() == [8.0]


def test_records_without_media_have_no_table(tmp_path: Path) -> None:
    place = folder(tmp_path / "data", ["a note", "another", "more", "words"])
    assert "media" not in cl.import_files(place, text="claim", label="label")[0].tables
