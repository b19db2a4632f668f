"""The shape of the source: every package holds something.

Complexity and parameters are ruff's rules (pyproject.toml), the direction of imports is
`test_direction.py`; all else about the shape of a file is for a reader to judge.
"""

from __future__ import annotations

from parts.packages import PACKAGES


def test_no_package_is_empty() -> None:
    for root in PACKAGES.values():
        folders = {file.parent for file in root.rglob("__init__.py")}
        files = [p for p in root.rglob("*") if p.is_file() and p.suffix != ".pyc"]
        inhabited = {p.parent for p in files if p.name != "__init__.py"}
        inhabited |= {parent for folder in inhabited for parent in folder.parents}
        assert sorted(str(folder.relative_to(root)) for folder in folders - inhabited) == []
