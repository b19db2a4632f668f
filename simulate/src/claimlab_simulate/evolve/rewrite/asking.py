"""What the rewriters that ask a model share: its provider, which is closed with them, and how they
say which model it is.
"""

from __future__ import annotations

from claimlab.core.types import JsonObject
from claimlab.llm.layers import Validated


class Asking:
    name: str

    def __init__(self, provider: Validated) -> None:
        self.provider = provider

    async def close(self) -> None:
        await self.provider.close()

    def describe_with(self, **settings: object) -> JsonObject:
        """The model, with what else decides about its answers."""
        profile = self.provider.profile
        return {
            "rewriter": self.name,
            "model": profile.model,
            **settings,
            "standing": profile.standing,
        }
