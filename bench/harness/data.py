"""Where the data is: the published datasets in ../shared/data beside the checkout, if they are there."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"

sys.path.insert(0, str(ROOT / "src"))  # a bench measures the checkout that it is in


def for_children() -> None:
    """The processes that a bench starts measure this checkout, too."""
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))


def shared(name: str, folder: Path = DATA) -> Path:
    """A published file; where it is not at hand, the script ends and says so: that is neither a pass nor a failure."""
    file = folder / name
    if not file.exists():
        print(f"not measured: '{name}' is not in {folder}", file=sys.stderr)
        raise SystemExit(0)
    return file


def need(module: str) -> ModuleType | None:
    """A peer, or null where it is not installed: a peer that is missing is reported as such, never as a pass."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None
