"""One careful HTTP call that must end in JSON: a time limit, a size limit, retries with jitter, and a named failure.

Waiting and chance are handed in, so that tests need neither time nor luck. No message ever holds a key: addresses are
not printed, and what a provider says back is cut and searched for the key first.
"""

from __future__ import annotations

import asyncio
import json
import random
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from claimlab import __version__
from claimlab.core.budget import Amount, Budget
from claimlab.core.errors import SearchFailed, UsageError
from claimlab.search.bounded import TooLarge, WrongEncoding, read_bounded
from claimlab.search.terms import TokenBucket

if TYPE_CHECKING:
    import httpx2

USER_AGENT = f"claimlab/{__version__}"
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})  # worth another try


@dataclass(frozen=True)
class Call:
    """What to ask of whom. `secret` is the key inside it, so that it can be kept out of every message.

    `most` is what the call can cost (null: not known), `cost_of` reads what it did cost from the answer.
    """

    provider: str
    method: str
    url: str
    params: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    secret: str | None = field(default=None, repr=False)
    most: float | None = 0.0
    cost_of: Callable[[Any], float | None] | None = None


@dataclass(frozen=True)
class Reply:
    answer: Any
    cost: float | None


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class Http:
    """Calls for every provider. Inside `async with`, connections stay open between calls; outside, each has its own."""

    def __init__(
        self,
        *,
        timeout: float = 20.0,
        max_bytes: int = 5 << 20,
        tries: int = 4,
        backoff: float = 0.5,
        max_wait: float = 60.0,
        budget: Budget | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.timeout = timeout
        self.max_bytes = max_bytes
        self.tries = tries
        self.backoff = backoff
        self.max_wait = max_wait
        self.budget = budget
        self._sleep = sleep
        self._chance = chance
        self._client: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        self._client = _open_client()
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def json(self, call: Call, bucket: TokenBucket) -> Reply:
        """The JSON that is answered, and its cost; `SearchFailed` says why there is none, and after how many tries."""
        for tried in range(1, self.tries + 1):
            await bucket.wait(self._sleep)
            try:
                return await self._paid(call)
            except _Passing as passing:
                if tried == self.tries or passing.wait > self.max_wait:
                    passing.failure.tries = tried
                    raise passing.failure from None
                # jitter: many clients that failed together must not come back together
                await self._sleep(passing.wait or self.backoff * 2 ** (tried - 1) * (0.5 + self._chance() / 2))
        raise AssertionError("unreachable: the last try returns or raises")

    async def _paid(self, call: Call) -> Reply:
        """One try, with the most it can cost set aside first. A try whose outcome is not known counts as paid for."""
        if self.budget is None:
            return self._reply(call, await self._once(call))
        if call.most is None and self.budget.money is not None:
            raise UsageError(
                f"The price of a call to {call.provider} is not known, so a cap on money cannot hold.",
                "Cap the number of calls instead, or use another provider.",
            )
        hold = await self.budget.reserve(Amount(money=call.most or 0.0, calls=1))
        spent: Amount | None = None
        try:
            answer = await self._once(call)
            spent = Amount(calls=1)  # an answer other than 200 is not charged
            if answer.status == 200:
                spent = Amount(money=call.most or 0.0, calls=1)
            reply = self._reply(call, answer)
            spent = Amount(money=reply.cost or 0.0, calls=1)
            return reply
        finally:
            hold.settle(spent)

    def _reply(self, call: Call, answer: _Answer) -> Reply:
        if answer.status != 200:
            raise _status_failure(call, answer, self.max_wait)
        parsed = _parse(call.provider, answer)
        return Reply(parsed, call.cost_of(parsed) if call.cost_of is not None else call.most)

    async def _once(self, call: Call) -> _Answer:
        import httpx2

        provider = call.provider
        try:
            async with asyncio.timeout(self.timeout), AsyncExitStack() as stack:
                client = self._client
                if client is None:
                    client = await stack.enter_async_context(_open_client())
                response = await stack.enter_async_context(
                    client.stream(
                        call.method,
                        call.url,
                        params=dict(call.params),
                        headers={**call.headers, "Accept": "application/json", "Accept-Encoding": "gzip"},
                        json=call.body,
                    )
                )
                return _Answer(response.status_code, response.headers, await read_bounded(response, self.max_bytes))
        except (TimeoutError, httpx2.TimeoutException):
            problem = f"{provider} gave no whole answer within {self.timeout:g} seconds."
            raise _Passing(SearchFailed(provider, "timeout", problem, "Try again later.")) from None
        except TooLarge:
            problem = f"{provider} answered with more than {self.max_bytes / (1 << 20):g} MB; the answer was cut off."
            raise SearchFailed(provider, "too-large", problem, "Ask for fewer results.") from None
        except WrongEncoding as error:
            problem = f"{provider} packed its answer in a way that cannot be read ({error})."
            raise SearchFailed(provider, "not-json", problem, "Check the endpoint.") from None
        except (httpx2.TransportError, httpx2.InvalidURL, ssl.SSLError) as error:
            problem = f"The connection to {provider} failed ({type(error).__name__}: {_safe(str(error), call)})."
            raise _Passing(SearchFailed(provider, "network", problem, "Check the network and try again.")) from None


@cache
def trust() -> ssl.SSLContext:
    """One context for all calls: reading the certificates takes longer than the rest of opening a client."""
    import httpx2

    return httpx2.create_ssl_context()


class _Passing(Exception):
    """A failure that may pass, and how long the provider asked to wait (0: it did not say)."""

    def __init__(self, failure: SearchFailed, wait: float = 0.0) -> None:
        self.failure = failure
        self.wait = wait


def _open_client() -> httpx2.AsyncClient:
    import httpx2

    return httpx2.AsyncClient(verify=trust(), timeout=None, follow_redirects=False, headers={"User-Agent": USER_AGENT})


def _parse(provider: str, answer: _Answer) -> Any:
    kind = answer.headers.get("content-type", "").split(";")[0].strip().lower()
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        failure = SearchFailed(
            provider,
            "not-json",
            f"{provider} answered with something that is not JSON ({kind or 'no content type'}; {error}).",
            "Check the endpoint: a proxy or a log-in page may stand in between.",
        )
        # JSON that stops half-way may come whole the next time; a page of HTML will not turn into JSON
        raise _Passing(failure) if kind.endswith("json") else failure from None


def _status_failure(call: Call, answer: _Answer, max_wait: float) -> Exception:
    provider, said = call.provider, _said(answer.body, call)
    status = f"{provider} answered {answer.status}{said}"
    if answer.status in PASSING:
        wait = _retry_after(answer.headers.get("retry-after", ""))
        if answer.status == 429:
            asked = f" and asks to wait {wait:g} seconds" if wait else ""
            todo = "Search more slowly, or check what your plan allows."
            return _Passing(SearchFailed(provider, "rate-limited", f"{status}: too many calls{asked}.", todo), wait)
        failure = SearchFailed(provider, "server-error", f"{status}.", "The fault is on its side: try again later.")
        return _Passing(failure, wait if wait <= max_wait else 0.0)
    advice = {
        401: "Check the key.",
        402: "The account has no credit left.",
        403: "Check that the key may use this service.",
        404: "Check the endpoint.",
    }
    todo = advice.get(answer.status, "Check the parameters of the call.")
    return SearchFailed(provider, "refused", f"{status}.", todo)


def _retry_after(value: str) -> float:
    """Seconds, from the header's two forms: a number, or a date."""
    value = value.strip()
    if value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _said(body: bytes, call: Call) -> str:
    """The provider's own words for what is wrong, where it answers in JSON as they all document."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for key in ("error", "message", "detail"):
        while isinstance(answer, dict) and key in answer:
            answer = answer[key]
    return f" ({_safe(answer, call)})" if isinstance(answer, str) and answer.strip() else ""


def _safe(text: str, call: Call) -> str:
    """Short, on one line, and without the key."""
    short = " ".join(text.split())
    return (short.replace(call.secret, "[key]") if call.secret else short)[:200]
