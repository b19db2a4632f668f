"""Text of unknown origin made harmless for a terminal, a chart or a page.

A control character can repaint a terminal, set its title or end the process that draws a chart; a
direction override can make a file name or a label read as another. Data is full of both, by
accident and on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from claimlab.core.types import Json

# C0 without tab and line feed, delete, C1, line separators, direction embeddings, overrides and
# isolates, halves of surrogate pairs, and what XML cannot hold.
_STEERING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
)
_ANY = re.compile(f"[{_STEERING}]")
REPLACEMENT = "\ufffd"


def plain(text: str) -> str:
    """`text` with every steering character shown as U+FFFD; tabs and line feeds stay, a CRLF is a
    line feed.
    """
    return _ANY.sub(REPLACEMENT, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """`text` without steering characters and on one line, so that no value can pretend to be a line
    of its own.
    """
    return " ".join(plain(text.replace("\r", "\n")).split())


def each_text(value: Json, change: Callable[[str], str]) -> Json:
    """`value` with every text in it changed: lists and mappings are walked, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {each_text(k, change): each_text(v, change) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [each_text(v, change) for v in value]
    return value


def whole(text: str) -> str:
    """Text in which half characters (lone surrogates), which no table or index can hold, are
    \ufffd.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def escape_json(text: str) -> str:
    """JSON text with steering characters as \\u escapes: the same value, safe to print."""
    return _ANY.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def slug(text: str, *, longest: int = 60, any_script: bool = False) -> str:
    """Letters, digits and dashes only: safe as a file name and as an anchor. In lower-case ASCII;
    with `any_script`, letters stay as they are."""
    letters = text if any_script else text.lower()
    words = "".join(
        c if c.isalnum() and (any_script or c.isascii()) else " " for c in letters
    ).split()
    return "-".join(words)[:longest]
