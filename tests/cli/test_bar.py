"""The progress bar: one bar that moves, says how long it will take, and leaves nothing on the
screen.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from claimlab.cli.bar import StageProgress, Stages, time_left

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def test_steps_of_one_stage_are_one_bar() -> None:
    stages = Stages()
    for number, check in enumerate(("author", "length", "time")):
        stages.update(f"liar: {check}", number, 3)
    assert [(s.label, s.done, s.first) for s in stages.open] == [("liar: time", 2, 0)]
    assert stages.count() == "2/3"
    stages.update("liar: report", 3, 3)
    assert stages.count() == ""


def test_an_inner_stage_is_shown_behind_the_outer_one_and_gives_way_to_it() -> None:
    stages = Stages()
    stages.update("clean: near-duplicates", 2, 9)
    stages.update("sketch texts", 500, 1_000)
    assert (stages.label(), stages.count()) == (
        "clean: near-duplicates · sketch texts",
        "500/1,000",
    )
    stages.update("sketch texts", 1_000, 1_000)
    stages.update("verify pairs", 10, 50)
    assert stages.label() == "clean: near-duplicates · verify pairs"
    stages.update("clean: inspection", 3, 9)
    assert (stages.label(), stages.count()) == ("clean: inspection", "3/9")


def test_the_time_left_is_of_what_this_start_did() -> None:
    resumed = StageProgress("predicting", 150, 200, first=100, began=0.0, updated=10.0)
    assert resumed.left(10.0) == pytest.approx(10.0)
    assert resumed.left(13.0) == pytest.approx(7.0)
    assert (
        StageProgress("predicting", 100, 200, first=100, began=0.0, updated=0.0).left(5.0) is None
    )
    assert StageProgress("reading", 5, None, began=0.0, updated=1.0).left(1.0) is None
    assert [time_left(s) for s in (None, 7.2, 65, 3_671)] == [
        "",
        "0:07 left",
        "1:05 left",
        "1:01:11 left",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("watched", [True, False])
def test_a_bar_moves_on_a_terminal_and_leaves_nothing_there(watched: bool, tmp_path: Path) -> None:
    import pty

    code = (
        "import time\nfrom claimlab.cli.output import progress_bar\n"
        "from claimlab.core.progress import progress\nwith progress_bar():\n"
        "    for i in range(5):\n        progress('predicting', i, 5); time.sleep(0.15)\n"
        "print('Wrote it.')"
    )
    pid, screen = pty.fork()
    if pid == 0:  # the child: its terminal is the pseudo-terminal, unless its stderr goes to a file
        if not watched:
            os.dup2(os.open(tmp_path / "err", os.O_CREAT | os.O_WRONLY), 2)
        os.environ |= {"TERM": "xterm", "COLUMNS": "80"}
        os.execv(sys.executable, [sys.executable, "-c", code])
    printed = b""
    while True:
        try:
            chunk = os.read(screen, 4096)
        except OSError:
            break
        if not chunk:
            break
        printed += chunk
    os.waitpid(pid, 0)
    text = printed.decode()
    counts = set(re.findall(r"\d/5", text))
    assert (len(counts) > 1) is watched
    assert ESCAPE.sub("", text.rpartition("\x1b[2K")[2]).strip() == "Wrote it."
    if not watched:
        assert not (tmp_path / "err").read_text()


def test_a_log_has_a_line_a_minute_and_a_short_run_none() -> None:
    from io import StringIO

    from claimlab.cli.bar import to_log

    short, long = StringIO(), StringIO()
    for stream, every in ((short, 60.0), (long, 0.0)):
        update = to_log(stream, every)
        update("asking", 1, 20)
        update("asking", 12, 20)
    assert not short.getvalue()
    assert [line.split(" left")[0][:12] for line in long.getvalue().splitlines()] == [
        "asking 1/20",
        "asking 12/20",
    ]
