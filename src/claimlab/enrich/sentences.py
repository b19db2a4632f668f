"""One text as a reader would cut it, in any language and without a model: words, sentences and
paragraphs. Words are those of the whole house (`text/tokens.py`).
"""

from __future__ import annotations

import re

from claimlab.text.tokens import words

# ICU ends a sentence after these when a capital follows ("Dr. Silva"); a reader does not.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[^\W\d](?:\.\w)*|\d+[oaºª]|dr|dra|sr|sra|prof|mr|mrs|ms|st|no|nº|art|av|gen|lt|col|capt|sgt|jr|hon|rev|gov|sen|rep|dep|pres|min|vs|etc|approx|bzw|ca)\.$",
    re.IGNORECASE,
)


_GREEK_QUESTION = re.compile("([\u0370-\u03ff\u1f00-\u1fff][;\u037e])\\s+")


def first_lines(text: str, n: int) -> str:
    """The first `n` words with their line ends, which end sentences."""
    end = 0
    for word in (written := words(text))[:n]:
        end = text.index(word, end) + len(word)
    return text if len(written) <= n else text[:end]


def first_paragraph(text: str) -> str:
    """The first line that holds anything."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def sentences(text: str) -> list[str]:
    """The sentences, in order and stripped. A line end always ends one."""
    from icu4py.breakers import SentenceBreaker

    parts = []
    # In Greek a semicolon asks, and ICU does not end a sentence there.
    for line in _GREEK_QUESTION.sub("\\1\n", text).splitlines():
        open_part = ""
        for part in SentenceBreaker(line, "en"):  # the rules are the same for every locale
            open_part += part
            if _ABBREVIATION.search(open_part.rstrip()) and len(open_part.rstrip()) < len(
                line.rstrip()
            ):
                continue
            parts.append(open_part.strip())
            open_part = ""
        if open_part.strip():
            parts.append(open_part.strip())
    return [s for s in parts if any(map(str.isalnum, s))]
