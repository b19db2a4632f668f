"""The tables of words that may take each other's place (`data/words.toml`), ready to be looked up
in any form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from claimlab.core import packaged
from claimlab.core.types import JsonObject
from claimlab.evolve.rewrite.english.forms import TENSES, Tense, plural, verb
from claimlab.evolve.rewrite.english.lists import words as listed

ONLY_NEW = listed("only_new")


@dataclass(frozen=True)
class Entry:
    """A form of a word in a set: the set, with the frame that it needs (object, alone, that, noun,
    other).
    """

    group: tuple[str, int]
    word: str
    form: str  # a tense, "one", "many", or "" for words that do not change
    register: str  # "f" formal, "c" colloquial, "" neither


@cache
def _raw() -> JsonObject:
    return packaged.toml("claimlab.evolve.rewrite", "words.toml")


@cache
def sets() -> dict[tuple[str, int], tuple[tuple[str, str], ...]]:
    """Every set: its words with their registers."""
    known = {}
    for frame, lines in (
        *_raw()["verbs"].items(),
        ("noun", _raw()["nouns"]["sets"]),
        ("other", _raw()["others"]["sets"]),
    ):
        for number, line in enumerate(lines):
            words = tuple(
                (w.partition("/")[0].replace("_", " "), w.partition("/")[2]) for w in line.split()
            )
            if len(words) > 1:
                known[frame, number] = words
    return known


def forms_of(frame: str, word: str) -> dict[str, str]:
    """The forms that a word of a frame takes: by tense, by number, or only itself."""
    if frame == "noun":
        return {"one": word, "many": plural(word)}
    if frame == "other":
        return {"": word}
    return {tense: verb(word).form(tense) for tense in TENSES}


@cache
def index() -> dict[str, tuple[Entry, ...]]:
    """A form, in small letters, to what it may be."""
    table: dict[str, list[Entry]] = {}
    for group, words in sets().items():
        for word, register in words:
            if word.replace(" ", "_") in ONLY_NEW or register == "x":
                continue
            for form, text in forms_of(group[0], word).items():
                table.setdefault(text.lower(), []).append(Entry(group, word, form, register))
    return {form: tuple(entries) for form, entries in table.items()}


def tense(name: str) -> Tense:
    return name  # type: ignore[return-value]


@cache
def ladders() -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(rung.replace("_", " ") for rung in rungs) for rungs in _raw()["ladders"].values()
    )


@cache
def contractions() -> dict[str, str]:
    return dict(_raw()["contractions"])


@cache
def kinds() -> tuple[tuple[str, str], ...]:
    pairs = (line.split() for line in _raw()["kinds"]["pairs"])
    return tuple((thing.replace("_", " "), kind.replace("_", " ")) for thing, kind in pairs)


@cache
def examples() -> dict[str, list[str]]:
    return dict(_raw()["examples"])


@cache
def judging() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w-])(?:{'|'.join(_raw()['judging']['words'].split())}),? ", re.IGNORECASE
    )
