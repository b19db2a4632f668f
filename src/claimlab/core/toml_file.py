"""A TOML file written by a user, validated against a model: every error is a sentence that names
the field.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from claimlab.core.errors import DataError, UsageError
from claimlab.core.types import JsonObject

_BARE = re.compile(r"^[A-Za-z0-9_-]+$")
FIELDS_NAMED = 5  # wrong fields that a message names
Model = TypeVar("Model", bound=BaseModel)


def read_toml(
    file: Path,
    model: type[Model],
    *,
    kind: str,
    start: str,
    unlike: Mapping[str, tuple[str, str]] | None = None,
) -> Model:
    """The file as `model`; `kind` is what it is called in a message, `start` the function that
    writes a new one.

    `unlike` has top-level names that only another kind of file has, with what to say of it and what
    to do with it.
    """
    if not file.is_file():
        raise UsageError(f"There is no {kind} '{file}'.", f"Start one with `{start}`.")
    raw = read_raw_toml(file)
    for problem, todo in (words for name, words in (unlike or {}).items() if name in raw):
        raise DataError(f"'{file}' {problem}.", todo.format(file=file))
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg'].lower()}"
            for e in error.errors()[:FIELDS_NAMED]
        )
        todo = f"Compare it with a new one, started with `{start}`."
        raise DataError(f"'{file}' has wrong fields ({wrong}).", todo) from None


def read_raw_toml(file: Path) -> JsonObject:
    """The tables of a TOML file, not yet validated."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"'{file}' cannot be read: {error.strerror}.", "Check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"'{file}' is not valid TOML: {error}.", "Fix the file.") from None


def as_toml(value: object) -> str:
    """A value as it is written in TOML: text, numbers, lists and tables in a line. Text is written
    as in JSON.
    """
    if isinstance(value, Mapping):
        pairs = [
            f"{key if _BARE.match(key) else as_toml(key)} = {as_toml(entry)}"
            for key, entry in value.items()
        ]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
