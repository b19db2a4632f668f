"""Work functions live in a module that worker processes can import by its name, as those of the
rooms are.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

FUNCTIONS = ",".join(f"engine_parts:{name}" for name in ("square", "lengths", "refuse", "big"))


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAIMLAB_ENGINE_FUNCTIONS", FUNCTIONS)
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "parts"))
    assert (
        "engine_parts" not in sys.modules
        or Path(sys.modules["engine_parts"].__file__ or "").parent.name == "parts"
    )
