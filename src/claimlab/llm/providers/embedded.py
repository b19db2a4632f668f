"""SmolLM2-135M inside this process: a real model with no key and no network. Too small for results."""

from __future__ import annotations

import asyncio

from claimlab.core.errors import ClaimlabError
from claimlab.llm.local_server import LocalServer, local_server
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.profiles import Profile
from claimlab.llm.providers.openai_compatible import OpenAICompatible
from claimlab.llm.weights import installed, weights_path


class Embedded:
    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._endpoint: OpenAICompatible | None = None

    async def ask(self, request: Request[T]) -> Answer[T]:
        if self._endpoint is None:
            if not installed():
                raise ClaimlabError("The embedded model is not installed.", "Fetch it (98 MB): claimlab llm install")
            server = await asyncio.to_thread(local_server, weights_path())
            self._endpoint = self._endpoint or _endpoint(self.profile, server)
        return await self._endpoint.ask(request)

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()


def _endpoint(profile: Profile, server: LocalServer) -> OpenAICompatible:
    return OpenAICompatible(profile.model_copy(update={"base_url": server.url}), key=server.key)


PROVIDER = Embedded
