"""Installed packages whose entries do not load: every verb goes on without them, and one line names
them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from parts.planted import planted

GROUPS = ("checks", "datasets", "steps", "splitters", "detectors")
ENDS = {"raises": "raise RuntimeError('no such thing')", "exits": "import sys; sys.exit(7)"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH with a package that breaks at import, offered to every registry, and
    a small dataset.
    """
    folder = tmp_path_factory.mktemp("place")
    for end, code in ENDS.items():
        (folder / f"zz_{end}.py").write_text(code, encoding="utf-8")
    info = folder / "zz_plugin-2.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: zz-plugin\nVersion: 2.5\n", encoding="utf-8"
    )
    lines = "".join(f"zz-{end} = zz_{end}:THING\n" for end in ENDS)
    points = "".join(f"[claimlab.{group}]\n{lines}" for group in GROUPS)
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    planted(size=120)[0].write(folder / "data")
    return folder


def claimlab(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-c", "from claimlab.cli.app import main; main()", *words]
    return subprocess.run(
        command, env=env, cwd=place, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("audit", "data", "--json"), marks=pytest.mark.slow),
        ("catalog", "--json"),
        ("clean", "--show", "steps", "--json"),
        ("split", "--strategies", "--json"),
    ],
    ids=lambda words: words[0],
)
def test_a_verb_that_walks_a_registry_goes_on(place: Path, words: tuple[str, ...]) -> None:
    done = claimlab(place, *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    named = [line for line in done.stderr.splitlines() if "zz-plugin" in line]
    assert len(named) == len(ENDS), done.stderr
    for end, line in zip(sorted(ENDS), named, strict=True):
        assert f"'zz-{end}' of zz-plugin 2.5 does not load from zz_{end}:THING" in line


@pytest.mark.slow
def test_detect_works_and_the_broken_one_is_refused_in_a_sentence(place: Path) -> None:
    data, run = str(place / "data"), str(place / "run")
    done = claimlab(place, "detect", data, "--detector", "majority", "-o", run, "--force")
    assert done.returncode == 0, done.stderr
    refused = claimlab(place, "detect", data, "--detector", "zz-exits", "-o", run, "--force")
    assert refused.returncode == 1
    assert refused.stderr.startswith(
        "Error: The detector 'zz-exits' of zz-plugin 2.5 does not load"
    ), refused.stderr
    assert "Traceback" not in refused.stderr
