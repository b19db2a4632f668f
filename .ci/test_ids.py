"""The names of all tests, and what became of those of an earlier commit, so that a change of where
tests are or of how long they take loses none of them.

    python .ci/test_ids.py                    every name, one a line
    python .ci/test_ids.py --since COMMIT     those of the commit that are gone, and those that
                                                are new; exit 1 when one is gone

A file that moved to another folder has the same tests: names are compared without the folders.
Nothing is run; each list takes as long as collecting the tests.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COLLECT = ["-m", "pytest", "--collect-only", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
PLAIN = ["-o", "addopts=--strict-markers --import-mode=importlib"]  # ids, not counts by file


def ids_in(root: Path) -> list[str]:
    """What pytest collects in a checkout, with the packages of this Python and its own sources."""
    sources = [root / "src", *root.glob("*/src")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sources))}
    done = subprocess.run(
        [sys.executable, *COLLECT, *PLAIN], cwd=root, env=env, capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
    return [line for line in done.stdout.splitlines() if "::" in line]


def ids_at(commit: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "checkout.tar"
        subprocess.run(["git", "archive", "-o", str(packed), commit], cwd=ROOT, check=True)
        with tarfile.open(packed) as archive:
            archive.extractall(Path(folder) / "checkout", filter="data")
        for compiled in (ROOT / "src").rglob("*.so"):  # what setup.py built is in no commit
            shutil.copy(compiled, Path(folder) / "checkout" / compiled.relative_to(ROOT))
        return ids_in(Path(folder) / "checkout")


def without_folders(ids: list[str]) -> Counter[str]:
    return Counter(
        f"{Path(file).name}::{name}" for file, _, name in (i.partition("::") for i in ids)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--since", metavar="COMMIT")
    commit = parser.parse_args().since
    here = ids_in(ROOT)
    if commit is None:
        print("\n".join(here))
        return 0
    before, after = without_folders(ids_at(commit)), without_folders(here)
    gone, new = before - after, after - before
    for sign, names in (("-", gone), ("+", new)):
        for name in sorted(names.elements()):
            print(sign, name)
    print(f"{before.total()} before, {after.total()} now: {gone.total()} gone, {new.total()} new")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
