"""claimlab: from raw misinformation data to a number you can defend.

    import claimlab as cl

    dataset = cl.load("liar", "liar.zip")
    findings = cl.audit(dataset)
    cl.report([findings], "report")

Names are loaded when first used, so that `import claimlab` costs next to nothing. A verb that is also the name of a
room (`audit`, `report`) is that room's package, made callable: `cl.audit(dataset)` calls `claimlab.audit.run.audit`.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

__version__ = "0.1.0"

_LAZY = {
    "Dataset": "claimlab.core.dataset",
    "ClaimlabError": "claimlab.core.errors",
    "load": "claimlab.catalog.load",
    "export": "claimlab.exchange.export",
}
_VERBS = {
    "audit": ("claimlab.audit.run", "audit"),
    "clean": ("claimlab.clean.run", "clean"),
    "detect": ("claimlab.detect.run", "detect"),
    "enrich": ("claimlab.enrich.front", "enrich"),
    "evaluate": ("claimlab.evaluate.run", "evaluate"),
    "report": ("claimlab.audit.write", "write_audits"),
    "split": ("claimlab.split.run", "split"),
}
__all__ = [
    "ClaimlabError", "Dataset", "__version__", "audit", "clean", "detect", "enrich", "evaluate", "export", "load",
    "report", "split",
]  # fmt: skip


class _Room(ModuleType):
    """A room whose name is a verb: calling the package does what the verb does."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        module, function = _VERBS[self.__name__.split(".")[-1]]
        return getattr(importlib.import_module(module), function)(*args, **options)


class _FrontDoor(ModuleType):
    """Importing a sub-package sets it on this module: the moment to make a verb's room callable."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _VERBS and isinstance(value, ModuleType):
            value.__class__ = _Room
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name in _VERBS:
            return importlib.import_module(f"claimlab.{name}")
        if name in _LAZY:
            return getattr(importlib.import_module(_LAZY[name]), name)
        raise AttributeError(f"module 'claimlab' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *__all__})


sys.modules[__name__].__class__ = _FrontDoor
