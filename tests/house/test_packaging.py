"""What an installed claimlab holds, and what its container is made of; `make wheel-test` installs
it for real.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from claimlab.cli.lazy import verb_names

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = (ROOT / "Containerfile").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_wheel_holds_types_data_and_c_sources(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    tracked = subprocess.run(
        ["git", "ls-files", "src", "docs"], cwd=ROOT, capture_output=True, text=True
    )
    if tracked.returncode:
        pytest.skip("not a clone")
    for name in [
        *tracked.stdout.splitlines(),
        "pyproject.toml",
        "setup.py",
        "MANIFEST.in",
        "README.md",
        "LICENSE",
    ]:
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    code = "from setuptools.build_meta import build_wheel; build_wheel('dist')"
    env = {
        "PATH": "",
        "CC": "false",
        "HOME": str(tmp_path),
    }  # no compiler: the extensions are left out with a warning
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    assert {"claimlab/docs/ci.md", "claimlab/docs/help/audit.md"} <= names
    package = {
        f"claimlab/{Path(n).relative_to('src/claimlab')}"
        for n in tracked.stdout.splitlines()
        if "claimlab/" in n
    }
    assert "claimlab/py.typed" in names
    assert package - names == set(), "every tracked file of the package is in the wheel"


def test_every_extra_has_its_trial() -> None:
    from install import JOBS

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    assert set(JOBS) == set(extras) - {"dev", "dev-all", "bench"}
    for code in JOBS.values():
        compile(code, "job", "exec")


def test_the_container_copies_what_is_there_and_starts_a_verb() -> None:
    for line in re.findall(r"^COPY (?!--from)(.+)$", CONTAINER, re.M):
        *sources, _ = line.split()
        assert [s for s in sources if not (ROOT / s).exists()] == []
    assert re.search(r'^ENTRYPOINT \["claimlab"\]$', CONTAINER, re.M)
    assert re.search(r"^USER claimlab$", CONTAINER, re.M), "not root"
    started = re.findall(
        r"podman run .* claimlab (\w+)", CONTAINER + (ROOT / "README.md").read_text("utf-8")
    )
    assert started
    assert set(started) <= set(verb_names())


def test_the_readme_and_the_container_build_in_the_same_way() -> None:
    commands = re.findall(
        r"podman build [^&`\n]+", CONTAINER + (ROOT / "README.md").read_text("utf-8")
    )
    assert {command.strip() for command in commands} == {"podman build -t claimlab ."}
