"""Read what providers answer: strict about the layout that is documented, patient with optional
fields left out.
"""

from __future__ import annotations

import html
import re

from claimlab.core.errors import SearchFailed
from claimlab.core.types import Json, JsonObject

_TAGS = re.compile(r"</?(?:strong|b|em|i|mark|span|br)\b[^>]{0,80}>", re.IGNORECASE)


def table(
    provider: str, answer: Json, *path: str, or_else: tuple[str, ...] = ()
) -> list[JsonObject]:
    """The list of objects at `path`. It may only be absent where one of the fields `or_else` shows
    that the service searched and found nothing; anything else is not the documented layout."""
    at = answer
    for step in path:
        if not isinstance(at, dict):
            raise wrong_shape(provider, path)
        at = at.get(step)
        if at is None and any(name in answer for name in or_else):
            return []
    if not isinstance(at, list) or not all(isinstance(item, dict) for item in at):
        raise wrong_shape(provider, path)
    return at


def wrong_shape(provider: str, path: tuple[str, ...]) -> SearchFailed:
    where = ".".join(path) or "the answer"
    return SearchFailed(
        provider,
        "wrong-shape",
        f"{provider} answered with JSON whose '{where}' is not laid out as documented.",
        "The service may have changed: look for a newer claimlab.",
    )


def text(value: Json) -> str | None:
    """A line of text, or null: no whitespace, no highlighting tags, no entities."""
    if not isinstance(value, str):
        return None
    plain = " ".join(html.unescape(_TAGS.sub("", value)).split())
    return plain or None


def address(value: Json) -> str | None:
    """An http(s) address, or null: a result may not smuggle in another scheme."""
    return (
        value.strip()
        if isinstance(value, str) and re.match(r"\s*https?://\S", value, re.IGNORECASE)
        else None
    )


def number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def mapping(value: Json) -> JsonObject:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def strings(value: Json) -> list[str]:
    """The strings of a list that may be missing."""
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def first(value: Json) -> JsonObject:
    """The first object of a list that may be missing."""
    return value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else {}
