"""Nothing optimises virality: what scores a claim and what changes one never meet."""

from __future__ import annotations

import ast
from pathlib import Path

import claimlab_simulate

ROOM = Path(claimlab_simulate.__file__).parent / "evolve"
WRITERS = (
    *("rewrite", "auditors", "propagation.py", "scene.py", "cast.py", "setup.py", "simulate.py"),
    *("shared_lives.py", "front.py"),
)
RUN = ("rewrite", "front", "setup", "simulate", "shared_lives", "estimate")


def imported(folder: Path) -> set[str]:
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]
    found: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found.add(node.module or "")
            elif isinstance(node, ast.Import):
                found |= {a.name for a in node.names}
    return found


def test_check_worthiness_imports_no_rewriter() -> None:
    assert not {
        m
        for m in imported(ROOM / "worth")
        if m.startswith(tuple(f"claimlab_simulate.evolve.{name}" for name in RUN))
    }


def test_no_rewriter_imports_check_worthiness_or_drift() -> None:
    for name in WRITERS:
        assert (ROOM / name).exists(), name
        assert not {
            m for m in imported(ROOM / name) if ".evolve.worth" in m or ".evolve.drift" in m
        }, name
