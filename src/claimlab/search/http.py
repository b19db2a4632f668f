"""One careful HTTP call that must end in JSON: a time limit, a size limit, retries, the budget, and
a named failure.

No message ever holds a key: addresses are not printed, and what a provider says back is searched
for the key first.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from claimlab.core.budget import Amount, Budget
from claimlab.core.calls.bounded import TooLarge, WrongEncoding, read_bounded
from claimlab.core.calls.http import ErrorAnswer, client_settings, retry_after
from claimlab.core.calls.pace import TokenBucket
from claimlab.core.calls.retries import Passing, Retries, patiently
from claimlab.core.calls.scrub import excerpt, scrubbed
from claimlab.core.errors import SearchFailed, UsageError
from claimlab.core.grants import Wanted, grant, host_of
from claimlab.core.types import Json

if TYPE_CHECKING:
    import httpx2

PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})  # worth another try
RETRIES = Retries(faults=3, too_many=3, patience=60.0)
_ADVICE = {
    401: "Check the key.",
    402: "The account has no credit left.",
    403: "Check that the key may use this service.",
    404: "Check the endpoint.",
}


@dataclass(frozen=True)
class Call:
    """What to ask of whom. `secret` is the key inside it, so that it can be kept out of every
    message and recording.

    `most` is what the call can cost (null: not known), `cost_of` reads what it did cost from the
    answer.
    """

    provider: str
    method: str
    url: str
    params: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None
    secret: str | None = field(default=None, repr=False)
    most: float | None = 0.0
    cost_of: Callable[[Json], float | None] | None = None
    alias: str = ""  # what lists call a host that only the user's own variable names

    def failed(
        self, kind: str, problem: str, todo: str, passing: Passing | None = None
    ) -> _Failure:
        error = SearchFailed(self.provider, kind, f"{self.provider} {problem}.", todo)
        return _Failure(error, passing)


@dataclass(frozen=True)
class HttpReply:
    answer: Json
    cost: float | None


@dataclass(frozen=True)
class _Failure:
    error: SearchFailed
    passing: Passing | None = None  # null: it would fail again


class Http:
    """Calls for every provider. Connections stay open until `close`."""

    def __init__(
        self,
        *,
        timeout: float = 20.0,
        max_bytes: int = 5 << 20,
        retries: Retries = RETRIES,
        budget: Budget | None = None,
    ) -> None:
        self.timeout = timeout
        self.max_bytes = max_bytes
        self.retries = retries
        self.budget = budget or Budget()
        self._clients: dict[str, httpx2.AsyncClient] = {}  # one for each host
        self._loop: asyncio.AbstractEventLoop | None = None

    async def close(self) -> None:
        clients, self._clients = self._clients, {}
        if self._loop is asyncio.get_running_loop():
            for client in clients.values():
                await client.aclose()

    async def json(self, call: Call, bucket: TokenBucket) -> HttpReply:
        """The JSON of the answer, and its cost; raises `SearchFailed` with the reason and the
        number of tries.
        """
        tries = 0

        async def attempt() -> HttpReply | _Failure:
            nonlocal tries
            tries += 1
            await bucket.wait(self.retries.sleep)
            return await self._paid(call)

        outcome = await patiently(attempt, _passing, self.retries)
        if isinstance(outcome, HttpReply):
            return outcome
        outcome.error.tries = tries
        raise outcome.error

    async def _paid(self, call: Call) -> HttpReply | _Failure:
        """One try, with the most it can cost set aside first. A try whose outcome is not known
        counts as paid for.
        """
        if call.most is None and self.budget.money is not None:
            raise UsageError(
                f"The price of a call to {call.provider} is not known, so a cap on money cannot"
                " hold.",
                "Cap the number of calls instead (`max_calls`), or use another provider.",
            )
        with await self.budget.reserve(Amount(money=call.most or 0.0, calls=1)) as hold:
            try:
                kind, body = await self._send(call)
            except ErrorAnswer as answer:
                hold.settle(Amount(calls=1))  # an answer other than a success is not charged
                return _status_failure(call, answer)
            except Exception as error:
                return self._broken(call, error)
            reply = _read(call, kind, body)
            hold.settle(
                Amount(
                    money=(reply.cost if isinstance(reply, HttpReply) else call.most) or 0.0,
                    calls=1,
                )
            )
            return reply

    async def _send(self, call: Call) -> tuple[str, bytes]:
        """The content type and the body of the answer."""
        async with (
            asyncio.timeout(self.timeout),
            self._open(call).stream(
                call.method,
                call.url,
                params=dict(call.params),
                headers={**call.headers, "Accept": "application/json"},
                json=call.body,
            ) as response,
        ):
            kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
            return kind, await read_bounded(response, self.max_bytes)

    def _open(self, call: Call) -> httpx2.AsyncClient:
        import httpx2

        wanted = Wanted("host", host_of(call.url), f"is searched by {call.provider}")
        leave = grant(wanted, alias=call.alias)
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # connections belong to the loop they were opened in
            self._clients, self._loop = {}, loop
        if leave.value not in self._clients:
            self._clients[leave.value] = httpx2.AsyncClient(**client_settings(leave))
        return self._clients[leave.value]

    def _broken(self, call: Call, error: Exception) -> _Failure:
        """No whole answer came; what is not the network's fault is raised again."""
        import httpx2

        if isinstance(error, TimeoutError | httpx2.TimeoutException):
            problem = f"gave no whole answer within {self.timeout:g} seconds"
            return call.failed("timeout", problem, "Try again later.", Passing())
        if isinstance(error, TooLarge):
            problem = f"answered with more than {self.max_bytes / (1 << 20):g} MB"
            return call.failed("too-large", problem, "Ask for fewer results.")
        if isinstance(error, WrongEncoding):
            problem = f"packed its answer in a way that cannot be read ({error})"
            return call.failed("not-json", problem, "Check the endpoint.")
        if isinstance(error, httpx2.TransportError | httpx2.InvalidURL | ssl.SSLError):
            problem = (
                "could not be reached"
                f" ({excerpt(f'{type(error).__name__}: {error}', call.secret, 200)})"
            )
            todo = "Check the network and try again."
            return call.failed("network", problem, todo, Passing())
        raise error


