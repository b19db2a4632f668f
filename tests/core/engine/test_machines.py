"""Two machines that share a folder: each has its own name and its own process numbers (namespaces
stand in for them).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from claimlab.core.atomic import atomic_folder
from claimlab.core.engine.run import run_stage
from claimlab.core.lock import Lock

from .test_local import shards, squares, starts, wait_for

LIMIT = 120  # seconds for a process that starts on a busy machine
UNSHARE = ["unshare", "--uts", "--pid", "--fork", "--mount-proc", "sh", "-c"]


def permitted() -> bool:
    if shutil.which("unshare") is None:
        return False
    return (
        subprocess.run([*UNSHARE, "hostname one"], capture_output=True, check=False).returncode == 0
    )


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not permitted(), reason="namespaces need more rights"),
]


def elsewhere(host: str, code: str, *arguments: str) -> subprocess.Popen[str]:
    """Python code on a machine of this name."""
    words = [*UNSHARE, f'hostname {host}; exec "$0" -c "$@"', sys.executable, code, *arguments]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_workers_of_two_machines_do_every_shard_once(tmp_path: Path) -> None:
    from engine_parts import square

    code = "import sys; sys.path[:0] = [sys.argv[3]]; from claimlab.core.engine.work import engine_work\n"
    code += "print(engine_work(sys.argv[1], shard=int(sys.argv[2]), of=2).done)"
    parts = str(Path(__file__).parent / "parts")
    workers = [elsewhere(f"node{n}", code, str(tmp_path / "out"), str(n), parts) for n in (0, 1)]
    todo = shards(7, tmp_path / "log")
    outputs = run_stage(
        square, todo, folder=tmp_path / ".out.work", engine="shared", name="squares"
    )
    assert squares(outputs) == [n * n for n in range(7)]
    shutil.rmtree(tmp_path / ".out.work")
    (tmp_path / "out").mkdir()  # as a run that has put its output in place
    assert [worker.communicate(timeout=LIMIT)[0].strip() for worker in workers] == ["4", "3"]
    assert starts(tmp_path / "log") == dict.fromkeys(range(7), 1)


def test_a_lock_holds_and_names_its_machine(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from claimlab.core.errors import OutputBusy\n"
    code += "from claimlab.core.lock import Lock\n"
    code += "try: Lock(Path(sys.argv[1]), Path('out'), 'audit'); print('taken', flush=True); sys.stdin.read()\n"
    code += "except OutputBusy as error: print(error)"
    file = str(tmp_path / "lock")
    first = elsewhere("head", code, file)
    assert first.stdout is not None
    assert first.stdout.readline() == "taken\n"
    second = elsewhere("other", code, file).communicate(timeout=LIMIT)[0]
    assert "claimlab audit, process 1 on head" in second
    first.communicate(timeout=LIMIT)
    Lock(
        Path(file), Path("out"), "clean"
    ).release()  # gone with its process, whatever machine that was on


def test_what_another_machine_is_building_stays(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from claimlab.core.atomic import atomic_folder\n"
    code += "with atomic_folder(Path(sys.argv[1])) as b: (b / 'x').write_text('theirs'); sys.stdin.read()"
    other = elsewhere("other", code, str(tmp_path / "d"))
    wait_for(lambda: any(tmp_path.glob(".d.building-*/x")))
    with atomic_folder(tmp_path / "d") as building:
        (building / "x").write_text("ours")
    other.communicate(timeout=LIMIT)
    assert other.returncode == 0
    assert (tmp_path / "d" / "x").read_text() == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["d"]
