"""How long the server waits for the headers of a request: a client that never ends them is let
go.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from claimlab.web.gate import PATIENCE


class Patient(H11Protocol):
    """uvicorn's protocol with a time limit on headers; it has one only for the pause between two
    requests.
    """

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._limit is None and not self._busy:
            self._wait()
        super().data_received(data)
        if self._busy and self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._limit is not None:
            self._limit.cancel()
        super().connection_lost(exc)

    @property
    def _busy(self) -> bool:
        """Whether a request has come whole, and its answer has not."""
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._limit = self.loop.call_later(PATIENCE, self._let_go)

    def _let_go(self) -> None:
        self._limit = None
        if not self._busy:
            self.transport.close()
