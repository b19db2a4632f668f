"""Archives are untrusted: bombs, lies, climbing paths and links are refused before or while they
are read.
"""

from __future__ import annotations

import io
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

from claimlab.core.errors import UnreadableFile
from claimlab.files.archives import check_archive
from claimlab.files.bundle import Bundle


def packed(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def forge_sizes(path: Path, size: int) -> None:
    """Overwrite the unpacked size that the archive declares, in the local header and in the
    directory.
    """
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(mark)
        struct.pack_into("<I", data, at + offset, size)
    path.write_bytes(bytes(data))


def test_folder_zip_and_file_are_alike(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.csv").write_bytes(b"x\n1\n")
    (folder / ".DS_Store").write_bytes(b"junk")
    archive = packed(tmp_path / "d.zip", {"sub/a.csv": b"x\n1\n", "__MACOSX/a": b"junk"})
    for place in (folder, archive):
        with Bundle.open(place) as bundle:
            assert bundle.names() == ["sub/a.csv"]
            assert bundle.read("sub/a.csv") == b"x\n1\n"
    with Bundle.open(folder / "sub" / "a.csv") as bundle:
        assert bundle.names() == ["a.csv"]
        assert list(bundle.hashes()) == ["a.csv"]


def test_ten_gigabytes_declared_are_refused_unread(tmp_path: Path) -> None:
    bomb = packed(tmp_path / "bomb.zip", {"a.csv": b"x,y\n" + b"0" * 1000})
    forge_sizes(bomb, 0xFFFFFF00)
    with pytest.raises(UnreadableFile, match="zip bomb"):
        Bundle.open(bomb)


def test_many_members_that_add_up_are_refused(tmp_path: Path) -> None:
    many = packed(tmp_path / "many.zip", {f"{i}.csv": b"x\n" for i in range(100)})
    data = bytearray(many.read_bytes())
    at = 0
    while (at := data.find(b"PK\x01\x02", at)) >= 0:
        struct.pack_into(
            "<I", data, at + 24, 63 << 20
        )  # each just below where its ratio is looked at
        at += 4
    many.write_bytes(bytes(data))
    with pytest.raises(UnreadableFile, match="would unpack to 6"):
        Bundle.open(many)


def test_data_beyond_the_declared_size_is_never_unpacked(tmp_path: Path) -> None:
    """One gigabyte of zeros behind a header that says 1,000 bytes, read by a process that may use
    600 MB.
    """
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = squeezed.compress(b"0" * (1 << 20)) + squeezed.flush(zlib.Z_FULL_FLUSH)
    body = (
        block * 1024 + squeezed.flush()
    )  # a fully flushed block stands for itself, so it can be repeated
    liar = tmp_path / "liar.zip"
    with zipfile.ZipFile(liar, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"")
    data = liar.read_bytes()
    local, directory = data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02")
    head = bytearray(data[local:directory][: 30 + len("a.csv")])
    struct.pack_into("<III", head, 14, 0, len(body), 1000)
    central = bytearray(data[directory : data.index(b"PK\x05\x06")])
    struct.pack_into("<III", central, 16, 0, len(body), 1000)
    end = bytearray(data[data.index(b"PK\x05\x06") :])
    struct.pack_into("<I", end, 16, len(head) + len(body))
    liar.write_bytes(bytes(head) + body + bytes(central) + bytes(end))
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))\n"
        "from claimlab.files.bundle import Bundle\n"
        "from claimlab.core.errors import UnreadableFile\n"
        "try:\n    Bundle.open(sys.argv[1]).read('a.csv')\n"
        "except UnreadableFile as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(liar)], capture_output=True, text=True, check=False
    )
    assert "cannot be read" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "name", ["../../evil.csv", "/etc/evil.csv", "a/../../evil.csv", "C:\\evil.csv", "..\\evil.csv"]
)
def test_climbing_paths_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableFile, match="outside the archive"):
        Bundle.open(packed(tmp_path / "t.zip", {name: b"x\n1\n"}))


