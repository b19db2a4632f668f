"""What took one text to the next, computed from the two texts, so that a log of it cannot be wrong:
applied to the first it gives the second. In any language.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from claimlab.core.types import JsonObject
from claimlab.text.tokens import UNSPACED

_ONE = "[" + re.sub(r"\\x\{([0-9a-f]+)\}", lambda code: f"\\U{code[1]:0>8}", UNSPACED) + "]"
UNSPACED_CHARACTER = re.compile(_ONE)
# Accents, points and vowel signs, which Python does not count as parts of words.
_SIGNS = (
    r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u200c\u200d"
)
# A number, a character of a script without spaces, a word, or a mark; each with the blanks behind.
_PIECE = re.compile(
    rf"(?:\d+(?:[.,]\d+)*|{_ONE}(?:(?!\w){_ONE})*|[^\W\d](?:(?!{_ONE})[\w'’{_SIGNS}-])*|\S)\s*|\s+"
)
Log = list[JsonObject]


def pieces(text: str) -> list[str]:
    """A text cut into words, numbers and marks that together are the text."""
    return _PIECE.findall(text)


def is_word(piece: str) -> bool:
    return piece[0].isalpha()


def is_number(piece: str) -> bool:
    return piece[0].isdecimal()


def changes(before: str, after: str) -> Log:
    """The log: where (a character of the first text), what was there, and what the second has in
    its place.
    """
    old, new = pieces(before), pieces(after)
    places = [0]
    for piece in old:
        places.append(places[-1] + len(piece))
    log = []
    for tag, start, end, from_new, to_new in SequenceMatcher(None, old, new, False).get_opcodes():
        if tag != "equal":
            gone, come = "".join(old[start:end]), "".join(new[from_new:to_new])
            name = "replace" if gone and come else "remove" if gone else "add"
            log.append({"name": name, "at": places[start], "before": gone, "after": come})
    return log


def applied(text: str, log: Log) -> str:
    """The text after the changes of its log."""
    for change in reversed(log):
        end = change["at"] + len(change["before"])
        text = text[: change["at"]] + change["after"] + text[end:]
    return text
