"""The messages of a model call: a Request in, an Answer out."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, Literal, Never, TypeAlias, TypeVar

from pydantic import BaseModel

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
        counts = [count for count in (self.cached, other.cached) if count is not None]
        return Usage(
            _sum(self.input, other.input),
            _sum(self.output, other.output),
            sum(counts) if counts else None,
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
