"""Schemas on the way out, JSON on the way in: bound where the endpoint can, read leniently,
validated strictly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NoReturn

from pydantic import BaseModel, ValidationError

from claimlab.core import packaged
from claimlab.core.types import JsonObject
from claimlab.llm.messages import T

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
# places in a text where JSON is looked for; a hostile text full of braces must not cost more
_MOST_STARTS = 20
_NAMED, _PLAIN = ("properties", "$defs"), ("enum", "required", "description")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)  # Python would take NaN and Infinity


class Unfit(ValueError):
    """A reply that does not fit; `kind` is invalid-json or invalid-schema, the message is for the
    model.
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


def read(text: str, schema: type[T]) -> T:
    """The object in a reply. Fences, thoughts and words around the JSON are forgiven; wrong types
    and fields not.
    """
    value = find_json(text)
    try:
        return schema.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        wrong = [
            f"{'.'.join(str(p) for p in e['loc']) or 'the object'}: {e['msg']}"
            for e in error.errors()[:5]
        ]
        raise Unfit("invalid-schema", "; ".join(wrong)) from None
    except RecursionError:
        raise Unfit("invalid-schema", "the JSON is nested too deeply") from None


def find_json(text: str) -> Any:
    """The JSON value in a reply: the whole of it, the first fenced block, or the first object in
    the prose.
    """
    body = _THOUGHT.sub("", text).strip()
    fenced = _FENCE.search(body)
    for candidate in filter(None, (body, fenced.group(1).strip() if fenced else "")):
        try:
            return _DECODER.decode(candidate)
        except (ValueError, RecursionError):
            continue
    for start in [m.start() for m in re.finditer(r"[{\[]", body)][:_MOST_STARTS]:
        try:
            value, _ = _DECODER.raw_decode(body, start)
        except json.JSONDecodeError as error:
            if error.pos >= len(body) or error.msg.startswith("Unterminated"):
                break  # cut off: an object inside the unfinished one is not the answer
            continue
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    raise Unfit("invalid-json", "there is no valid JSON in the reply")


def wire_schema(schema: type[BaseModel], *, bounds: bool = False) -> JsonObject:
    """The JSON Schema of a model as endpoints bind it: every object closed, every property asked
    for, and no keyword that a strict endpoint refuses. Bounds on lengths and ranges are said in
    words instead, and checked when the reply is read; with `bounds` they are left in, for an
    endpoint that enforces them."""
    return _described(schema, bounds)[0]


def in_words(schema: type[BaseModel]) -> str:
    """The same schema as an instruction, for endpoints that bind none."""
    return _described(schema, True)[1]


@lru_cache(maxsize=256)
def _described(schema: type[BaseModel], bounds: bool) -> tuple[JsonObject, str]:
    described = schema.model_json_schema()
    for part in (described, *described.get("$defs", {}).values()):
        part.pop("description", None)  # the docstring of a class, which is not meant for a model
    strict = _tighten(described, bounds)
    wire = {"name": re.sub(r"\W", "_", schema.__name__)[:60], "schema": described, "strict": strict}
    written = json.dumps(described, ensure_ascii=False)
    words = "Answer with one JSON object that fits this JSON Schema, and with nothing else:"
    return wire, f"{words}\n{written}"


def _tighten(node: object, bounds: bool) -> bool:
    """Close objects and drop what strict endpoints refuse, in place; false when a free-form object
    keeps it loose.
    """
    if not isinstance(node, dict):
        return _all_tight(node if isinstance(node, list) else (), bounds)
    _rewrite(node)
    if not bounds:
        _say_bounds(node)
    # properties and definitions are by name, not by keyword: a property may be called "title"
    named = [part for key in _NAMED for part in node.get(key, {}).values()]
    below = [part for key, part in node.items() if key not in (*_NAMED, *_PLAIN)]
    free_form = node.get("type") == "object" and "properties" not in node
    return _all_tight((*named, *below), bounds) and not free_form


def _rewrite(node: JsonObject) -> None:
    """The same schema in the words that strict endpoints take; objects are closed."""
    for keyword in packaged.toml("claimlab.llm", "schema.toml")["dropped"]:
        node.pop(keyword, None)
    if "const" in node:
        node["enum"] = [node.pop("const")]
    if "oneOf" in node:
        node["anyOf"] = node.pop("oneOf")
        node.pop("discriminator", None)
    if "properties" in node:
        node |= {"additionalProperties": False, "required": list(node["properties"])}


def _all_tight(parts: Iterable[object], bounds: bool) -> bool:
    tight = [_tighten(part, bounds) for part in parts]
    return all(tight)


def _say_bounds(node: JsonObject) -> None:
    """Bounds as part of the description; a reference may have no neighbours at all."""
    bounds = packaged.toml("claimlab.llm", "schema.toml")["bounds"].items()
    words = [phrase.format(node.pop(keyword)) for keyword, phrase in bounds if keyword in node]
    if "$ref" in node:
        node.pop("description", None)
    elif words:
        node["description"] = "; ".join(
            [*([node["description"]] if "description" in node else []), ", ".join(words)]
        )
