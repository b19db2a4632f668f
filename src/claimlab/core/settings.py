"""Settings of a plug-in: the keyword arguments of its constructor, typed by their annotations.

`declared` names them, `read` makes them from words such as `size=3` (pydantic reads the values).
What is not a plain value (a model, a search, a table) is passed in by the program, and is not a
setting.

A TOML file written by a user, validated against a model: every error is a sentence that names
the field.

Words that a user wrote: one where only a few are known, with the near miss in the message; one
or several.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from claimlab.core.errors import DataError, UnknownName, UsageError, check_name
from claimlab.core.types import JsonObject

PLAIN = frozenset({"string", "integer", "number", "boolean", "null"})


@cache
def declared(make: Callable[..., Any]) -> dict[str, TypeAdapter[Any]]:
    """Each setting of `make` (a class, or a function) with what reads its value."""
    constructor = make.__init__ if isinstance(make, type) else make  # type: ignore[misc]
    hints = typing.get_type_hints(constructor)
    parameters = inspect.signature(make).parameters.values()
    named = {p.name: hints.get(p.name, str) for p in parameters if p.kind is p.KEYWORD_ONLY}
    return {name: adapter for name, hint in named.items() if (adapter := _plain(hint)) is not None}


def read(make: Callable[..., Any], pairs: Sequence[str], *, of: str) -> JsonObject:
    """`KEY=VALUE` words as keyword arguments of `make`; `of` names it in messages, such as "the
    detector 'tfidf'".
    """
    known = declared(make)
    values = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise UsageError(
                f"'{pair}' is not a valid setting.",
                "Write it as KEY=VALUE, such as feature=length.",
            )
        if not known:
            raise UsageError(f"{of[:1].upper()}{of[1:]} has no settings.", f"Leave out '{pair}'.")
        check_name(f"setting of {of}", key, known)
        if key in values:
            raise UsageError(f"The setting '{key}' is given twice.", "Give it once.")
        values[key] = _value(key, value.strip(), known[key])
    return values


def _value(key: str, word: str, adapter: TypeAdapter[Any]) -> Any:
    try:
        if word.lower() in ("none", "null"):
            return adapter.validate_python(None)
        return adapter.validate_strings(word)
    except ValidationError as error:
        wanted = "; or: ".join(detail["msg"] for detail in error.errors())
        wanted = wanted.replace("Input should be", "It should be")
        raise UsageError(f"The setting '{key}' cannot be '{word}'.", f"{wanted}.") from None


def _plain(hint: Any) -> TypeAdapter[Any] | None:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        schema = adapter.json_schema()
    except PydanticUserError:  # a type that pydantic cannot read from words
        return None
    kinds = [part.get("type") for part in schema.get("anyOf", [schema])]
    return adapter if all(kind in PLAIN for kind in kinds) else None


Model = TypeVar("Model", bound=BaseModel)
_BARE = re.compile(r"^[A-Za-z0-9_-]+$")
NAMED = 5  # wrong fields that a message names


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
            f"{'.'.join(map(str, e['loc']))}: {e['msg'].lower()}" for e in error.errors()[:NAMED]
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
            f"{key if _BARE.match(key) else as_toml(key)} = {as_toml(one)}"
            for key, one in value.items()
        ]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


Word = TypeVar("Word", bound=str)
Name = TypeVar("Name", bound=str | Path)


def one_of(known: Sequence[Word], word: str, argument: str) -> Word:
    """`word` as one of `known` (the values of a Literal); `argument` names it in the message."""
    for one in known:
        if word == one:
            return one
    raise UnknownName("choice", word, known, f"'{word}' is not a choice of `{argument}`.")


def each_of(names: Name | Sequence[Name]) -> tuple[Name, ...]:
    """One name or path, or several, as a user may give either."""
    return (names,) if isinstance(names, str | Path) else tuple(names)
