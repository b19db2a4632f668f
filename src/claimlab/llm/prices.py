"""Prices of models. Published ones are those of the table inside the package `genai-prices`;
nothing is fetched. A model that it does not know has no price.
"""

from __future__ import annotations

import importlib
from datetime import date
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

# small enough for the lowest tier of tables that ask more for long prompts
SAMPLE_TOKENS = 1000


class Price(BaseModel):
    """US dollars per million tokens, as published on a day. Prices move: check, and write your own
    profile.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(
        default=None, ge=0
    )  # input that the endpoint had in its cache; null: as other input
    as_of: date | None = None
    source: str | None = None

    def cost(self, input: int, output: int, cached: int = 0) -> float:
        """`cached` tokens are part of `input`."""
        dear = self.input if self.cached is None else self.cached
        return ((input - cached) * self.input + cached * dear + output * self.output) / 1_000_000

    def at_least(self, listed: Price) -> Price:
        """The same, or what is `listed` wherever that is more: a profile cannot make a vendor
        cheaper than it is."""
        own_cached = self.input if self.cached is None else self.cached
        listed_cached = listed.input if listed.cached is None else listed.cached
        parts = {
            "input": max(self.input, listed.input),
            "output": max(self.output, listed.output),
            "cached": max(own_cached, listed_cached),
        }
        if parts == {"input": self.input, "output": self.output, "cached": own_cached}:
            return self
        return self.model_copy(update={**parts, "source": listed.source, "as_of": listed.as_of})


@lru_cache(maxsize=256)
def listed_price(base_url: str | None, model: str) -> Price | None:
    """The price of `model` at the vendor whose address this is; null where the table knows
    neither.
    """
    if base_url is None:
        return None
    try:
        library: Any = importlib.import_module("genai_prices")
    except ImportError:
        return None

    def of(**tokens: int) -> float:
        price = library.calc_price(
            library.Usage(**tokens), model_ref=model, provider_api_url=base_url
        )
        return round(float(price.total_price) / SAMPLE_TOKENS * 1_000_000, 6)

    try:
        fresh = of(input_tokens=SAMPLE_TOKENS)
        return Price(
            input=fresh,
            output=of(output_tokens=SAMPLE_TOKENS),
            cached=min(fresh, of(input_tokens=SAMPLE_TOKENS, cache_read_tokens=SAMPLE_TOKENS)),
            source=f"genai-prices {library.__version__}",
        )
    except LookupError:  # a vendor or a model that is not in the table
        return None