def test_links_repeats_and_odd_methods_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("passwd.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(UnreadableFile, match="link"):
        Bundle.open(tmp_path / "link.zip")
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.csv", "x\n2\n")
    with pytest.raises(UnreadableFile, match="two files named 'a.csv'"):
        Bundle.open(tmp_path / "twice.zip")
    with pytest.raises(UnreadableFile, match="other than deflate"):
        Bundle.open(packed(tmp_path / "bz.zip", {"a.csv": b"x\n"}, zipfile.ZIP_BZIP2))


def test_truncated_and_damaged_zips_are_a_sentence(tmp_path: Path) -> None:
    whole = packed(tmp_path / "w.zip", {"a.csv": b"x,y\n" + bytes(range(32, 127)) * 50})
    data = whole.read_bytes()
    (tmp_path / "cut.zip").write_bytes(data[: len(data) // 2])
    with pytest.raises(UnreadableFile, match="truncated or damaged"):
        Bundle.open(tmp_path / "cut.zip")
    damaged = bytearray(data)
    damaged[60] ^= 0xFF
    (tmp_path / "bad.zip").write_bytes(bytes(damaged))
    with pytest.raises(UnreadableFile, match="cannot be read"):
        Bundle.open(tmp_path / "bad.zip").read("a.csv")


def test_a_table_that_contains_a_zip_is_no_zip(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("x", "y")
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n" + inner.getvalue())
    assert Bundle.open(tmp_path / "t.csv").names() == ["t.csv"]


def test_many_files_have_one_hash(tmp_path: Path) -> None:
    for i in range(201):
        (tmp_path / f"{i}.txt").write_text(str(i), encoding="utf-8")
    hashes = Bundle.open(tmp_path).hashes()
    assert list(hashes) == ["201 files"]
    (tmp_path / "7.txt").write_text("changed", encoding="utf-8")
    assert Bundle.open(tmp_path).hashes() != hashes


def test_a_workbook_is_checked_like_any_zip(tmp_path: Path) -> None:
    path = packed(tmp_path / "b.xlsx", {"xl/workbook.xml": b"x" * 1000})
    forge_sizes(path, 0xFFFFFF00)
    with pytest.raises(UnreadableFile, match="bomb"):
        check_archive(path, "b.xlsx")


def test_a_zip_inside_is_opened_one_level_deep(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("d/a.csv", "id,text\n1,a\n")
    unsafe = io.BytesIO()
    with zipfile.ZipFile(unsafe, "w") as archive:
        archive.writestr("../etc/a.csv", "id,text\n1,a\n")
    path = tmp_path / "o.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("in.zip", inner.getvalue())
        archive.writestr("unsafe.zip", unsafe.getvalue())
    with Bundle.open(path) as bundle:
        assert bundle.names() == ["in.zip/d/a.csv", "unsafe.zip"]
        assert bundle.read("in.zip/d/a.csv") == b"id,text\n1,a\n"
        assert bundle.head("in.zip/d/a.csv", 2) == b"id"


def test_names_that_become_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("d/a.csv", "1")
        archive.writestr("d\\a.csv", "2")
    with pytest.raises(UnreadableFile, match="two files named 'd/a.csv'"):
        Bundle.open(path)


def test_small_archives_that_unpack_out_of_proportion_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(3):
            archive.writestr(f"{i}.csv", b"a,b\n" * 500_000)
    with pytest.raises(UnreadableFile, match="zip bomb"):
        Bundle.open(path)


def test_tar_archives_are_opened_as_zips_are(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("claim,verdict\nSome text,true\n", encoding="utf-8")
    for name, mode in (("plain.tar", "w"), ("packed.tgz", "w:gz"), ("packed.tar.bz2", "w:bz2")):
        with tarfile.open(tmp_path / name, mode) as archive:  # type: ignore[call-overload]
            archive.add(table, "./data/a.csv")
        with Bundle.open(tmp_path / name) as bundle:
            assert bundle.names() == ["data/a.csv"]
            assert bundle.read("data/a.csv") == table.read_bytes()
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as outer:
        outer.write(tmp_path / "packed.tgz", "packed.tgz")
    with Bundle.open(tmp_path / "outer.zip") as bundle:
        assert bundle.names() == ["packed.tgz/data/a.csv"]
    with tarfile.open(tmp_path / "climbs.tar", "w") as archive:
        archive.add(table, "../a.csv")
    with pytest.raises(UnreadableFile, match="points outside"):
        Bundle.open(tmp_path / "climbs.tar")


def test_a_tar_archive_of_gaps_does_not_fill_the_memory(tmp_path: Path) -> None:
    member = tarfile.TarInfo("a.csv")
    sparse = {"major": "1", "minor": "0", "name": "a.csv", "realsize": str(1 << 40)}
    member.pax_headers = {f"GNU.sparse.{name}": value for name, value in sparse.items()}
    data = b"1\n0\n5\n".ljust(512, b"\0") + b"claim"
    member.size = len(data)
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(data))
    with pytest.raises(UnreadableFile, match=r"holds a sparse file \('a.csv'\)"):
        Bundle.open(tmp_path / "a.tar")
