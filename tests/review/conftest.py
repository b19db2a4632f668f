"""A PostgreSQL server for the tests that want one: Debian's, in a folder of its own, stopped when the tests end."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]  # the server refuses to run as root


def _programs() -> Path | None:
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "pg_ctl").exists()), None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a fresh database."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    as_user = NOBODY if os.geteuid() == 0 else []
    if as_user and shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL does not run as root, and setpriv is not installed")
    folder = Path(tempfile.mkdtemp(prefix="claimlab-pg-"))
    if as_user:
        shutil.chown(folder, "nobody", "nogroup")
    data = folder / "data"

    def run(*words: str) -> None:
        subprocess.run([*as_user, *words], check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    try:
        run(str(programs / "initdb"), "-D", str(data), "-U", "claimlab", "--auth=trust", "-E", "UTF8")
        settings = f"-c listen_addresses='' -k {folder} -c max_connections=200"
        run(str(programs / "pg_ctl"), "-D", str(data), "-l", str(folder / "log"), "-o", settings, "-w", "start")
        try:
            yield f"postgresql://claimlab@/postgres?host={folder}"
        finally:
            run(str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> str:
    """Where a review is kept: its own file, and a database."""
    return "review.sqlite" if request.param == "sqlite" else str(request.getfixturevalue("postgres"))
