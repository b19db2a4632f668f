"""Take out of texts what gives labels away: words, links, and how a text is typed. Nothing is left
in its place: a placeholder would occur wherever the word did, and so give the same label away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import polars as pl

from claimlab.text.rows import cut_out
from claimlab.text.tokens import UNSPACED
from claimlab.text.urls import PLACEHOLDER, strip_urls

Mask = Literal[
    "giveaways", "keywords", "urls", "punctuation", "digits", "case", "typography", "whitespace"
]
WORD_LISTS = ("giveaways", "keywords")
_UNSPACED = re.compile(
    "[" + re.sub(r"\\x\{(\w+)\}", lambda m: re.escape(chr(int(m[1], 16))), UNSPACED) + "]"
)
_TYPED = {"punctuation": r"\p{P}+", "digits": r"\p{Nd}+"}
# One sign for all ways of typing it; bullets, symbols and emoji go.
_PLAIN = {"[“”„‟«»‹›]": '"', "[‘’‚‛`]": "'", "[–—―]|--+": "-", "…": "...", r"\p{So}|[•·▪●]": " "}
_UNSEEN = "[\u200b-\u200f\u2060\ufeff\u00ad]"


def any_of(words: Sequence[str]) -> str:
    """A pattern for any of these words, whole and in any case. Scripts without spaces have no ends
    of words.
    """
    escaped = {word: re.escape(word).replace("'", "['’‘]") for word in words}
    inside = [pattern for word, pattern in escaped.items() if _UNSPACED.search(word)]
    whole = [rf"\b{pattern}\b" for word, pattern in escaped.items() if not _UNSPACED.search(word)]
    return f"(?i)(?:{'|'.join([*whole, *inside])})"


def masked(texts: pl.Series, what: Mask, words: Sequence[str] = ()) -> pl.Series:
    """`texts` without `what`; `words` are the giveaways or keywords. One that holds none keeps its
    bytes.
    """
    if what in WORD_LISTS:
        return cut_out(texts, any_of(words)) if words else texts
    if what == "urls":
        return cut_out(strip_urls(texts), PLACEHOLDER)
    if what == "typography":
        for typed, plain in _PLAIN.items():
            texts = texts.str.replace_all(typed, plain)
        return texts
    if what == "whitespace":
        return texts.str.replace_all(_UNSEEN, "").str.replace_all(r"\s+", " ").str.strip_chars()
    return texts.str.to_lowercase() if what == "case" else cut_out(texts, _TYPED[what])
