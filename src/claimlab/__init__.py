"""claimlab: from raw misinformation data to a number you can defend.

    import claimlab as cl

    dataset = cl.load("liar", "liar.zip")
    findings = cl.audit(dataset)
    findings.save("report")

Every verb of the command line is a function here, with the same options. A function is imported
when it is first used, so that `import claimlab` costs next to nothing.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from claimlab.core.foreign import imported_by
from claimlab.core.version import __version__ as __version__

_IMPORT = re.compile(r"^from (\S+) import (\w+)", re.MULTILINE)
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
HOMES = {name: home for home, name in _IMPORT.findall(_STUB)}  # name -> the module that has it
__all__ = sorted([*HOMES, "__version__"])

imported_by(HOMES["import_files"], "import_files")


class _FrontDoor(ModuleType):
    """Some functions share their name with the package that holds them (`audit`). Importing a
    package binds it as an attribute of its parent; here the function keeps the name, and the
    package stays importable by its full path.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in HOMES:
            raise AttributeError(f"module 'claimlab' has no attribute '{name}'")
        value = getattr(import_module(HOMES[name]), name)
        super().__setattr__(name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *__all__})


sys.modules[__name__].__class__ = _FrontDoor
