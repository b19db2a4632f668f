"""Whether a word with a capital at the start of a sentence is a common word or a name."""

from __future__ import annotations

from functools import cache

from claimlab.core import packaged
from claimlab.evolve.rewrite.english.forms import verb_forms
from claimlab.evolve.rewrite.english.lists import words

# Endings of common words, and names that end so.
_ENDINGS = (
    "tion",
    "sion",
    "ment",
    "ness",
    "ance",
    "ence",
    "ity",
    "ism",
    "ed",
    "ing",
    "al",
    "ous",
    "ive",
    "ic",
    "ary",
    "ful",
    "less",
    "able",
    "ible",
    "ants",
    "ents",
    "ers",
    "ies",
    "ures",
    "tions",
    "ments",
)
_NAMES = words("names")


@cache
def _common() -> frozenset[str]:
    return frozenset(packaged.toml("claimlab.evolve.rewrite", "common.toml")["words"].split())


def common(word: str) -> bool:
    """A word of everyday English, in any form that the lists know; what is not known is taken for a
    name.
    """
    plain = word.lower().strip(",.;:'’\"()")
    if word[1:] != word[1:].lower() or any(c.isdigit() for c in word):
        return False
    parts = plain.split("-")
    return all(_one(part) for part in parts) if parts else False


def _one(word: str) -> bool:
    known = _common()
    return (
        word in known
        or (word.endswith("s") and word[:-1] in known)
        or (word.endswith("'s") and word[:-2] in known)
        or (word.endswith("ly") and len(word) > 5)
        or (word.endswith(_ENDINGS) and len(word) > 5 and word not in _NAMES)
        or word in verb_forms()
    )
