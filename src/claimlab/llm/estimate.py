"""What a run would cost, before it costs anything: for `--estimate`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from pydantic import BaseModel

from claimlab.core.calls.recording import CallQuestion, Recording
from claimlab.llm.layers import question
from claimlab.llm.messages import Request, Usage
from claimlab.llm.prices import Price
from claimlab.llm.profiles import Profile
from claimlab.llm.schema import in_words

Counter = Callable[[str], int]
FEWEST_REPLIES = 20  # recorded replies that tell how long the next ones will be
TOKENS_PER_MESSAGE = 4  # tokens around each


@dataclass(frozen=True)
class CallEstimate:
    """`money_most` takes every reply to be as long as it may be; `money_least` takes replies of no
    length. Null: the price is not known. Calls that the cache already holds cost nothing and are
    only counted. `money_expected` takes replies to be as long as `learned_from` recorded ones to
    the same prompt; null where fewer than 20 are recorded.
    """

    calls: int
    cached: int
    input_tokens: int
    output_tokens_most: int
    money_least: float | None
    money_most: float | None
    model: str | None
    price_as_of: str | None
    counted_by: str
    money_expected: float | None = None
    learned_from: int = 0

    def sentence(self) -> str:
        """One line for the person who is about to spend."""
        calls = "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        tokens = (
            f"{calls}, about {self.input_tokens:,} tokens in, at most"
            f" {self.output_tokens_most:,} out"
        )
        saved = f" ({self.cached:,} more in the cache, free)" if self.cached else ""
        if self.money_most is None or self.money_least is None:
            return f"{tokens}{saved}; cost unknown: no price is known for {self.model}."
        when = f", prices as of {self.price_as_of}" if self.price_as_of else ""
        range_ = f"${self.money_least:.4f} to ${self.money_most:.4f}"
        if self.money_expected is not None and self.calls:
            range_ += (
                f", about ${self.money_expected:.4f} going by {self.learned_from:,} recorded"
                " replies"
            )
        return f"{tokens}{saved}; {range_}{when}."


def estimate(
    requests: Iterable[Request[BaseModel]],
    profile: Profile,
    *,
    recording: Recording | None = None,
) -> CallEstimate:
    """Count what `requests` would take; nothing is sent anywhere."""
    by, count = token_counter()
    calls = cached = tokens_in = tokens_out = 0
    learned: LearnedLengths | None = None
    for request in map(profile.limited, requests):
        schema = count(in_words(request.schema)) if request.schema is not None else 0
        if recording is not None:
            key = question(request, profile)
            learned = learned or _learned(recording, key, schema, count)
            if recording.get(key) is not None:
                cached += 1
                continue
        calls += 1
        tokens_in += schema + _counted(request.wire(), count)
        tokens_out += request.max_tokens
    price = profile.price
    return CallEstimate(
        calls=calls,
        cached=cached,
        input_tokens=tokens_in,
        output_tokens_most=tokens_out,
        money_least=profile.cost(Usage(tokens_in, 0)),
        money_most=profile.cost(Usage(tokens_in, tokens_out)),
        model=profile.model,
        price_as_of=price.as_of.isoformat() if price and price.as_of else None,
        counted_by=by,
        money_expected=learned.money(calls, tokens_in, price) if learned and price else None,
        learned_from=learned.replies if learned else 0,
    )


@dataclass(frozen=True)
class LearnedLengths:
    """What recorded questions to one prompt took, those that had to be asked again included:
    `per_token` is tokens of input by the endpoint's count for each of ours, `output` the tokens of
    the replies to one question.
    """

    replies: int
    per_token: float
    output: float

    def money(self, calls: int, tokens_in: int, price: Price) -> float:
        return price.cost(round(tokens_in * self.per_token), round(calls * self.output))


def _learned(
    recording: Recording, like: CallQuestion, schema: int, count: Counter
) -> LearnedLengths | None:
    """What the recording tells of questions with the same schema (of `schema` tokens) and settings;
    null with too few of them."""
    same = [
        (sent, answer)
        for sent, answer in recording.recorded(like.kind)
        if sent["schema"] == like.content["schema"]
        and {**sent["parameters"], "seed": None} == {**like.content["parameters"], "seed": None}
        and answer["usage"]["input"] is not None
        and answer["usage"]["output"] is not None
    ]
    length = len(like.content["messages"])
    first = [sent["messages"] for sent, _ in same if len(sent["messages"]) == length]
    if len(first) < FEWEST_REPLIES:  # of those that were not asked again
        return None
    ours = sum(schema + _counted(messages, count) for messages in first)
    theirs, output = (
        sum(answer["usage"][name] for _, answer in same) for name in ("input", "output")
    )
    return LearnedLengths(len(same), theirs / max(1, ours), output / len(first))


def _counted(messages: Sequence[Mapping[str, str]], count: Counter) -> int:
    return sum(count(message["content"]) + TOKENS_PER_MESSAGE for message in messages)


def rough_count(text: str) -> int:
    """Four characters a token for plain English; scripts outside ASCII take more tokens, about two
    for three.
    """
    plain = sum(1 for c in text if c < "\x80") if not text.isascii() else len(text)
    return round(plain / 4 + (len(text) - plain) / 1.5)


@cache
def token_counter() -> tuple[str, Counter]:
    """tiktoken where it is installed with its vocabulary on disk (TIKTOKEN_CACHE_DIR), else the
    rough count.

    Without that folder tiktoken would fetch the vocabulary, and an estimate must not touch the
    network.
    """
    if os.environ.get("TIKTOKEN_CACHE_DIR"):
        # not installed, or the vocabulary is not there: the rough count says so in `counted_by`
        with suppress(Exception):
            import tiktoken

            encode = tiktoken.get_encoding("o200k_base").encode
            return "tiktoken o200k_base", lambda text: len(encode(text, disallowed_special=()))
    return "characters / 4", rough_count
