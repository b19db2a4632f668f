"""Text from a dataset made fit to be shown: one line, cut, and without characters that could repaint a page.

Dataset text is untrusted. Views escape what they print; this bounds how much there is of it.
"""

from __future__ import annotations

import re

# Controls, line and paragraph separators, and the marks that turn the direction of everything after them.
_STEERING = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_BLANKS = re.compile(r"\s+")


def excerpt(text: str, limit: int = 300) -> str:
    """At most `limit` characters of `text` on one line; what is cut ends in an ellipsis."""
    head = text[: 4 * limit + 16]  # a megabyte need not be searched for blanks to show its first line
    plain = _BLANKS.sub(" ", _STEERING.sub("\ufffd", head)).strip()
    if len(plain) <= limit and len(head) == len(text):
        return plain
    return plain[: limit - 1].rstrip() + "…"
