from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from parts.packages import HAS_SIMULATE
from parts.planted import planted
from starlette.testclient import TestClient

import claimlab as cl
from claimlab.web.app import create_app
from claimlab.web.settings import ServerSettings


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A planted dataset, its audit, two runs and an evolution, as a user would have them below one
    folder.
    """
    folder = tmp_path_factory.mktemp("workspace")
    data = cl.split(planted(size=240)[0], output=folder / "data").dataset
    cl.audit(
        data,
        checks=["length", "giveaways", "near-duplicates", "source"],
        output=folder / "reports" / "audit",
    )
    cl.detect(data, "tfidf", output=folder / "runs" / "tfidf")
    cl.detect(data, "majority", output=folder / "runs" / "majority")
    if HAS_SIMULATE:
        cl.evolve(data, steps=3, limit=4, output=folder / "evolved")
    return folder


@pytest.fixture
def client(workspace: Path, client_of: Callable[[Path], TestClient]) -> Iterator[TestClient]:
    with client_of(workspace) as opened:
        yield opened


@pytest.fixture(scope="session")
def client_of() -> Callable[[Path], TestClient]:
    return signed_in


def signed_in(folder: Path, **more: Any) -> TestClient:
    """A client that has shown the token."""
    settings = ServerSettings()
    app = create_app(folder, settings=settings)
    return TestClient(
        app, base_url="http://127.0.0.1:8765", cookies={settings.cookie: settings.token}, **more
    )


@pytest.fixture(scope="session")
def ended() -> Callable[[TestClient, str], dict[str, Any]]:
    """`ended(client, location)` is the job at `location`, once it has ended."""
    return _ended


def _ended(client: TestClient, location: str) -> dict[str, Any]:
    for _ in range(900):
        job: dict[str, Any] = client.get(f"/api{location}").json()
        if job["state"] not in ("waiting", "running"):
            return job
        time.sleep(0.1)
    raise AssertionError(job)


TOKEN = "a-token-of-the-tests-0123456789"
_ports: list[str] = []  # of the servers that run
_contexts: list[Any] = []  # of the browsers that are open


@contextlib.contextmanager
def _serving(folder: Path, *arguments: str) -> Iterator[str]:
    command = [
        sys.executable,
        "-c",
        "from claimlab.cli.app import main; main()",
        "serve",
        str(folder),
        "--port",
        "0",
    ]
    environment = {**os.environ, "CLAIMLAB_SERVE_TOKEN": TOKEN}
    process = subprocess.Popen(
        [*command, *arguments], stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    address = re.search(r"(http://\S+:(\d+)/)sign-in#token=", line)
    try:
        assert address, line
        _ports.append(address[2])
        for context in _contexts:
            _sign_in(context)
        yield address[1]
    finally:
        _ports[:] = []
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)


@pytest.fixture(scope="session")
def serving() -> object:
    """`with serving(folder) as address:` runs the server as a user does."""
    return _serving


@pytest.fixture(scope="module")
def browser(browser: Any) -> Iterator[SignedIn]:
    """The browser, signed in to every server."""
    yield SignedIn(browser)
    _contexts.clear()


def _sign_in(context: Any) -> None:
    names = [f"claimlab_token_{port}" for port in _ports]
    context.add_cookies(
        [{"name": name, "value": TOKEN, "url": "http://127.0.0.1"} for name in names]
    )


class SignedIn:
    """A browser whose pages have shown the token to every server that runs or is started later."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser

    def new_context(self, **options: Any) -> Any:
        context = self._browser.new_context(**options)
        _contexts.append(context)
        context.on("close", lambda _: _contexts.remove(context))
        if _ports:
            _sign_in(context)
        return context

    def new_page(self, **options: Any) -> Any:
        return self.new_context(**options).new_page()
