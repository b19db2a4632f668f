"""Words that a user wrote: one where only a few are known, with the near miss in the message; one
or several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from claimlab.core.errors import UnknownName

Word = TypeVar("Word", bound=str)


def one_of(known: Sequence[Word], word: str, argument: str) -> Word:
    """`word` as one of `known` (the values of a Literal); `argument` names it in the message."""
    for one in known:
        if word == one:
            return one
    raise UnknownName(f"choice for `{argument}`", word, known)


def each_of(names: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several, as a user may give either."""
    return (names,) if isinstance(names, str) else tuple(names)
