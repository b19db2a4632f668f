"""Random streams that belong to one thing: the same seed and the same names give the same draws,
whatever else runs.
"""

from __future__ import annotations

import hashlib
import random


def stream_seed(seed: int, *names: object) -> int:
    """A seed of its own for the thing so named; 63 bits, since endpoints take no larger ones."""
    text = "\x1f".join(str(name) for name in (seed, *names))
    return (
        int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
        >> 1
    )


def stream(seed: int, *names: object) -> random.Random:
    """A generator for the thing so named."""
    return random.Random(stream_seed(seed, *names))


def share_of(seed: int, *names: object) -> float:
    """A number in [0, 1) for the thing so named."""
    return (stream_seed(seed, *names) >> 10) / 2**53
