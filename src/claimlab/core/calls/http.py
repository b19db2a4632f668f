"""What every HTTP call shares: one trust store, no redirects, bounded bodies, the wait that an
endpoint asks for.

Read an answer without trusting its size: bytes are counted after unpacking, and reading stops at
the limit.

Remove keys from the responses of endpoints: one may repeat a key, also reversed or in another
encoding.
"""

from __future__ import annotations

import base64
import math
import re
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from claimlab.core.plain import each_text
from claimlab.core.types import Json, JsonObject
from claimlab.core.version import __version__

if TYPE_CHECKING:
    import httpx2


USER_AGENT = f"claimlab/{__version__}"
MAX_ERROR = 1 << 16  # bytes of an error's body that are read; a sentence is wanted, not the rest


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
        body = await read_bounded(response, MAX_ERROR, cut=True)
    raise ErrorAnswer(response.status_code, response.headers, body)


def client_settings() -> JsonObject:
    """For any httpx client."""
    return {
        "verify": trust(),
        "timeout": (
            None
            # the caller bounds a call as a whole: a server that drips would never reach a read
            # timeout
        ),
        "follow_redirects": False,
        "headers": {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip"},
        "event_hooks": {"response": [refuse_errors]},
    }


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


STEP = 1 << 16
ENCODINGS = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}


class TooLarge(Exception):
    pass


class WrongEncoding(Exception):
    pass


class Response(Protocol):
    """The two things this needs of an HTTP response."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    def aiter_raw(self) -> AsyncIterator[bytes]: ...


async def read_bounded(response: Response, limit: int, *, cut: bool = False) -> bytes:
    """The body, unpacked, of at most `limit` bytes; a longer one is an error, or is cut there.

    A small body that unpacks to a huge one never exists in memory.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ENCODINGS:
        raise WrongEncoding(encoding)
    window = ENCODINGS[encoding]
    unpack = zlib.decompressobj(window) if window is not None else None
    body = bytearray()
    async for chunk in response.aiter_raw():
        if unpack is None:
            body += chunk
        else:
            _unpack(unpack, chunk, body, limit, encoding)
        if len(body) > limit:
            if not cut:
                raise TooLarge
            break
    return bytes(body[:limit])


def _unpack(
    unpack: zlib._Decompress, chunk: bytes, body: bytearray, limit: int, encoding: str
) -> None:
    try:
        while chunk and len(body) <= limit:
            body += unpack.decompress(chunk, STEP)
            chunk = unpack.unconsumed_tail
    except zlib.error:
        raise WrongEncoding(f"{encoding}, but it does not unpack") from None


MARK = "[key]"
# characters; a shorter "key" is a placeholder, and taking it out would damage ordinary words
_SHORTEST = 8


def scrub(text: str, secret: str | None) -> str:
    """`text` without `secret`, in any of the forms that an endpoint may give it."""
    if secret is None or len(secret) < _SHORTEST:
        return text
    forms, pattern = _forms(secret)
    lowered = text.lower()
    return pattern.sub(MARK, text) if any(form in lowered for form in forms) else text


def scrubbed(value: Json, secret: str | None) -> Json:
    """The same for every string in a JSON value."""
    return each_text(value, lambda text: scrub(text, secret))


def excerpt(text: str, secret: str | None, most: int = 300) -> str:
    """An endpoint's own words for a message: without the key, on one line, shortened."""
    return " ".join(scrub(text, secret).split())[:most]


@lru_cache(maxsize=32)
def _forms(secret: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    plain = [secret, quote(secret, safe=""), secret.encode().hex()]
    forms = [*plain, *(form[::-1] for form in plain), *_base64(secret), *_base64(secret[::-1])]
    longest_first = sorted({form.lower() for form in forms}, key=lambda form: (-len(form), form))
    return tuple(longest_first), re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)


def _base64(secret: str) -> list[str]:
    """The characters that base64 has for `secret` wherever it begins in the encoded text, without
    the ones at the ends that depend on its neighbours."""
    raw = secret.encode()
    forms = []
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode("ascii")
        inner = encoded[(0, 2, 3)[shift] : (shift + len(raw)) * 8 // 6]
        forms += [inner, inner.translate(str.maketrans("+/", "-_"))]
    return forms
