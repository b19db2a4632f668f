"""A TOML or JSON file that a user wrote or received, read within bounds and validated against a
model: every error is a sentence that names the file or the field.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from claimlab.core.errors import DataError, UsageError
from claimlab.core.types import JsonObject

_BARE = re.compile(r"^[A-Za-z0-9_-]+$")
MOST_BYTES = 16 << 20  # bytes of a file that a user wrote
OF_OURS = 256 << 20  # bytes of a JSON file that claimlab wrote, as it says
MOST_DEPTH = 64  # tables or lists inside each other
_CHARACTERS_OF_A_CAUSE = 200
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


def is_file_name(words: str) -> bool:
    """Whether words name a file: they end in `.toml` or hold a slash. A bare name is that of
    something that comes with claimlab, whatever files are in the current folder."""
    return words.endswith(".toml") or "/" in words or os.sep in words


def read_raw_toml(file: Path, *, most: int = MOST_BYTES) -> JsonObject:
    """The tables of a TOML file, not yet validated."""
    return parse_toml(bounded_text(file, most), str(file))


def parse_toml(text: str, name: str) -> JsonObject:
    """The tables of a text in TOML; `name` is what a message calls it."""
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # an integer of 5,000 digits is a ValueError
        raise DataError(f"'{name}' is not valid TOML: {_cut(error)}.", "Fix the file.") from None
    _not_too_deep(content, name)
    return content


def read_json(file: Path, *, most: int = MOST_BYTES) -> Any:
    """The content of a JSON file that a user may have received, not yet validated."""
    return parse_json(bounded_text(file, most), str(file))


def read_saved(file: Path, problem: str, todo: str) -> Any:
    """The content of a JSON file that claimlab is to have written; where it is none, `problem` says
    what is not there ("is not a saved audit"), and `todo` how one is made.
    """
    try:
        return read_json(file, most=OF_OURS)
    except (DataError, UsageError) as error:
        why = error.problem.replace(f"'{file}'", "it", 1)
        raise DataError(f"'{file}' {problem}: {why}", todo) from None


def parse_json(text: str | bytes, name: str) -> Any:
    """The content of a text in JSON; `name` is what a message calls it."""
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"'{name}' is not valid JSON: {_cut(error)}.", "Fix the file.") from None
    _not_too_deep(content, name)
    return content


def whole_number(content: JsonObject, name: str, default: int, where: str) -> int:
    """A number of a file that says its own version, or how many of something there are."""
    value = content.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise DataError(f"`{name}` in '{where}' is not a number.", f"Write {name} = {default}.")
    return value


def bounded_text(file: Path, most: int = MOST_BYTES) -> str:
    """The text of a file that a user may have received."""
    try:
        if file.is_file() or not file.exists():
            with file.open("rb") as opened:
                content = opened.read(most + 1)
        else:  # a pipe or a device never ends
            raise UsageError(f"'{file}' is not a file.", "Name a file.")
        if len(content) > most:
            raise DataError(
                f"'{file}' has more than {most >> 20} MB.", "Check that it is the right file."
            )
        return content.decode("utf-8")
    except OSError as error:
        raise UsageError(f"'{file}' cannot be read: {error.strerror}.", "Check the path.") from None
    except UnicodeDecodeError as error:
        raise DataError(f"'{file}' is not UTF-8: {_cut(error)}.", "Save it as UTF-8.") from None


def _not_too_deep(content: Any, name: str) -> None:
    """Raise where the content is nested so deep that what walks it would run out of stack."""
    level = [content]
    for _ in range(MOST_DEPTH):
        level = [
            part
            for each in level
            if isinstance(each, dict | list)
            for part in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise DataError(f"'{name}' is nested more than {MOST_DEPTH} deep.", "Fix the file.")


def _cut(error: Exception) -> str:
    return str(error)[:_CHARACTERS_OF_A_CAUSE]


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
