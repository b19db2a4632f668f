"""Which kinds of edits took a text to the next: recognised by word lists and counts, whoever made
them.

The same reader is put over the released traces, to learn how often each kind occurs, and over our
own, to compare. It reads English, and it is a heuristic: `substitute` means that content words came
and went, not that they mean the same.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from claimlab.core import packaged

KINDS = (
    "substitute",
    "reorder",
    "drop",
    "generalise",
    "specify",
    "modality",
    "negate",
    "cause",
    "source",
    "evaluate",
    "contrast",
    "informal",
    "formal",
    "extend",
)
_WORD = re.compile(r"[A-Za-z][\w'’-]*|\d[\d.,]*%?")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w’'-]+")
_FIGURE = re.compile(r"\d")
SHORTER, LONGER = 0.9, 1.2  # of the words before
IN_ORDER = 0.8  # of the words that both texts share


@cache
def _marks() -> dict[str, re.Pattern[str]]:
    tables = packaged.toml("claimlab.evolve.rewrite", "edits.toml")["marks"]
    return {
        name: re.compile(rf"(?<![\w’'])(?:{'|'.join(words)})(?![\w])", re.IGNORECASE)
        for name, words in tables.items()
    }


@cache
def _stopwords() -> frozenset[str]:
    return frozenset(packaged.toml("claimlab.evolve.rewrite", "edits.toml")["stopwords"].split())


def content(text: str) -> list[str]:
    """The content words of a text, in order, without endings that only mark number."""
    words = [word.lower().rstrip(".,'’") for word in _WORD.findall(text)]
    return [
        word[:-1] if len(word) > 3 and word.endswith("s") else word
        for word in words
        if word not in _stopwords()
    ]


def edits(before: str, after: str) -> set[str]:
    """The kinds of edits that lie between two texts; none where they are the same."""
    if before == after:
        return set()
    old, new = content(before), content(after)
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    lengths = len(before.split()), len(after.split())
    shown = {kind for kind, changed in _counted(before, after).items() if changed}
    if gone and come:
        shown.add("substitute")
    if gone and lengths[1] < SHORTER * lengths[0]:
        shown.add("drop")
    if lengths[1] > LONGER * lengths[0]:
        shown.add("extend")
    if _moved(old, new):
        shown.add("reorder")
    return shown


def _counted(before: str, after: str) -> dict[str, bool]:
    def change(name: str) -> int:
        return len(_marks()[name].findall(after)) - len(_marks()[name].findall(before))

    figures = len(_FIGURE.findall(after)) - len(_FIGURE.findall(before))
    names = len(_NAME.findall(after)) - len(_NAME.findall(before))
    informal = (
        change("informal")
        + after.count("!")
        - before.count("!")
        + after.count("—")
        - before.count("—")
    )
    return {
        "generalise": figures < 0 or names < -1 or change("vague") > 0,
        "specify": figures > 0 or names > 1 or change("example") > 0,
        "modality": change("hedge") != 0 or change("certain") != 0,
        "negate": change("negation") > 0,
        "cause": change("cause") != 0,
        "source": change("source") != 0,
        "evaluate": change("evaluation") > 0,
        "contrast": change("contrast") > 0,
        "informal": informal > 0,
        "formal": informal < 0 or change("formal") > 0,
    }


def _moved(old: list[str], new: list[str]) -> bool:
    """Whether the words that both have come in another order: the longest run in order is much
    shorter than all.
    """
    place = {word: i for i, word in enumerate(old)}
    order = [place[word] for word in dict.fromkeys(new) if word in place]
    if len(order) < 4:
        return False
    tails: list[int] = []
    for at in order:
        spot = next((i for i, tail in enumerate(tails) if tail >= at), len(tails))
        tails[spot : spot + 1] = [at]
    return len(tails) < IN_ORDER * len(order)
