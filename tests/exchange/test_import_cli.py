"""`claimlab import` as a person runs it: exit codes, what goes where, bad files, and kills."""

from __future__ import annotations

import json
import pickle
import random
import re
import shlex
import signal
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import polars as pl
import pytest

from claimlab.cli.app import run
from claimlab.core.dataset import Dataset

CLAIMS = "id,claim,rating\n" + "".join(
    f'{i},"The bridge in Riverton, number {i}, is closed",{["true", "false"][i % 2]}\n'
    for i in range(20)
)


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    path = tmp_path / "claims.csv"
    path.write_text(CLAIMS, encoding="utf-8")
    return path


def call(*args: object) -> int:
    return run(["import", *map(str, args)])


def test_json_is_one_object_and_the_rest_is_on_stderr(
    claims: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(claims, "-o", claims.parent / "out", "--json") == 0
    out, err = capsys.readouterr()
    said = json.loads(out)
    assert set(said) == {"output", "counts", "lineage", "notes", "report"}
    assert said["counts"]["records"] == 20
    assert said["report"]["rows_read"] == 20
    assert re.search(r"text +claim", err), "the guess"
    assert "Read 20 rows, kept 20 records." in err, "the report"
    assert Dataset.open(claims.parent / "out").records.height == 20


def test_dry_run_shows_the_guess_and_writes_nothing(
    claims: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(claims, "--dry-run", "--json", "-o", claims.parent / "out") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["guess"]["columns"]["text"]["column"] == "claim"
    assert "20 rows" in err
    assert list(claims.parent.iterdir()) == [claims]


@pytest.mark.parametrize("text", ["The bridge in Riverton, number 0, is closed", "a new claim"])
def test_a_copy_below_the_texts_that_are_normalised_leads_to_cleaning(
    claims: Path,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("claimlab.cli.output.ALIKE", 5)
    claims.write_text(f'{CLAIMS}20,"{text}",true\n', encoding="utf-8")
    assert call(claims, "-o", claims.parent / "out") == 0
    step = "clean" if "Riverton" in text else "audit"
    assert f"Next: claimlab {step} " in capsys.readouterr().err


def test_wrong_usage_is_exit_2_with_advice(
    claims: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = claims.parent / "out"
    for args, words in (
        ([claims], "No output folder was given. Add -o DIR"),
        ([claims, "-o", out, "--text", "clam"], "Did you mean 'claim'?"),
        ([claims, "-o", out, "--kind", "poem"], "claim, article, post"),
        ([claims, "-o", out, "--set", "quotes=single"], "auto, double, escape, none"),
        ([claims, "-o", out, "--set", "unmapped=drop"], "error, unknown"),
        ([claims, "-o", out, "--set", "delimiter=::"], "one ASCII character"),
        ([claims, "-o", out, "--map", "rating"], "Did you mean 'ratings'?"),
    ):
        assert call(*args) == 2, args
        assert words in capsys.readouterr().err
        assert not out.exists()


def test_an_output_that_stands_is_kept_without_force(
    claims: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = claims.parent / "out"
    assert call(claims, "-o", out) == 0
    assert call(claims, "-o", out) == 1
    assert "--force" in capsys.readouterr().err
    assert call(claims, "-o", out, "--force", "--limit", 5) == 0
    assert Dataset.open(out).records.height == 5


def forged_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"id,text\n" + b"0" * 5000)
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(mark) + offset, 0xFFFFFF00)
    path.write_bytes(bytes(data))


def make_bad_files(folder: Path) -> dict[str, str]:
    """File name -> words that must be in the sentence."""
    (folder / "empty_folder").mkdir()
    (folder / "empty.csv").write_bytes(b"")
    (folder / "header.csv").write_bytes(b"id,text,label\n")
    (folder / "nul.csv").write_bytes(CLAIMS.encode() + b"99,a\0b,true\n")
    (folder / "late_nul.csv").write_bytes(CLAIMS.encode() * 200 + b"99,a\0b,true\n")
    (folder / "junk.csv").write_bytes(random.Random(5).randbytes(20_000))
    (folder / "junk.json").write_bytes(random.Random(6).randbytes(20_000))
    (folder / "pickle.pkl").write_bytes(pickle.dumps({"text": ["a"]}))
    (folder / "pickle.csv").write_bytes(pickle.dumps({"text": ["a"]}))
    (folder / "deep.json").write_bytes(b"[" * 500_000)
    (folder / "broken.json").write_bytes(b'[{"text": "a"}, {"text": ')
    (folder / "lines.jsonl").write_bytes(b'{"text": "a"}\n' + b'{"text": \n' * 5)
    (folder / "ragged.csv").write_bytes(b"id,text,label\n" + b"1,a\n" * 9 + b"2,b,true\n")
    (folder / "cut.zip").write_bytes(b"PK\x03\x04" + b"\0" * 100)
    forged_bomb(folder / "bomb.zip")
    with zipfile.ZipFile(folder / "climb.zip", "w") as archive:
        archive.writestr("../../evil.csv", CLAIMS)
    with zipfile.ZipFile(folder / "nested.zip", "w") as archive:
        archive.writestr("inner.zip", b"PK\x05\x06" + bytes(18))
    pl.DataFrame({"text": ["a" * 50] * 100}).write_parquet(folder / "cut.parquet")
    whole = (folder / "cut.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (folder / "fake.xlsx").write_bytes(b"PK\x03\x04 not a workbook")
    (folder / "page.csv").write_bytes(b"<!DOCTYPE html><html>404</html>")
    (folder / "sheet.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))
    return {
        "absent.csv": "no file or folder", "empty_folder": "holds no file", "empty.csv": "is empty",
        "header.csv": "no records", "nul.csv": "NUL byte on line 22", "late_nul.csv": "NUL byte on line",
        "junk.csv": "binary", "junk.json": "binary", "pickle.pkl": "pickle", "pickle.csv": "pickle",
        "deep.json": "nested too deeply", "broken.json": "not JSON", "lines.jsonl": "5 of 6 rows",
        "ragged.csv": "9 of 10 rows", "cut.zip": "not a whole zip", "bomb.zip": "zip bomb",
        "climb.zip": "outside the archive", "nested.zip": "holds no file", "cut.parquet": "Parquet",
        "fake.xlsx": "not whole", "page.csv": "web page", "sheet.xls": "old Office",
    }  # fmt: skip


def test_bad_files_are_a_sentence_exit_1_and_nothing_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = make_bad_files(tmp_path)
    before = sorted(tmp_path.iterdir())
    for name, words in bad.items():
        assert call(tmp_path / name, "-o", tmp_path / "out") == 1, name
        out, err = capsys.readouterr()
        assert out == "", name
        sentence = [line for line in err.splitlines() if line.startswith("Error: ")]
        assert len(sentence) == 1, (name, err)
        assert words in sentence[0], (name, sentence[0])
        assert name.split(".")[0] in sentence[0], (name, sentence[0])
        assert sentence[0].endswith((".", "?")), sentence[0]
        assert "Traceback" not in err
        assert "did not expect" not in err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_no_half_folder(tmp_path: Path) -> None:
    """Ten kills at random moments of a run, over an old dataset; each leaves the old one whole or
    the new one whole.
    """
    table = tmp_path / "big.csv"
    text = "".join(
        f"{i},Claim number {i} about the bridge and its budget,{['true', 'false'][i % 2]}\n"
        for i in range(60_000)
    )
    table.write_text("id,claim,rating\n" + text, encoding="utf-8")
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-c",
        "from claimlab.cli.app import main; main()",
        "import",
        str(table),
        "-o",
        str(out),
    ]
    start = time.monotonic()
    subprocess.run([*command, "--limit", "1000"], check=True, capture_output=True)
    duration = time.monotonic() - start
    draw = random.Random(11)
    heights = set()
    for _ in range(10):
        child = subprocess.Popen(
            [*command, "--force"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(duration * draw.uniform(0.3, 1.5))
        child.send_signal(signal.SIGKILL)
        child.wait()
        heights.add(Dataset.open(out).records.height)
    assert heights <= {1_000, 60_000}
    subprocess.run([*command, "--force"], check=True, capture_output=True)
    assert Dataset.open(out).records.height == 60_000
    assert sorted(p.name for p in tmp_path.iterdir()) == ["big.csv", "out"], (
        "leftovers of killed runs are swept"
    )


def test_a_kill_while_the_folder_is_built_is_swept(tmp_path: Path, claims: Path) -> None:
    """The moment that matters, hit for certain: the tables are written and the swap has not
    happened.
    """
    out = tmp_path / "out"
    script = (
        "import os, signal, sys\nfrom claimlab.core import atomic\n"
        "atomic._swap = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from claimlab.cli.app import main\nmain(['import', sys.argv[1], '-o', sys.argv[2]])"
    )
    killed = subprocess.run(
        [sys.executable, "-c", script, str(claims), str(out)], capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert not out.exists()
    assert any(p.name.startswith(".out.building") for p in tmp_path.iterdir()), (
        "the kill did leave something"
    )
    assert call(claims, "-o", out) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["claims.csv", "out"]


def refusals(folder: Path) -> dict[str, str]:
    """Files that leave a question open, by name."""
    texts = [f"The bridge in Riverton, number {i}, is closed" for i in range(24)]
    table = {
        "codes.csv": ["text,label", *(f'"{t}",{i % 2}' for i, t in enumerate(texts))],
        "words.csv": ["text,label", *(f'"{t}",{"abc"[i % 3]}x' for i, t in enumerate(texts))],
        "flag.csv": ["post,is_rumor", *(f'"{t}",{i % 2 == 0}' for i, t in enumerate(texts))],
        "shelf.csv": ["post,shelf", *(f'"{t}",{("up", "low")[i % 2]}' for i, t in enumerate(texts))],
        "both/a.csv": ["post,verdict", *(f'"{t}",{i % 2 == 0}' for i, t in enumerate(texts))],
        "both/b.csv": ["id,claim,rating", *(f'{i},"{t}?",true' for i, t in enumerate(texts))],
        "twice/a.csv": ["text,label", *(f'"{t}",true' for t in texts)],
        "twice/b.csv": ["text,label", *(f'"{t}",false' for t in texts)],
    }  # fmt: skip
    for name, lines in table.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    return {name.split("/")[0]: name for name in table}


@pytest.mark.slow
def test_every_command_that_a_refusal_prints_goes_further(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in refusals(tmp_path):
        assert call(name, "-o", "out", "--force") in (1, 2), name
        said = capsys.readouterr().err
        commands = [shlex.split(line)[1:] for line in said.splitlines() if line[:3] == "  c"]
        assert len(commands) > 1, said
        for command in commands:
            code = run(command)
            err = capsys.readouterr().err
            assert code == 0 or "\n  claimlab import" in err, (command, err)
            assert said.partition("Choose")[0] not in err, command
            Path("plan.toml").unlink(missing_ok=True)
