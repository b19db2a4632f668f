"""A bench for asking the stand-in endpoint: quick patience, a cache of its own, answers by
index.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parts.standin import Body, StandIn
from pydantic import BaseModel

from claimlab.core.calls.calls import Calls, Mode
from claimlab.core.calls.retries import Retries
from claimlab.llm.asking import gather
from claimlab.llm.layers import Validated
from claimlab.llm.messages import Answer, Request
from claimlab.llm.open import open_provider
from claimlab.llm.prices import Price
from claimlab.llm.profiles import Profile


class Word(BaseModel):
    answer: str


class Lab:
    """What the tests of this room share."""

    Word = Word
    price = Price(
        input=1000.0, output=2000.0
    )  # dollars per million: large, so that sums are easy to read
    quick = Retries(faults=3, too_many=30, first=0.01, longest=0.05, patience=2.0)

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"

    @staticmethod
    def faulty(fault: str, times: int = 1_000_000) -> Callable[[Body, int], str | None]:
        """A plan for the stand-in: the first `times` that a body comes, this fault."""
        return lambda _, seen: fault if seen < times else None

    @staticmethod
    def says(text: str) -> Callable[[Body], str]:
        return lambda _: text

    def profile(self, server: StandIn | str, **settings: Any) -> Profile:
        url = server if isinstance(server, str) else server.url
        base = {
            "name": "stand-in",
            "base_url": url,
            "model": "m",
            "prices": {"m": self.price},
            "timeout": 10.0,
        }
        return Profile(**{**base, **settings})

    def calls(self, mode: Mode = "record", **more: Any) -> Calls:
        return Calls(mode, None if mode == "live" else self.cache, **more)

    def open(
        self, server: StandIn | str, *, settings: dict[str, Any] | None = None, **more: Any
    ) -> Validated:
        profile = self.profile(server, **(settings or {}))
        return open_provider(profile, calls=self.calls(**more), retries=self.quick)

    def questions(self, n: int, **settings: Any) -> list[Request[Word]]:
        return [
            Request.of(f"question {i}", schema=Word, **{"max_tokens": 50, **settings})
            for i in range(n)
        ]

    def ask(self, provider: Validated, prompt: str = "hello", **settings: Any) -> Answer[Any]:
        async def once() -> Answer[Any]:
            try:
                return await provider.ask(
                    Request.of(prompt, **{"schema": Word, "max_tokens": 50, **settings})
                )
            finally:
                await provider.close()

        return asyncio.run(once())

    def ask_until(
        self, provider: Validated, requests: Any, **settings: Any
    ) -> tuple[dict[int, Answer[Any]], Exception | None]:
        """Every answer by index, and the error that stopped the run, if one did."""
        done: dict[int, Answer[Any]] = {}

        async def everything() -> Exception | None:
            try:
                async for index, answer in gather(provider, requests, **settings):
                    assert index not in done, "an answer came twice"
                    done[index] = answer
            except Exception as error:
                return error
            finally:
                await provider.close()
            return None

        return done, asyncio.run(everything())

    def ask_all(
        self, provider: Validated, requests: Any, **settings: Any
    ) -> dict[int, Answer[Any]]:
        done, error = self.ask_until(provider, requests, **settings)
        if error is not None:
            raise error
        return done


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)
