"""Numbers in sentences."""

from __future__ import annotations


def several(n: int, noun: str, plural: str | None = None) -> str:
    """`n` things in words: 1 record, 1,200 records."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {plural or noun + 's'}"


def verb(n: int, one: str = "is", many: str = "are") -> str:
    """The verb that agrees with `n` things."""
    return one if n == 1 else many


def several_of(n: int, total: int, noun: str) -> str:
    """`n` of `total` things in words: 1 of 50 records, 1 of 1 record."""
    return f"{n:,} of {several(total, noun)}"
