"""Remove keys from the responses of endpoints: one may repeat a key, also reversed or in another
encoding.
"""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from claimlab.core.plain import each_text
from claimlab.core.types import Json

if TYPE_CHECKING:
    pass

KEY_MARK = "[key]"
# characters; a shorter "key" is a placeholder, and taking it out would damage ordinary words
_SHORTEST_KEY = 8


def scrub(text: str, secret: str | None) -> str:
    """`text` without `secret`, in any of the forms that an endpoint may give it."""
    if secret is None or len(secret) < _SHORTEST_KEY:
        return text
    forms, pattern = _forms(secret)
    lowered = text.lower()
    return pattern.sub(KEY_MARK, text) if any(form in lowered for form in forms) else text


def scrubbed(value: Json, secret: str | None) -> Json:
    """The same for every string in a JSON value."""
    return each_text(value, lambda text: scrub(text, secret))


def excerpt(text: str, secret: str | None, most: int = 300) -> str:
    """An endpoint's own words for a message: without the key, on one line, shortened."""
    return " ".join(scrub(text, secret).split())[:most]


@lru_cache(maxsize=32)
def _forms(secret: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    plain = [secret, quote(secret, safe=""), secret.encode().hex()]
    forms = [*plain, *(form[::-1] for form in plain), *_base64(secret), *_base64(secret[::-1])]
    longest_first = sorted({form.lower() for form in forms}, key=lambda form: (-len(form), form))
    return tuple(longest_first), re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)


def _base64(secret: str) -> list[str]:
    """The characters that base64 has for `secret` wherever it begins in the encoded text, without
    the ones at the ends that depend on its neighbours."""
    raw = secret.encode()
    forms = []
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode("ascii")
        inner = encoded[(0, 2, 3)[shift] : (shift + len(raw)) * 8 // 6]
        forms += [inner, inner.translate(str.maketrans("+/", "-_"))]
    return forms
