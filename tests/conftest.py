"""What several tests need: where the real data lies, and a clean place to run the command line."""

from __future__ import annotations

import os
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

REAL_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets; tests that ask for it are skipped, and say so, where it is absent."""
    if not REAL_DATA.is_dir():
        pytest.skip("the real datasets are not beside this checkout (../shared/data)")
    return REAL_DATA