def _passing(outcome: HttpReply | _Failure) -> Passing | None:
    return outcome.passing if isinstance(outcome, _Failure) else None


def _read(call: Call, kind: str, body: bytes) -> HttpReply | _Failure:
    try:
        answer = scrubbed(json.loads(body), call.secret)
    except (ValueError, RecursionError) as error:
        problem = f"answered with something that is not JSON ({kind or 'no content type'}; {error})"
        todo = "Check the endpoint: a proxy or a log-in page may be in between."
        # JSON that stops half-way may come whole the next time; a page of HTML will not turn into
        # JSON
        return call.failed("not-json", problem, todo, Passing() if kind.endswith("json") else None)
    return HttpReply(answer, call.cost_of(answer) if call.cost_of is not None else call.most)


def _status_failure(call: Call, answer: ErrorAnswer) -> _Failure:
    status = f"answered {answer.status}{_reason(answer.body, call.secret)}"
    wait = retry_after(answer.headers)
    if answer.status == 429:
        asks = f" and asks to wait {wait:g} seconds" if wait else ""
        todo = "Search more slowly, or check what your plan allows."
        problem = f"{status}: too many calls{asks}"
        return call.failed("rate-limited", problem, todo, Passing(wait, True))
    if answer.status in PASSING:
        todo = "The fault is on its side: try again later."
        return call.failed("server-error", status, todo, Passing(wait))
    todo = _ADVICE.get(answer.status, "Check the parameters of the call.")
    return call.failed("refused", status, todo)


def _reason(body: bytes, secret: str | None) -> str:
    """The provider's own words for what is wrong, where it answers in JSON as they all document."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for key in ("error", "message", "detail"):
        while isinstance(answer, dict) and key in answer:
            answer = answer[key]
    return (
        f" ({excerpt(answer, secret, 200)})" if isinstance(answer, str) and answer.strip() else ""
    )
