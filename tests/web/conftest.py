from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import claimlab as cl
from claimlab.generate.planted import planted
from claimlab.web.app import create_app


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A planted dataset, its audit, two runs and an evolution, as a user would have them below one folder."""
    folder = tmp_path_factory.mktemp("workspace")
    data = cl.split(planted(size=240)[0], output=folder / "data").dataset
    cl.audit(data, checks=["length", "giveaways", "near-duplicates", "source"], output=folder / "reports" / "audit")
    cl.detect(data, "tfidf", output=folder / "runs" / "tfidf")
    cl.detect(data, "majority", output=folder / "runs" / "majority")
    cl.evolve(data, steps=3, limit=4, output=folder / "evolved")
    return folder


@pytest.fixture
def client(workspace: Path, client_of: Callable[[Path], TestClient]) -> Iterator[TestClient]:
    with client_of(workspace) as opened:
        yield opened


@pytest.fixture(scope="session")
def client_of() -> Callable[[Path], TestClient]:
    return lambda folder: TestClient(create_app(folder), base_url="http://127.0.0.1:8765")
