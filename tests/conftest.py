"""What several tests need: where the real data lies, and a clean place to run the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

REAL_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets; tests that ask for it are skipped, and say so, where it is absent."""
    if not REAL_DATA.is_dir():
        pytest.skip("the real datasets are not beside this checkout (../shared/data)")
    return REAL_DATA
