"""What every HTTP call shares: one trust store, no redirects, bounded bodies, the wait that an
endpoint asks for.
"""

from __future__ import annotations

import math
import ssl
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING

from claimlab.core.calls.bounded import WrongEncoding, read_bounded
from claimlab.core.errors import NotTrusted
from claimlab.core.grants import Grant, host_of
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__

if TYPE_CHECKING:
    import httpx2


USER_AGENT = f"claimlab/{__version__}"
_TODO = "Ask each host with its own leave."
ERROR_BYTES = 1 << 16  # of an error's body that are read; a sentence is wanted, not the rest


class ErrorAnswer(Exception):
    """An answer that is not a success, redirects included, with the beginning of its body."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(f"HTTP {status}")
        self.status, self.headers, self.body = status, headers, body


async def refuse_errors(response: httpx2.Response) -> None:
    """A response hook that raises for everything but a success, before the body is read: no error
    can fill the memory, and no redirect takes the text of a dataset elsewhere."""
    if response.is_success:
        return
    body = b""
    with suppress(WrongEncoding):
        body = await read_bounded(response, ERROR_BYTES, cut=True)
    raise ErrorAnswer(response.status_code, response.headers, body)


def client_settings(leave: Grant) -> JsonObject:
    """For any httpx client, which asks the host of `leave` and no other."""

    async def refuse_others(request: httpx2.Request) -> None:
        if _origin(request.url) != _origin(httpx2.URL(leave.value)):
            host = host_of(str(request.url))
            raise NotTrusted(f"{host} was not allowed, only {leave.value}.", _TODO, needs=[])

    import httpx2

    return {
        "verify": trust(),
        "timeout": (
            None
            # the caller bounds a call as a whole: a server that drips would never reach a read
            # timeout
        ),
        "follow_redirects": False,
        "headers": {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip"},
        "event_hooks": {"request": [refuse_others], "response": [refuse_errors]},
    }


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


@cache
def trust() -> ssl.SSLContext:
    """One context for all calls: reading the certificates takes longer than the rest of opening a
    client.
    """
    import httpx2

    return httpx2.create_ssl_context()


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the endpoint asks us to wait, from a number or a date; null when it does not
    say.
    """
    try:
        if headers.get("retry-after-ms"):
            wait = float(headers["retry-after-ms"]) / 1000
        else:
            wait = _seconds(headers.get("retry-after", "").strip())
    except (ValueError, TypeError):
        return None
    return max(0.0, wait) if math.isfinite(wait) else None


def _seconds(value: str) -> float:
    with suppress(ValueError):
        return float(value)
    moment = parsedate_to_datetime(value)
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (moment - datetime.now(UTC)).total_seconds()
