"""Techniques, degrees and resource classes, from the words that the card, the notes and the scripts
use.

The keys of techniques index our list of 36 (data/techniques.csv), the one of two published lists
that `technique_keys` most likely means. Keys 37 to 39 stand for three ways of editing real news
whose order is published nowhere twice alike: they are kept as they are, not named.
"""

from __future__ import annotations

import csv
import re
from functools import cache

from claimlab.core import packaged

# card: minor/moderate/critical; scripts: light/moderate/complete (real),
# inconspicuous/moderate/alarming (fake); experiment notes also: medium; datasheet: low/medium/high;
# F3, by some of the same authors: major
DEGREES = {
    "minor": ("minor", "light", "low", "inconspicuous", "subtle"),
    "moderate": ("moderate", "medium", "major"),
    "critical": ("critical", "complete", "high", "alarming"),
}
EDITS = {"rewrite": "rewrite", "polish": "polish", "refine": "refine", "edit": "refine"}
RESOURCES = {"head": ("head", "bighead", "high"), "tail": ("tail", "longtail", "low")}
_DEGREE_OF = {word: degree for degree, words in DEGREES.items() for word in words}
_RESOURCE_OF = {word: name for name, words in RESOURCES.items() for word in words}


@cache
def techniques() -> dict[int, str]:
    """The 36 manipulation techniques by key."""
    text = packaged.text("claimlab.catalog.readers.bluff", "techniques.csv")
    return {int(row["key"]): row["name"] for row in csv.DictReader(text.splitlines())}


@cache
def technique_names(keys: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names for "[10, 32]", "10;32" or "['polish']"; and the keys that no list names."""
    if keys is None:
        return (), ()
    named, strange = [], []
    for key in re.findall(r"[A-Za-z]+|\d+", keys):
        name = techniques().get(int(key)) if key.isdigit() else EDITS.get(key.lower())
        if name is not None:
            named.append(name)
        else:
            strange.append(key)
    return tuple(named), tuple(strange)


@cache
def degree(word: str | None) -> str | None:
    """minor, moderate or critical; null when the word is not known. "light change (10-20%)" reads
    by its first word.
    """
    if word is None:
        return None
    first = re.match(r"\s*([A-Za-z]+)", word)
    return _DEGREE_OF.get(first.group(1).lower()) if first else None


@cache
def resource_class(word: str | None) -> str | None:
    """head or tail."""
    return None if word is None else _RESOURCE_OF.get(re.sub(r"[^a-z]", "", word.lower()))
