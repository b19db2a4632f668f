"""The two keys of a text. By its `identity` two texts are the same: compatibility forms, case,
invisible characters and the digits of a script aside (Unicode's NFKC_Casefold, and decimal digits).
By its `copy_key` one may be a copy of the other: accents, points of Arabic and Hebrew, letters that
Arabic and Urdu write each in its own way, the i of Turkish, traditional and simplified Chinese, and
letters of Cyrillic and Greek that look like Latin ones aside, too. Vowel signs of Hindi and its
neighbours stay: they make other words.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

from claimlab.core import packaged

# Characters without a look of their own (Default_Ignorable_Code_Point).
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_IGNORED = re.compile(f"[{IGNORABLE}]")
# Accents of Latin, Greek and Cyrillic, points of Hebrew, vowel signs and the long stroke of Arabic,
# and the dot below of Hindi and its neighbours.
_POINTS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
    "\u093c\u09bc\u0a3c\u0abc\u0b3c]"
)
# What one letter is written as in Arabic, Persian and Urdu.
_ARABIC = {
    "\u064a": "\u06cc",
    "\u0649": "\u06cc",
    "\u0643": "\u06a9",
    "\u0671": "\u0627",
    **dict.fromkeys("\u0629\u06c1\u06be\u06c3\u06d5", "\u0647"),
}
# Small letters that look like Latin ones (confusables of UTS 39), and the i without a dot.
_LOOKS = dict(zip("аеорсухіјѕһԁԛԝαινορυκχı", "aeopcyxijshdqwaivopukxi", strict=True))


def identity(text: str) -> str:
    """The form by which two texts are the same, whitespace not yet collapsed."""
    folded = _IGNORED.sub("", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFKC", folded).translate(_digits())


def copy_key(text: str) -> str:
    """The looser form by which one text may be a copy of another."""
    bare = _POINTS.sub("", unicodedata.normalize("NFD", identity(text)))
    return unicodedata.normalize("NFC", bare).translate(_letters())


@cache
def _digits() -> dict[int, str]:
    """The decimal digits of every script, each as that of ASCII."""
    return {
        code: str(unicodedata.decimal(chr(code)))
        for code in range(0x80, sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Nd"
    }


@cache
def _letters() -> dict[int, str]:
    han = packaged.toml("claimlab.text", "han.toml")
    pairs = zip(han["traditional"], han["simplified"], strict=True)
    return {ord(letter): plain for letter, plain in {**dict(pairs), **_ARABIC, **_LOOKS}.items()}
