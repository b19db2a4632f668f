"""The contract of a provider, and where providers are found.

One file in `providers/` with a module-level PROVIDER, called with a profile. `ask` makes one call:
it returns an Answer with the text and the usage, or one with a `failure`; retries, caps, caching
and validation are put around it. It raises only what no other call can get past (EndpointRefused,
MissingExtra, ReplayMiss).
"""

from __future__ import annotations

from typing import Protocol

from claimlab.core.registry import Registry
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.profiles import Profile


class Provider(Protocol):
    """One endpoint of a model."""

    profile: Profile

    async def ask(self, request: Request[T]) -> Answer[T]:
        """Ask a model once.

        Parameters
        ----------
        request : Request[T]
            The messages, the shape that the answer must have, and its limits.

        Returns
        -------
        Answer[T]
            The answer with its cost, or why there is none.
        """
        ...

    async def close(self) -> None:
        """Let go of connections; a provider that holds none does nothing."""
        ...


class Opens(Protocol):
    """What PROVIDER is: called with a profile, it gives a provider. A class with that constructor
    will do.
    """

    def __call__(self, profile: Profile) -> Provider:
        """A provider for one endpoint.

        Parameters
        ----------
        profile : Profile
            The endpoint and its model; the key stays in the environment.
        """
        ...


PROVIDERS: Registry[Opens] = Registry(
    "model provider",
    package="claimlab.llm.providers",
    attribute="PROVIDER",
    group="claimlab.llm_providers",
)
