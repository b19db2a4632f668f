"""Text from a dataset made fit to be shown: one line, cut, and without characters that could
repaint a page.

Dataset text is untrusted. Views escape what they print; this bounds how much there is of it.
"""

from __future__ import annotations

from claimlab.core.plain import one_line


def excerpt(text: str, limit: int = 300) -> str:
    """At most `limit` characters of `text` on one line; what is cut ends in an ellipsis."""
    head = text[
        : 4 * limit + 16
    ]  # a megabyte need not be searched for whitespace to show its first line
    line = one_line(head)
    if len(line) <= limit and len(head) == len(text):
        return line
    return line[: limit - 1].rstrip() + "…"
