"""Take out of texts what gives labels away: words, links, and how a text is typed.

Nothing is left in its place. A placeholder would occur wherever the word did, and so give the same
label away.

Personal data that a rule can find: mail addresses, phone numbers and @handles.

Names, addresses and what people say of themselves take more than a rule: a scan that finds nothing
is not a proof. Phone numbers are those with a country code (+55 11 ...), with an area code in
parentheses, or in three groups joined by dashes or dots; bare digits are left alone, because years,
amounts and identifiers look the same.
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
WORDS = ("giveaways", "keywords")
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
    if what in WORDS:
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


_MAIL = r"[\p{L}\p{N}][\p{L}\p{N}._%+\-]*@[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)*\.\p{L}{2,24}"
_PHONE = (
    r"(?:\+\d{1,3}[ .\-](?:\(\d{1,4}\)[ .\-]?)?\d{1,5}(?:[ .\-]?\d{2,5}){1,4}|\+\d{10,14}"
    r"|\(\d{2,4}\) ?\d{3,5}[ .\-]\d{3,5}"
    r"|\d{3}-\d{3}-\d{4}|\d{3}\.\d{3}\.\d{4}"
    r"|\d{2} 9\d{4}-\d{4})"
)
_HANDLE = r"@[A-Za-z0-9_]{2,30}"
MASKED_HANDLE = "@user"

# What comes before a match, so that a part of a link, of a longer number or of a mail address is
# not taken for one; it is put back. What follows a number must not be a digit: Polars has no
# lookahead, so it is
# matched and put back too.
PATTERNS = {
    "mail": (rf"(^|[^\p{{L}}\p{{N}}._%+\-@/]){_MAIL}", "${1}[email]"),
    "phone": (rf"(^|[^\p{{L}}\p{{N}}._+\-/=&#]){_PHONE}($|[^\p{{L}}\p{{N}}])", "${1}[phone]${2}"),
    "handle": (rf"(^|[^\p{{L}}\p{{N}}._%+\-@/]){_HANDLE}", f"${{1}}{MASKED_HANDLE}"),
}


def scan_personal(texts: pl.Series) -> pl.DataFrame:
    """How often each kind occurs: kind, records that have one, occurrences. Handles that are masked
    do not count.
    """
    rows = []
    for kind, (pattern, _) in PATTERNS.items():
        counts = texts.str.count_matches(pattern)
        if kind == "handle":
            counts = counts - texts.str.count_matches(rf"{MASKED_HANDLE}($|[^A-Za-z0-9_])")
        rows.append((kind, int((counts > 0).sum()), int(counts.sum() or 0)))
    return pl.DataFrame(
        rows, schema={"kind": pl.String, "records": pl.Int64, "occurrences": pl.Int64}, orient="row"
    )


def mask_personal(texts: pl.Series, kinds: tuple[str, ...] = tuple(PATTERNS)) -> pl.Series:
    """The texts with [email], [phone] and @user in place of what was found."""
    for kind in kinds:
        pattern, replacement = PATTERNS[kind]
        # Matches that touch share the character between them: the second pass takes those that the
        # first could not.
        texts = texts.str.replace_all(pattern, replacement).str.replace_all(pattern, replacement)
    return texts
