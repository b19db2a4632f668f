"""Schemathesis against the running server: no request that the schema allows ends in a server
error.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import TOKEN

pytestmark = [pytest.mark.slow, pytest.mark.needs("schemathesis")]


def test_no_request_of_the_schema_ends_in_a_server_error(
    workspace: Path, tmp_path: Path, serving: type
) -> None:
    folder = tmp_path / "copy"  # requests may make reviews
    shutil.copytree(workspace, folder)
    with serving(folder) as address:
        done = subprocess.run(
            [
                sys.executable, "-m", "schemathesis.cli", "run", f"{address}api/openapi.json", "-c", "not_a_server_error",
                "--header", f"Authorization: Bearer {TOKEN}", "--max-examples", "15", "--seed", "1",
            ],
            capture_output=True, text=True, timeout=900, cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-1_000:]
    assert "generated" in done.stdout or "passed" in done.stdout
