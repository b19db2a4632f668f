"""A strict type checker accepts every Python example of the README and the documentation."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import claimlab as cl
from claimlab.core.front_door import FUNCTIONS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


# after the type checker has read the project; alone it would read all of it again
@pytest.mark.slow
def test_mypy_accepts_the_examples(tmp_path: Path) -> None:
    for page in PAGES:
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
        for number, block in enumerate(blocks):
            code = (
                f"async def example() -> None:\n{textwrap.indent(block, '    ')}"
                if "await " in block
                else block
            )
            name = f"{page.stem.replace('-', '_').lower()}_{number}.py"
            (tmp_path / name).write_text(code, encoding="utf-8")
    assert list(tmp_path.glob("readme_*.py"))
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        str(tmp_path),
    ]  # with the cache of the whole project
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_help_prints_the_signature() -> None:
    text = pydoc.plain(pydoc.render_doc(cl.audit))
    assert "audit(data: " in text
    assert "limit: " in text
    assert "Test datasets for shortcuts" in text


def test_what_is_public_is_what_is_listed() -> None:
    assert sorted(cl.__all__) == cl.__all__
    names = FUNCTIONS.names()
    assert set(cl.__all__) == {*names, "__version__"}
    assert all(inspect.isfunction(getattr(cl, n)) or inspect.isclass(getattr(cl, n)) for n in names)
