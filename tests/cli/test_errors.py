"""Every failure is a sentence with an exit code, whatever failed: full disks, panics, memory,
nonsense on disk.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from claimlab.cli import app
from claimlab.cli.output import suggest_serving
from claimlab.core.dataset import Dataset

FULL = Path("/dev/full")


def err(capsys: pytest.CaptureFixture[str]) -> str:
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    return text


@pytest.fixture
def data(tmp_path: Path) -> Path:
    Dataset.build("d", pl.DataFrame({"id": ["1", "2"], "text": ["A claim.", "Another."]})).write(
        tmp_path / "d"
    )
    return tmp_path / "d"


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_full_disk_names_the_output_and_says_what_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def by_python() -> None:
        with FULL.open("w", encoding="utf-8") as file:
            file.write("x" * 100_000)

    def by_polars() -> None:
        pl.DataFrame({"a": ["x" * 1_000_000]}).write_parquet(FULL, compression="uncompressed")

    for fill in (by_python, by_polars):
        with pytest.raises((OSError, pl.exceptions.PolarsError)) as full:
            fill()
        assert app.explain(full.value, ["clean", "d", "-o", "out"]) == 1
        assert err(capsys).startswith(
            "Error: The disk is full: 'out' could not be written. Free some space"
        )
    assert app.explain(OSError(errno.ENOSPC, "No space left on device", "/x/y"), ["llm"]) == 1
    assert "'/x/y' could not be written" in err(capsys)


class PanicException(BaseException):
    """As compiled packages raise it: not an Exception."""


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            PanicException("index out of bounds"),
            "did not expect (PanicException: index out of bounds)",
        ),
        (MemoryError(), "not enough memory"),
        (RecursionError("maximum recursion depth exceeded"), "nested too deeply"),
        (ZeroDivisionError("a\nb"), "did not expect (ZeroDivisionError: a b)"),
        (
            PermissionError(errno.EACCES, "Permission denied", "/x"),
            "Check the path and its permissions",
        ),
    ],
)
def test_no_failure_is_a_traceback(
    fault: BaseException,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def broken(_: object) -> None:
        raise fault

    monkeypatch.setattr(app, "to_command", broken)  # a planted fault
    assert app.run(["catalog"]) == 1
    assert words in err(capsys)
    with pytest.raises(type(fault)):
        app.run(["catalog", "--debug"])
    assert "CLAIMLAB_DEBUG" not in os.environ, (
        "the next run in this process would raise what it should report"
    )


def test_ctrl_c_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "to_command", broken)
    assert app.run(["catalog"]) == 130
    assert "Stopped" in err(capsys)


LATE = """  # Ctrl-C pressed while the interpreter ends, when Python no longer answers it
import os, signal, sys
from claimlab.cli.app import main
class Late:
    def __del__(self, kill=os.kill, me=os.getpid(), signum=signal.SIGINT): kill(me, signum)
sys.late = Late()
main(["--version"])
"""


def test_ctrl_c_after_the_work_is_done_does_not_kill() -> None:
    ended = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_manifest_nested_100_000_deep(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "dataset.json").write_text('{"a":' * 100_000 + "1" + "}" * 100_000, encoding="utf-8")
    assert app.run(["clean", str(data), "-o", str(tmp_path / "out")]) == 1
    assert "dataset.json' cannot be read" in err(capsys)


def test_an_audit_over_a_dataset_says_the_true_reason(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    Dataset.open(data).write(other)
    assert app.run(["audit", str(data), "-o", str(other), "--force"]) == 1
    text = err(capsys)
    assert "holds a claimlab dataset" in text
    assert "--force replaces only a claimlab audit report" in text
    assert app.run(["audit", str(data), "-o", str(data), "--force"]) == 2
    assert "is the input" in err(capsys)
    assert app.run(["audit", str(data), "-o", str(data / "report")]) == 2
    assert "inside the input" in err(capsys)
    assert Dataset.open(data).records.height == 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    "where", ["os.abort()", "threading.Thread(target=os.abort).start() or time.sleep(20)"]
)
def test_an_abort_of_compiled_code_is_a_sentence(where: str) -> None:
    """In whatever thread it is; with memory to spare it is a fault (tests/house/test_memory.py has
    the other case).
    """
    code = f"import os, threading, time\nfrom claimlab.cli import app\napp.run = lambda _: {where}\napp.main([])"
    env = {**os.environ, "PYTHONPATH": str(Path(app.__file__).parents[2])}
    ended = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    assert (
        "Error: A compiled package gave up. This is a fault in it or in claimlab: run again"
        in ended.stderr
    )
    assert "memory" not in ended.stderr


def test_the_workspace_is_suggested_for_local_folders_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    suggest_serving(Path("work/report"))
    suggest_serving(Path("s3://bucket/report"))
    assert capsys.readouterr().err == "Next: claimlab serve work\n"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["review", "create", "d", "-o", "r", "--person", "ana"], "Did you mean --annotator?"),
        (["audit", "d", "--quality"], "To see its options: claimlab audit --help"),
        (
            ["audit", "d", "--seed", "abc"],
            "Error: The value of --seed is not valid. Give a whole number.\n",
        ),
        (["audit", "d", "--seed", "-3"], "Give a number greater than or equal to 0.\n"),
        (["import", "my.cvs", "-o", "d"], "Did you mean 'my.csv'?"),
        (["check", "my.cvs"], "Did you mean 'my.csv'?"),
        (["split", "d", "--by", "time", "--by=random"], "--by is given twice. Give it once.\n"),
        (["import", "my.csv", "--label", "a", "--no-labels"], "exclude each other"),
        (["diff", "d"], "'claimlab diff' needs AFTER ("),
        (["match", "--text", "So."], "'claimlab match' needs --archive (where to look: "),
        (["publish", "sites"], "There is no command of 'claimlab publish' named 'sites'. Did you"),
        pytest.param(
            ["generate", "run", "d", "-o", "e"],
            "No model is given to fill in the chain.",
            marks=pytest.mark.leaf,
        ),
        (["import", "elsewhere/my.cvs", "-o", "d"], "Check the path."),
    ],
)
def test_a_slip_of_the_keyboard_is_understood(
    command: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text("text,label\na b c,true\n", encoding="utf-8")
    assert app.run(command) in (1, 2)
    assert words in capsys.readouterr().err
