"""A forked command is what a new start would be: its arguments, folder, environment, streams, end
and signals; and it leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from parts.forked import FORKS, HASH_SEEDS, Popen, Taken, at_start, put_programs, run

pytestmark = [
    pytest.mark.skipif(not FORKS, reason="this system has no fork"),
    pytest.mark.slow,  # two parents are started
]
SEEN = """
import json, os, signal, sys, threading
print(json.dumps({
    "argv": sys.argv, "cwd": os.getcwd(), "env": {k: v for k, v in os.environ.items() if k != "SHLVL"},
    "name": __name__, "file": "__file__" in globals(), "first": sys.path[0], "threads": threading.active_count(),
    "signals": [str(signal.getsignal(n)) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE)],
    "streams": [(s.name, s.encoding, s.errors, s.line_buffering) for s in (sys.stdin, sys.stdout, sys.stderr)],
    "piped": sys.stdin.read(), "bench": any(p.endswith("bench") for p in sys.path),
}), flush=True)
"""


def both(code: str, *words: str, **more: Any) -> tuple[Any, Any]:
    """The same code forked and as a new start."""
    command = [sys.executable, "-c", code, *words]
    more = {"capture_output": True, "text": True, **more}
    forked, new = run(command, **more), subprocess.run(command, **more)
    return forked, new


@pytest.mark.parametrize(
    "code",
    [
        "pass",
        "import sys; sys.exit(3)",
        "import sys; sys.exit('a sentence')",
        "import os; os._exit(4)",
        "raise SystemExit",
        "raise ValueError('no')",
        "def f():\n    raise ValueError('no')\nf()",
        "raise KeyboardInterrupt",
        "a b",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import sys; sys.stdout.write('no line'); sys.stderr.write('nor here')",
        "import atexit; atexit.register(print, 'last'); print('first')",
        "import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()",
        "import sys; print(sys.argv); print(__name__); print(sys.path[0] == '')",
        "from claimlab.cli.app import main; main(['--version'])",
        "from claimlab.cli.app import main; main(['no-such-verb'])",
    ],
)
def test_it_ends_as_a_new_start_does(code: str) -> None:
    forked, new = both(code, "one", "two words")
    assert (forked.returncode, forked.stdout) == (new.returncode, new.stdout)
    assert forked.stderr == new.stderr


def test_it_sees_what_a_new_start_sees(tmp_path: Path) -> None:
    env = {**os.environ, "MINE": "ü", "HOME": str(tmp_path)}
    env.pop("PYTEST_CURRENT_TEST", None)
    forked, new = both(SEEN, "a", "-b", cwd=tmp_path, env=env, input="for it\n")
    assert forked.stdout == new.stdout
    assert '"piped": "for it\\n"' in forked.stdout


def test_what_its_children_take_is_counted_for_a_test(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    taken = Taken()
    before = taken.by(request.node.nodeid)
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    run([sys.executable, "-c", burn], timeout=60)
    put_programs(tmp_path)
    more = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["python", "-c", burn], env=os.environ | more, check=True)
    assert 0.3 < taken.by(request.node.nodeid) - before < 2.0
    assert taken.by("another") == 0


def test_what_one_child_sets_no_other_has() -> None:
    first = (
        "import os, builtins, claimlab; os.environ['LEFT'] = 'x'; claimlab.left = builtins.left = 1"
    )
    assert run([sys.executable, "-c", first]).returncode == 0
    second = "import os, builtins, claimlab; print('LEFT' in os.environ, hasattr(claimlab, 'left'), hasattr(builtins, 'left'))"
    for _ in HASH_SEEDS:
        done = run([sys.executable, "-c", second], capture_output=True, text=True)
        assert done.stdout == "False False False\n"


def test_a_query_runs_in_every_child() -> None:
    """The pool of Polars is made in the child: a parent that had one would leave it stuck."""
    code = "import polars as pl; print(pl.select(pl.int_range(100_000)).lazy().group_by(pl.all() % 7).len().collect()['len'].sum())"
    done = [Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(4)]
    assert [process.communicate(timeout=60)[0] for process in done] == [b"100000\n"] * 4


def test_two_runs_in_turn_have_other_hash_seeds() -> None:
    code = "print(hash('claimlab'))"
    hashes = [run([sys.executable, "-c", code], capture_output=True).stdout for _ in range(4)]
    assert hashes[0] != hashes[1]
    assert hashes[:2] == hashes[2:]


@pytest.mark.parametrize(
    "name", ["PYTHONHASHSEED_", "PYTHONUTF8", "OMP_NUM_THREADS", "TZ", "POLARS_MAX_THREADS"]
)
def test_what_is_read_at_the_start_is_a_new_start(name: str) -> None:
    env = {**os.environ, name: "1"}
    assert at_start(env) != at_start(os.environ)
    done = run(
        [sys.executable, "-c", "import sys; print('polars' in sys.modules)"],
        env=env, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "False\n"


def test_another_path_of_imports_is_a_new_start(tmp_path: Path) -> None:
    (tmp_path / "found_here.py").write_text("print('imported')")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = run([sys.executable, "-c", "import found_here"], env=env, capture_output=True)
    assert done.stdout == b"imported\n"


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "gone"


def test_a_killed_child_leaves_no_zombie() -> None:
    child = Popen([sys.executable, "-c", "import time; time.sleep(60)"], stderr=subprocess.PIPE)
    assert child.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.2)
    child.kill()
    assert child.wait(10) == -signal.SIGKILL
    assert child.poll() == child.returncode == -signal.SIGKILL
    child.send_signal(signal.SIGKILL)  # of nobody: it has ended
    if Path("/proc/self").exists():
        assert state(child.pid) == "gone"
    child.communicate()


def test_ctrl_c_reaches_it() -> None:
    code = "import time\ntry:\n    print('ready', flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('stopped')"
    with Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=20)[0] == "stopped\n"
    assert child.returncode == 0


def test_its_number_is_its_own_and_it_may_start_others() -> None:
    code = "import os, subprocess, sys; print(os.getpid()); print(subprocess.run([sys.executable, '-c', 'print(1 + 1)'], capture_output=True, text=True, check=True).stdout)"
    with Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.communicate(timeout=60)[0] == f"{child.pid}\n2\n\n"


def test_many_at_a_time_and_a_long_request() -> None:
    env = {**os.environ, "LONG": "x" * 100_000}
    code = "import os, sys; print(len(os.environ['LONG']) + int(sys.argv[1]))"
    words = [sys.executable, "-c", code]
    children = [
        Popen([*words, str(n)], env=env, stdout=subprocess.PIPE, text=True) for n in range(30)
    ]
    assert [child.communicate(timeout=60)[0] for child in children] == [
        f"{100_000 + n}\n" for n in range(30)
    ]


def test_a_folder_that_is_not_there_is_the_same_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Popen([sys.executable, "-c", "pass"], cwd=tmp_path / "none")


def test_programs_for_a_shell(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    put_programs(tmp_path / "bin")
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def shell(line: str) -> tuple[int, str]:
        done = subprocess.run(line, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True)  # fmt: skip
        return done.returncode, done.stdout

    assert shell("claimlab --version")[1].startswith("claimlab ")
    assert shell("claimlab no-such-verb")[0] == 2
    assert shell("python -c 'import sys; print(sys.argv)' a | tr a b") == (0, "['-c', 'b']\n")
    assert shell("python - a <<'E'\nimport sys\nprint(sys.argv)\nsys.exit(3)\nE") == (
        3,
        "['-', 'a']\n",
    )
    assert shell("python -V")[1].startswith("Python ")
    assert shell("PYTHONUTF8=1 python -c 'import sys; print(len(sys.modules) < 200)'")[1] == "True\n"  # fmt: skip
    began = time.monotonic()
    assert shell("python -c 'import time; time.sleep(60)' & sleep 1; kill $!; wait $!")[0] == 143
    assert time.monotonic() - began < 30


def test_the_parents_end_with_the_last_who_asked() -> None:
    """A run of its own, so that nobody else asks its parents."""
    code = """
import itertools, os, sys
os.environ.pop("PYTEST_XDIST_TESTRUNUID", None)
from parts import forked
forked._turns = itertools.repeat("1")
assert forked.run([sys.executable, "-c", "pass"]).returncode == 0
print(forked.next_parent())
"""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "bench")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)  # fmt: skip
    ends = time.monotonic() + 20
    while Path(done.stdout.strip()).exists():
        assert time.monotonic() < ends, "the parent is still there"
        time.sleep(0.05)
