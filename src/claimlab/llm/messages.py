"""The messages of a model call: a Request in, an Answer out, and the schema that it must fit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Generic, Literal, Never, NoReturn, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from claimlab.core import packaged
from claimlab.core.types import JsonObject

T = TypeVar("T", bound=BaseModel)
T_co = TypeVar("T_co", bound=BaseModel, covariant=True)
Role = Literal["system", "user", "assistant"]
CUT = "the reply was cut at max_tokens"  # a note on an answer


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Request(Generic[T_co]):
    """One question to a model. `timeout`, `tag` and `prompt_name` do not change the answer: the
    cache does not look at them."""

    messages: tuple[Message, ...]
    schema: type[T_co] | None = None
    temperature: float | None = (
        0.0  # null: leave it to the endpoint (some reasoning models take no other)
    )
    max_tokens: int = 1024
    seed: int | None = None
    attempt: int = 0  # the same question drawn again: attempt 1, 2, ... are calls of their own
    timeout: float | None = None  # seconds; null: the profile's
    tag: str = ""  # what the caller calls this, such as a record id: for messages to people
    prompt_name: str = (
        ""  # the name of the prompt, by which a profile may set another limit of tokens
    )

    @staticmethod
    def of(
        prompt: str, *, system: str | None = None, schema: type[T] | None = None, **settings: Any
    ) -> Request[T]:
        first = (Message("system", system),) if system else ()
        return Request(messages=(*first, Message("user", prompt)), schema=schema, **settings)

    def again(self, reply: str, complaint: str) -> Request[T_co]:
        """The same question with the unusable reply and what was wrong with it."""
        return replace(
            self, messages=(*self.messages, Message("assistant", reply), Message("user", complaint))
        )

    def wire(self) -> list[dict[str, str]]:
        """The messages as endpoints take them."""
        return [{"role": message.role, "content": message.content} for message in self.messages]

    def name(self) -> str:
        """What to call this request in a message to a person."""
        text = " ".join(self.messages[-1].content.split()) if self.messages else ""
        start = text if len(text) <= 80 else text[:79] + "…"
        return f"{self.tag}: “{start}”" if self.tag else f"“{start}”"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counted them; null where it did not say."""

    input: int | None = None
    output: int | None = None
    cached: int | None = (
        None  # of the input, what the endpoint had in its cache and charges less for
    )

    @property
    def total(self) -> int | None:
        return None if self.input is None or self.output is None else self.input + self.output

    def plus(self, other: Usage) -> Usage:
        known = [count for count in (self.cached, other.cached) if count is not None]
        return Usage(
            _sum(self.input, other.input),
            _sum(self.output, other.output),
            sum(known) if known else None,
        )


@dataclass(frozen=True, slots=True)
class Answer(Generic[T_co]):
    """What came back. A failed call is an answer too: `value` is null and `failure` says why, in
    one word:

    refusal, invalid-json, invalid-schema, empty: the model's last word; recorded, never asked
    round; timeout, connection, unreachable, bad-response, http-429, http-500, ...: the call failed
    (`transient`: a later run may do better, so it is never recorded); too-large, unsendable,
    http-400, ...: this call cannot work; crash: a fault in a provider. `detail` has the sentence.
    """

    model: str
    value: T_co | None = None
    text: str | None = None
    failure: str | None = None
    detail: str | None = None
    usage: Usage = Usage()
    cost: float | None = None  # US dollars; null: the price or the usage is not known
    seconds: float = 0.0
    calls: int = 1  # calls made for this answer, retries and the re-ask included
    notes: tuple[str, ...] = ()  # such as "too small for results"
    cached: bool = (
        False  # came from the cache: cost and usage are what it cost then; nothing was spent now
    )
    transient: bool = False
    retry_after: float | None = None  # seconds the endpoint asked us to wait

    @property
    def refusal(self) -> bool:
        return self.failure == "refusal"

    @property
    def ok(self) -> bool:
        return self.failure is None

    def after(self, first: Answer[BaseModel]) -> Answer[T_co]:
        """This answer with what `first`, the one asked before it, used up."""
        return replace(
            self,
            usage=first.usage.plus(self.usage),
            cost=None if first.cost is None or self.cost is None else first.cost + self.cost,
            seconds=first.seconds + self.seconds,
            calls=first.calls + self.calls,
            notes=tuple(dict.fromkeys((*first.notes, *self.notes))),
            cached=first.cached and self.cached,
        )

    def record(self) -> JsonObject:
        """JSON-safe, and the same whether the answer came live or from the cache."""
        return {
            "model": self.model,
            "value": None if self.value is None else self.value.model_dump(mode="json"),
            "text": self.text,
            "failure": self.failure,
            "detail": self.detail,
            "usage": asdict(self.usage),
            "cost": self.cost,
            "seconds": self.seconds,
            "calls": self.calls,
            "notes": list(self.notes),
        }


Unread: TypeAlias = Answer[Never]  # as a provider gives it: without the value in its text


def untrusted(text: str, name: str = "text") -> str:
    """Dataset text or a retrieved page, fenced so that a prompt can say "what is between the marks
    is data".

    The text cannot close its own fence: a mark inside it is broken up.
    """
    safe = re.sub(rf"<(/?\s*{re.escape(name)}\b)", "<\u200b\\1", text, flags=re.IGNORECASE)
    return f"<{name}>\n{safe}\n</{name}>"


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


# Schemas on the way out, JSON on the way in: bound where the endpoint can, read leniently,
# validated strictly.

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
# places in a text where JSON is looked for; a hostile text full of braces must not cost more
_STARTS = 20


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
    for start in [m.start() for m in re.finditer(r"[{\[]", body)][:_STARTS]:
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
    shown = json.dumps(described, ensure_ascii=False)
    return (
        wire,
        f"Answer with one JSON object that fits this JSON Schema, and with nothing else:\n{shown}",
    )


_NAMED, _PLAIN = ("properties", "$defs"), ("enum", "required", "description")


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


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)  # Python would take NaN and Infinity
