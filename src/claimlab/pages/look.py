"""The look of every page, from the one stylesheet: its text, its colours and sizes alone, for pages
that lay themselves out, and the colours as charts take them.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

STYLESHEET = "look.css"
_END = "/* End of colours and sizes. */"
_DARK = "@media (prefers-color-scheme: dark)"
_COLOUR = re.compile(r"--([a-z]+(?:-[a-z]+)*): (#[0-9a-f]{6});")


@cache
def stylesheet() -> str:
    """The whole stylesheet."""
    return (resources.files("claimlab.pages") / "templates" / STYLESHEET).read_text("utf-8")


def names() -> str:
    """The colours and sizes alone, light and dark."""
    return stylesheet().partition(_END)[0]


@cache
def colours(*, dark: bool = False) -> dict[str, str]:
    """The colours by name, as light pages or dark ones have them."""
    light, _, other = names().partition(_DARK)
    return dict(_COLOUR.findall(other if dark else light))
