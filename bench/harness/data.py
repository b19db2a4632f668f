"""Where the code and the data are: this checkout or an older one, and the published datasets in
../shared/data.
"""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from types import ModuleType
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
CODE = (  # the sources that a child measures, where they are not those of its checkout
    "CLAIMLAB_BENCH_CODE"
)
SOURCE = Path(os.environ.get(CODE) or ROOT / "src")

LEAF = Path("simulate", "src")  # beside a folder `src`, what is kept in a distribution of its own


def sources_of(source: Path) -> list[str]:
    """The folders of a checkout that Python is to import from, by its folder `src`."""
    leaf = source.parent / LEAF
    return [str(source), *([str(leaf)] if leaf.is_dir() else [])]


sys.path[:0] = sources_of(SOURCE)  # a bench measures the checkout that it is in


def for_children() -> None:
    """The processes that a bench starts measure the same code."""
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [*sources_of(SOURCE), os.environ.get("PYTHONPATH")])
    )


def code_of(commit: str, folder: Path) -> dict[str, str]:
    """The sources of an older commit in `folder`, and the environment of a process that is to run
    them.
    """
    leaf = subprocess.run(["git", "ls-tree", commit, str(LEAF)], cwd=ROOT, capture_output=True)
    folders = ["src", *([str(LEAF)] if leaf.stdout else [])]
    packed = subprocess.run(["git", "archive", commit, *folders], cwd=ROOT, capture_output=True)
    if packed.returncode:
        unmeasured(f"commit {commit} is not in this clone's history (git fetch --unshallow)")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    paths = os.pathsep.join(sources_of(folder / "src"))
    return {**os.environ, CODE: str(folder / "src"), "PYTHONPATH": paths}


def unmeasured(why: str) -> NoReturn:
    """What a script needs is not here: it ends and says so, which is neither a pass nor a
    failure.
    """
    print(f"not measured: {why}", file=sys.stderr)
    raise SystemExit(0)


def shared(name: str = "", folder: Path = DATA) -> Path:
    """A published file, or the folder of all of them; where it is not at hand, the script ends."""
    file = folder / name
    if not file.exists():
        unmeasured(f"there is no {file} (published data, which bench/README.md tells more about)")
    return file


def package_index(python: str | Path = sys.executable) -> None:
    """Where pip cannot fetch a package, the script ends: nothing is known of claimlab then."""
    with tempfile.TemporaryDirectory() as place:
        command = [
            str(python),
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "-d",
            place,
            "typer",
        ]
        process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        unmeasured(
            "pip cannot fetch packages"
            f" ({(process.stderr.strip().splitlines() or ['no reason given'])[-1]})"
        )


def need(module: str) -> ModuleType | None:
    """A peer, or null where it is not installed: a peer that is missing is reported as such, never
    as a pass.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        return None
