"""Read an answer without trusting its size: bytes are counted after unpacking, and reading stops at
the limit.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    pass

BYTES_AT_A_TIME = 1 << 16
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
            body += unpack.decompress(chunk, BYTES_AT_A_TIME)
            chunk = unpack.unconsumed_tail
    except zlib.error:
        raise WrongEncoding(f"{encoding}, but it does not unpack") from None
