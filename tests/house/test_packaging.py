"""What an installed claimlab holds, and what its container is made of; `make wheel-test` installs
it for real.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from claimlab.cli.lazy import verb_names

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = (ROOT / "Containerfile").read_text(encoding="utf-8")


def needs_setuptools() -> None:
    """Looked for, not imported: setuptools refuses to be where something has imported distutils."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("needs setuptools")


@pytest.mark.slow
def test_the_wheel_holds_types_data_and_c_sources(tmp_path: Path) -> None:
    needs_setuptools()
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


@pytest.mark.slow
def test_the_wheel_of_simulate_holds_its_data_and_its_entry_points(tmp_path: Path) -> None:
    needs_setuptools()
    shutil.copytree(ROOT / "simulate", tmp_path / "simulate")
    code = "from setuptools.build_meta import build_wheel; build_wheel('dist')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "simulate", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "simulate" / "dist").glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    source = ROOT / "simulate" / "src"
    files = {
        f.relative_to(source) for f in (source / "claimlab_simulate").rglob("*") if f.is_file()
    }
    assert {f.as_posix() for f in files if "__pycache__" not in f.parts} <= names
    assert any(name.endswith("entry_points.txt") for name in names)


def test_every_extra_has_its_trial() -> None:
    from install import JOBS, extras_of

    assert set(JOBS) == extras_of(ROOT) | extras_of(ROOT / "simulate")
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
