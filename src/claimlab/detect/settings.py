"""Settings of a detector as words of a command: `--set feature=length`, typed by the constructor's annotations."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Sequence
from typing import Any

from claimlab.core.errors import UnknownName, UsageError
from claimlab.detect.detector import Detector, handles

YES, NO, NONE = ("true", "yes", "1", "on"), ("false", "no", "0", "off"), ("none", "null")


def known_settings(detector: type[Detector]) -> dict[str, Any]:
    """Each setting with its type; what a detector is handed (a model, a search) is no setting."""
    constructor = vars(detector).get("__init__")
    if constructor is None:
        return {}
    hints = typing.get_type_hints(constructor)
    named = [p.name for p in inspect.signature(detector).parameters.values() if p.kind is p.KEYWORD_ONLY]
    plain = {name: hints.get(name, str) for name in named if name not in handles(detector)}
    return {name: kind for name, kind in plain.items() if all(k in (bool, int, float, str) for k in _kinds(kind))}


def read_settings(detector: type[Detector], pairs: Sequence[str]) -> dict[str, Any]:
    """`KEY=VALUE` words as keyword arguments of `detector`."""
    known = known_settings(detector)
    out: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise UsageError(f"'{pair}' is no setting.", "Write it as KEY=VALUE, such as: --set feature=length")
        if key not in known:
            if not known:
                raise UsageError(f"The detector '{detector.name}' has no settings.", f"Leave out --set {pair}.")
            raise UnknownName(f"setting of '{detector.name}'", key, known)
        if key in out:
            raise UsageError(f"The setting '{key}' is given twice.", "Give it once.")
        out[key] = _typed(key, value.strip(), known[key])
    return out


def _typed(key: str, value: str, kind: Any) -> Any:
    choices = _choices(kind)
    if value.lower() in NONE and type(None) in typing.get_args(kind):
        return None
    for plain in _kinds(kind):
        if plain is bool and value.lower() in YES + NO:
            return value.lower() in YES
        if plain in (int, float):
            try:
                return plain(value)
            except ValueError:
                continue
        if plain is str and (not choices or value in choices):
            return value
    wanted = " or ".join(choices) if choices else " or ".join(_WORDS[k] for k in _kinds(kind))
    raise UsageError(f"The setting '{key}' cannot be '{value}'.", f"Give {wanted}.")


_WORDS = {bool: "yes or no", int: "a whole number", float: "a number", str: "a word"}


def _kinds(kind: Any) -> list[Any]:
    """The plain types that an annotation allows, None aside."""
    if typing.get_origin(kind) is typing.Literal:
        return [str]
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return [k for part in typing.get_args(kind) if part is not type(None) for k in _kinds(part)]
    return [kind]


def _choices(kind: Any) -> tuple[str, ...]:
    if typing.get_origin(kind) is typing.Literal:
        return typing.get_args(kind)
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return tuple(c for part in typing.get_args(kind) for c in _choices(part))
    return ()
