"""claimlab: from raw misinformation data to a number you can defend.

The names below are loaded when first used, so that `import claimlab` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_LAZY = {
    "Dataset": "claimlab.core.dataset",
    "ClaimlabError": "claimlab.core.errors",
}
__all__ = ["ClaimlabError", "Dataset", "__version__"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'claimlab' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
