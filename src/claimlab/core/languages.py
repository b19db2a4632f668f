"""Language codes and what is known of each language.

Records carry ISO 639-3. `normalise` takes whatever a dataset wrote ("fa", "per", "pt-BR",
"Persian", "zh_CN") and folds an individual language into its macrolanguage when the language table
lists the macrolanguage but not the individual: cmn -> zho, zsm -> msa, nob -> nor, pes -> fas; but
ind stays ind, since the table has both ind and msa. The table (data/languages.csv) holds family
(Glottolog), script (CLDR), word order (WALS 81A) and resource class; a cell that ends in "?" is
uncertain and stays marked so.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from claimlab.core import packaged
from claimlab.core.errors import UsageError

# Hard to distinguish for every identifier: a caller may count them as one.
CONFUSABLE = (frozenset({"msa", "ind"}), frozenset({"bos", "hrv", "srp", "hbs"}))


@dataclass(frozen=True)
class Language:
    iso3: str
    iso1: str | None
    name: str
    resource: str | None = None  # head | tail
    family: str | None = None
    script: str | None = None
    word_order: str | None = None
    uncertain: frozenset[str] = frozenset()


@cache
def table() -> dict[str, Language]:
    """The language table by ISO 639-3 code."""
    text = packaged.text("claimlab.core", "languages.csv")
    out = {}
    for row in csv.DictReader(text.splitlines()):
        facts = {k: row[k] for k in ("family", "script", "word_order")}
        out[row["iso3"]] = Language(
            iso3=row["iso3"],
            iso1=row["iso1"] or None,
            name=row["name"],
            resource=row["resource"],
            uncertain=frozenset(k for k, v in facts.items() if v.endswith("?")),
            **{k: v.rstrip("?") or None for k, v in facts.items()},
        )
    return out


@cache
def normalise(code: str) -> str | None:
    """The ISO 639-3 code for a code, tag or English name; null when nothing is known by it ("und",
    "xx", "").
    """
    if code in _common():
        return _common()[code]
    tag = code.strip().replace("_", "-")
    first, _, more = tag.partition("-")
    lang = _find(tag) or _find(first)
    if lang is None or lang.pt3 in ("und", "mul", "zxx", "mis"):
        return None
    if first == lang.pt3 and len(more) > 3 and first not in table():
        return None  # "non-rumour" is no Old Norse
    if lang.pt3 not in table():
        parent = lang.macro()
        if parent is not None and parent.pt3 in table():
            return str(parent.pt3)
    return str(lang.pt3)


def require(code: str) -> str:
    """`normalise`, or a sentence for the user."""
    iso3 = normalise(code)
    if iso3 is None:
        raise UsageError(
            f"'{code}' is not a language code or name.",
            "Give an ISO 639 code such as en, eng or pt-BR.",
        )
    return iso3


@cache
def to_iso1(code: str) -> str | None:
    """The two-letter code, going through the macrolanguage when the language itself has none: cmn
    -> zh.
    """
    lang = _find(code)
    if lang is None:
        return None
    if lang.pt1:
        return str(lang.pt1)
    parent = lang.macro()
    return str(parent.pt1) if parent is not None and parent.pt1 else None


def same(a: str, b: str, *, equivalent: Iterable[frozenset[str]] = ()) -> bool:
    """Whether two codes name one language, macrolanguages folded; `equivalent` adds groups that
    count as one.
    """
    left, right = normalise(a), normalise(b)
    if left is None or right is None:
        return False
    return left == right or any(left in group and right in group for group in equivalent)


@cache
def describe(code: str) -> Language | None:
    """What is known of a language: from the table, or just its codes and name."""
    iso3 = normalise(code)
    if iso3 is None:
        return None
    if iso3 in table():
        return table()[iso3]
    lang = _find(iso3)
    return (
        Language(iso3=iso3, iso1=to_iso1(iso3), name=str(lang.name)) if lang is not None else None
    )


@cache
def _common() -> dict[str, str]:
    """The codes of the language table, which need no other."""
    return {
        code: language.iso3
        for language in table().values()
        for code in (language.iso3, language.iso1)
        if code
    }


@cache
def _find(code: str) -> Any:
    if code[:1].isdigit():  # a number or a date, of which a table may hold many
        return None
    import iso639  # 0.1 s of tables: only when another code is looked up
    from iso639.exceptions import DeprecatedLanguageValue, InvalidLanguageValue

    for spelling in dict.fromkeys((code, code.lower(), code.title())):
        try:
            return iso639.Lang(spelling)
        except DeprecatedLanguageValue as error:  # "iw" -> Hebrew and its like
            if error.change_to:
                return iso639.Lang(error.change_to)
        except InvalidLanguageValue:
            continue
    return None
