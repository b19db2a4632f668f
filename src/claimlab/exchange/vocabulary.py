"""What people call their columns, best name first, in the spellings and languages that datasets are
published in.

Names are compared folded: claimReviewed, Claim_Reviewed and "claim reviewed" are one name, accents
do not count.
"""

from __future__ import annotations

import re
import unicodedata

from claimlab.core import packaged

_KNOWN = packaged.toml("claimlab.exchange", "vocabulary.toml")
NAMES: dict[str, list[str]] = _KNOWN["names"]
TAILS: dict[str, list[str]] = _KNOWN["tails"]
SPLITS: dict[str, str] = {
    word: split for split, words in _KNOWN["splits"].items() for word in words
}
UNCLEAR, ALL_FALSE, ALL_TRUE = (
    frozenset(_KNOWN[names]) for names in ("unclear", "all_false", "all_true")
)


def fold_name(name: str) -> str:
    """What two spellings of one column name have in common."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    plain = "".join(
        c for c in unicodedata.normalize("NFKD", spaced) if not unicodedata.combining(c)
    )
    return " ".join(re.sub(r"[\W_]+", " ", plain.casefold()).split())


# The names in further languages, folded: they count for less, because some are ordinary words in
# other languages.
_WORLD: dict[str, list[str]] = packaged.toml("claimlab.exchange", "columns.toml")
WORLD = {role: frozenset(map(fold_name, names)) for role, names in _WORLD.items()}

# Lower-case spellings that tell a header from a first row: "claim text", "claim_text" and
# "claimtext".
HEADER_WORDS = frozenset(
    spelling
    for names in NAMES.values()
    for name in names
    for spelling in (name, name.replace(" ", "_"), name.replace(" ", ""), name.replace(" ", "-"))
    if name not in ("y", "fake", "nr")
) | {name.casefold() for names in _WORLD.values() for name in names}
