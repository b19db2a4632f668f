"""Work functions live in a module that worker processes can import by its name, as those of the rooms are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAIMLAB_ENGINE_MODULES", "engine_parts")
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "parts"))
    assert "engine_parts" not in sys.modules or Path(sys.modules["engine_parts"].__file__ or "").parent.name == "parts"
