"""Settings of a plug-in: the keyword arguments of its constructor, typed by their annotations.
`declared` names them, `read` makes them from words such as `size=3` (pydantic reads the values).
What is not a plain value (a model, a search, a table) is passed in by the program, and is not a
setting.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from claimlab.core.errors import UsageError, check_name
from claimlab.core.types import JsonObject

PLAIN_TYPES = frozenset({"string", "integer", "number", "boolean", "null"})


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
    settings = declared(make)
    values = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise UsageError(
                f"'{pair}' is not a valid setting.",
                "Write it as KEY=VALUE, such as feature=length.",
            )
        if not settings:
            raise UsageError(f"{of[:1].upper()}{of[1:]} has no settings.", f"Leave out '{pair}'.")
        check_name(f"setting of {of}", key, settings)
        if key in values:
            raise UsageError(f"The setting '{key}' is given twice.", "Give it once.")
        values[key] = _value(key, value.strip(), settings[key])
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
    return adapter if all(kind in PLAIN_TYPES for kind in kinds) else None
