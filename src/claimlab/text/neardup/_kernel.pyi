from typing import Any

from numpy.typing import NDArray

Buffer = NDArray[Any] | bytes | bytearray

def scan(texts: list[str], start: int, stop: int, table: Buffer, flags: Buffer, /) -> bytes: ...
def sketch(
    texts: list[str],
    start: int,
    stop: int,
    folded: Buffer,
    table: Buffer,
    extra: Buffer,
    ngram: int,
    word: bool,
    salt: Buffer,
    bands: int,
    rows: int,
    lanes: int,
    keys: Buffer,
    bits: Buffer,
    hashes: Buffer,
    counts: Buffer,
    /,
) -> None: ...
def match(
    packed: Buffer,
    bits: Buffer,
    lanes: int,
    counts: Buffer,
    share: float,
    limit: int,
    second: Buffer | None,
    /,
) -> tuple[bytes, bytes]: ...
def sift(
    codes: Buffer, bits: Buffer, lanes: int, counts: Buffer, share: float, keep: Buffer, /
) -> None: ...
def verify(
    texts: list[str],
    folded: Buffer,
    table: Buffer,
    extra: Buffer,
    ngram: int,
    word: bool,
    codes: Buffer,
    both: Buffer,
    either: Buffer,
    /,
) -> None: ...
