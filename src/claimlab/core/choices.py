"""Words that a user wrote: one where only a few are known, with the near miss in the message; one
or several.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from claimlab.core.errors import UnknownName

Word = TypeVar("Word", bound=str)
Name = TypeVar("Name", bound=str | Path)


def one_of(choices: Sequence[Word], word: str, argument: str) -> Word:
    """`word` as one of `known` (the values of a Literal); `argument` names it in the message."""
    for choice in choices:
        if word == choice:
            return choice
    raise UnknownName("choice", word, choices, f"'{word}' is not a choice of `{argument}`.")


def each_of(names: Name | Sequence[Name]) -> tuple[Name, ...]:
    """One name or path, or several, as a user may give either."""
    return (names,) if isinstance(names, str | Path) else tuple(names)
