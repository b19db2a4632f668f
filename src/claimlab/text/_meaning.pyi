from typing import Any

from numpy.typing import NDArray

Buffer = NDArray[Any]

def product(
    bytes: Buffer, rows: int, columns: int, weights: Buffer, start: Buffer, out: Buffer, /
) -> None: ...
def convolve(
    places: Buffer,
    texts: Buffer,
    table: Buffer,
    width: int,
    own: int,
    products: int,
    order: int,
    left: int,
    bias: Buffer,
    weights: Buffer,
    start: Buffer,
    second_bias: Buffer,
    scale: float,
    out: Buffer,
    at: int,
    /,
) -> None: ...
def pool(
    places: Buffer,
    texts: Buffer,
    table: Buffer,
    width: int,
    convolved: Buffer,
    small: float,
    out: Buffer,
    /,
) -> None: ...
def use(name: str | None, /) -> bool: ...
