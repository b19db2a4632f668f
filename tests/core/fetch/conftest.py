"""Servers that play the hosts of data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from parts.hosts import Hosts, serving

from claimlab.core.fetch import front


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosts]:
    """All public hosts are on loopback, and the cache is empty."""
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "cache"))
    for name in (
        "CLAIMLAB_OFFLINE",
        "HF_HUB_OFFLINE",
        "HF_TOKEN",
        "GITHUB_TOKEN",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    with serving() as served:
        monkeypatch.setattr(front, "reach", served.reach)
        yield served
