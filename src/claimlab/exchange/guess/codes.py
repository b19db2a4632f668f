"""Codes whose meaning the file itself gives: the name of their column says it (is_fake), or they
are T and F.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from claimlab.core.labels import LabelMap, fold
from claimlab.exchange.vocabulary import ALL_FALSE, ALL_TRUE, fold_name

YES, NO = (
    frozenset({"1", "1.0", "true", "yes", "y", "t"}),
    frozenset({"0", "0.0", "false", "no", "n", "f"}),
)
_PAIR = re.compile(r"\b(\w{1,3})\s*[:=]\s*([^,;:=()\[\]]+)")
# Abbreviations that are only believed together: an F alone may be a female speaker.
LETTERS: tuple[dict[str, str], ...] = (
    {"t": "true", "f": "false", "u": "unknown"},
    {"r": "true", "f": "false"},
)


def documented(column: str, values: Collection[str], verdicts: LabelMap) -> LabelMap | None:
    """The map of the codes of a label column, where its name or the codes themselves say what they
    mean.
    """
    codes = {value: fold(value) for value in values if value.strip()}
    known = set(codes.values())
    table = (
        _by_name(fold_name(column), known) or _listed(column, known, verdicts) or _letters(known)
    )
    if not codes or table is None:
        return None
    meaning = {value: table[code] for value, code in codes.items()}
    words = ", ".join(f"{value} is {verdict}" for value, verdict in sorted(meaning.items()))
    return replace(verdicts, name=f"{column}: {words}", verdicts=meaning, version=1, exact=True)


def _by_name(name: str, codes: set[str]) -> dict[str, str] | None:
    if not codes <= YES | NO or not (name in ALL_FALSE or name in ALL_TRUE):
        return None
    yes, no = ("false", "true") if name in ALL_FALSE else ("true", "false")
    return {code: yes if code in YES else no for code in codes}


def _listed(column: str, codes: set[str], verdicts: LabelMap) -> dict[str, str] | None:
    """Codes that the name of the column explains: "label (0: fake, 1: real)"."""
    words = {fold(code): verdicts.verdict(word) for code, word in _PAIR.findall(column)}
    table = {code: verdict for code, verdict in words.items() if verdict is not None}
    return table if codes <= set(table) else None


def _letters(codes: set[str]) -> dict[str, str] | None:
    return next(
        (t for t in LETTERS if codes <= set(t) and {"true", "false"} <= {t[c] for c in codes}), None
    )
