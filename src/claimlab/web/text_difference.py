"""Two texts in one, from start to end: the words that both have, or only one of them."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal

from claimlab.web.workspace import Shape

MOST_WORDS = 2_000  # of each text: more take seconds to compare
_PIECES = re.compile(r"\s+|[^\s]+")


class TextPiece(Shape):
    """Words that both texts have, or only one of them."""

    text: str
    only: Literal["", "first", "second"] = ""


def difference(one: str, other: str) -> list[TextPiece]:
    """Both texts in one, from start to end; very long ones are not compared."""
    a, b = _PIECES.findall(one), _PIECES.findall(other)
    if max(len(a), len(b)) > 2 * MOST_WORDS:
        return []
    out: list[TextPiece] = []
    for how, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if how == "equal":
            out.append(TextPiece(text="".join(a[i:j])))
            continue
        out += [TextPiece(text="".join(a[i:j]), only="first")] if j > i else []
        out += [TextPiece(text="".join(b[k:m]), only="second")] if m > k else []
    return out
