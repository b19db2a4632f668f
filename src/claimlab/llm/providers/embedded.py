"""SmolLM2-135M inside this process: a real model with no key and no network. Too small for
results.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from claimlab.core.errors import ClaimlabError
from claimlab.llm.local_server import CONTEXT, LocalServer, local_server
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.profiles import Profile
from claimlab.llm.providers.openai_compatible import OpenAICompatible
from claimlab.llm.weights import installed, weights_path


class Local:
    """Weights on this machine, served by llama.cpp in this process; loaded when first asked."""

    def __init__(self, profile: Profile, weights: Path, *, context: int = CONTEXT) -> None:
        self.profile, self.weights, self.context = profile, weights, context
        self._endpoint: OpenAICompatible | None = None

    async def ask(self, request: Request[T]) -> Answer[T]:
        if self._endpoint is None:
            self.check()
            server = await asyncio.to_thread(local_server, self.weights, self.context)
            self._endpoint = self._endpoint or _endpoint(self.profile, server)
        return await self._endpoint.ask(request)

    def check(self) -> None:
        """Raise where the weights are not there."""

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()


class Embedded(Local):
    def __init__(self, profile: Profile) -> None:
        super().__init__(profile, weights_path())

    def check(self) -> None:
        if not installed():
            raise ClaimlabError(
                "The embedded model is not installed.", "Fetch it (98 MB): claimlab llm install"
            )


def _endpoint(profile: Profile, server: LocalServer) -> OpenAICompatible:
    return OpenAICompatible(profile.model_copy(update={"base_url": server.url}), key=server.key)


PROVIDER = Embedded
