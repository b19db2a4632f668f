"""Forms of English words: verbs by tense and person, plurals, and the article before a word.

Regular endings are rules; what is irregular is in `data/verbs.toml`. A verb of several words
("carry out") is inflected in its first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from claimlab.core import packaged
from claimlab.evolve.rewrite.english.lists import words

YEAR = r"(?:1[6-9]|20)\d\d"  # a pattern
Tense = Literal["base", "s", "ing", "past", "participle"]
TENSES: tuple[Tense, ...] = ("base", "s", "ing", "past", "participle")

_DOUBLED = re.compile(r"^[^aeiou]*[aeiou][^aeiouwxy]$")
_ARTICLE = re.compile(r"(?<![\w'’.-])(a|an)(\s+)([\w][\w'’.-]*)", re.IGNORECASE)
_SOUNDS_LIKE_YOU = re.compile(
    r"(?:uni(?!n|m)|use|usu|eu|one\b|once\b|ut[ei]|ubi|u\.)", re.IGNORECASE
)
_SILENT_H = re.compile(r"(?:hour|honest|honou?r|heir)", re.IGNORECASE)
_STRESSED = words("stressed")
_PLURALS = {
    "person": "people",
    "child": "children",
    "man": "men",
    "woman": "women",
    "crisis": "crises",
    "life": "lives",
}


@dataclass(frozen=True)
class Verb:
    base: str
    s: str
    ing: str
    past: str
    participle: str

    def form(self, tense: Tense) -> str:
        return str(getattr(self, tense))


@cache
def _table() -> dict[str, tuple[str, ...]]:
    raw = packaged.toml("claimlab.evolve.rewrite", "verbs.toml")
    return {line.split()[0]: tuple(line.split()[1:]) for line in raw["irregular"]}


@cache
def known_verbs() -> frozenset[str]:
    """The verbs that a sentence is searched for; any other word is not taken for one."""
    raw = packaged.toml("claimlab.evolve.rewrite", "verbs.toml")
    return frozenset((*raw["regular"].split(), *_table()))


@cache
def verb(base: str) -> Verb:
    """All forms of a verb."""
    head, _, rest = base.partition(" ")
    s, ing, past, participle = _forms(head)
    more = f" {rest}" if rest else ""
    return Verb(base, s + more, ing + more, past + more, participle + more)


def _forms(base: str) -> tuple[str, str, str, str]:
    s = _with_s(base)
    stem = base[:-1] if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) else base
    stem = stem + stem[-1] if _DOUBLED.match(base) or base in _STRESSED else stem
    ing = base[:-2] + "ying" if base.endswith("ie") else stem + "ing"
    past = (
        base[:-1] + "ied"
        if base.endswith("y") and base[-2:-1] not in "aeiou"
        else base + "d"
        if base.endswith("e")
        else stem + "ed"
    )
    known = _table().get(base)
    return (s, ing, past, past) if known is None else (s, ing, known[0], known[-1])


def _with_s(word: str) -> str:
    if word in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[word]
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


@cache
def verb_forms() -> dict[str, tuple[tuple[str, Tense], ...]]:
    """A word to the verbs and forms that it may be: "led" to lead (past, participle)."""
    table: dict[str, list[tuple[str, Tense]]] = {}
    for base in sorted(known_verbs()):
        for tense in TENSES:
            table.setdefault(verb(base).form(tense), []).append((base, tense))
    return {word: tuple(readings) for word, readings in table.items()}


def lemma(word: str, *tenses: Tense) -> str | None:
    """The verb that `word` is a form of, in one of these tenses; null where it is not a known
    one.
    """
    return next(
        (
            base
            for base, tense in verb_forms().get(word.lower(), ())
            if not tenses or tense in tenses
        ),
        None,
    )


def plural(noun: str) -> str:
    head, _, last = noun.rpartition(" ")
    word = _PLURALS.get(last) or _with_s(last)
    return f"{head} {word}" if head else word


def is_plural(noun: str) -> bool:
    """Whether the last word of a noun phrase looks like several."""
    last = noun.split()[-1].lower().strip(",.;:'’\"") if noun.split() else ""
    if last in _PLURALS.values() or last in (
        "these",
        "those",
        "many",
        "they",
        "we",
        "media",
        "data",
        "police",
        "others",
    ):
        return True
    return (
        len(last) > 3
        and last.endswith("s")
        and not last.endswith(("ss", "us", "is", "'s", "ics", "news", "series"))
    )


def article(word: str) -> str:
    """ "a" or "an", by the sound that `word` starts with."""
    if _SILENT_H.match(word):
        return "an"
    if word[:1].isdigit():
        return (
            "an"
            if word.startswith("8") or re.match(r"1[18](?:,\d{3})*(?![\d,])|18\d\d\b", word)
            else "a"
        )
    letters = word.split("-")[0].split("'")[0]
    if (len(letters) > 1 and letters.isupper()) or re.match(
        r"[a-z][A-Z]", letters
    ):  # spelled out: an FDA, an mRNA
        return "an" if letters[0].upper() in "AEFHILMNORSX" else "a"
    return "an" if letters[:1].lower() in "aeiou" and not _SOUNDS_LIKE_YOU.match(letters) else "a"


def fix_articles(text: str) -> str:
    """Every "a" and "an" as the next word wants it; the letter A of a name ("vitamin A and") is
    left alone.
    """

    def fixed(match: re.Match[str]) -> str:
        if match[1] == "A" and not _opens(text, match.start()):
            return match[0]
        wanted = article(match[3])
        return (wanted.capitalize() if match[1][0].isupper() else wanted) + match[2] + match[3]

    return _ARTICLE.sub(fixed, text)


def _opens(text: str, at: int) -> bool:
    """Whether a sentence starts here."""
    return at == 0 or text[:at].rstrip()[-1:] in ".!?:—"
