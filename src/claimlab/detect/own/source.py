"""Where a detector of one's own is: `module:function` or `file.py:function`, and the sha256 of its
source.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
from pathlib import Path

from claimlab.core.errors import UsageError

_NAMED = re.compile(r"(?P<place>[^:]+):(?P<name>[A-Za-z_][\w.]*)")
STORED = (".joblib", ".pkl", ".pickle", ".sav")  # files that run code when they are opened
FORM = "`detector='file.py:function'` or `detector='module:function'`"


def is_own(detector: str) -> bool:
    """Whether a name is of a function, not of a detector of the registry."""
    return ":" in detector or detector.endswith((".py", *STORED))


def parts_of(detector: str) -> tuple[str, str]:
    """The file or module, and the name in it."""
    named = _NAMED.fullmatch(detector)
    place = detector if named is None else named["place"]
    if place.endswith(STORED):
        raise UsageError(
            f"'{place}' is not opened: a stored object runs the code that is in it.",
            "Write a module that loads it, such as my.py with: import joblib; model ="
            f" joblib.load({place!r}). Then `detector='my.py:model'`.",
        )
    if named is None:
        raise UsageError(
            f"'{detector}' does not name a function.",
            f"Write {FORM}: it takes a list of texts, and returns labels or shares of the classes.",
        )
    return named["place"], named["name"]


def load(place: str, name: str) -> tuple[object, Path | None]:
    """The object of this name, and the file that it is in. Only the process of the detector calls
    this: the file is run."""
    if place.endswith(".py"):
        file = Path(place).absolute()
        sys.path.insert(0, str(file.parent))
        spec = importlib.util.spec_from_file_location(file.stem, file)
        if spec is None or spec.loader is None or not file.is_file():
            raise FileNotFoundError(f"There is no file '{place}'.")
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    found: object = module
    for part in name.split("."):
        found = getattr(found, part)
    return found, Path(module.__file__) if module.__file__ else None


def source_of(subject: object) -> str | None:
    """The sha256 of the source of a function that was passed in; null where it has none."""
    try:
        text = inspect.getsource(subject)  # type: ignore[arg-type]
    except (OSError, TypeError):
        return None
    return hashlib.sha256(text.encode()).hexdigest()
