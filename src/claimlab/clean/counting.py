"""What counts as a word and as a sentence: rules with names, since a published average means little
without its rule.

`plain` is ours. `pieces` is how a published validation of Portuguese data counted (recipe
`pt-afc`); it is kept for reaching its figures again, oddities included:

- Ellipses and quotation marks go, two dots are one, a dash is a hyphen; a mark beside a word is set
  apart from it.
- Words are separated by whitespace, after ASCII punctuation is deleted. Where a text or sentence
  begins or ends with punctuation that was set apart, an empty piece is left, and counts.
- Host names count as URLs, but a URL right behind * or ? is not seen as one ("*https://…*"): it is
  a word of 3 letters.
- A sentence ends at . ! ? before a blank or an opening mark. Several in a row ("!!!") end several.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

import polars as pl

from claimlab.text.tokens import spaced
from claimlab.text.traits import PUNCTUATION
from claimlab.text.urls import find_urls, strip_urls

Counting = Literal["plain", "pieces"]
_AROUND = r"^\p{P}+|\p{P}+$"
# In other scripts a mark may have no whitespace behind it.
_OTHER_ENDS = re.escape(
    "".join(PUNCTUATION[kind][1:] for kind in ("full_stop", "question", "exclamation"))
)
_SENTENCE_END = rf"[.!?…]+[\"'”’»)\]*_]*\s|[{_OTHER_ENDS}]+[\"'”’»)\]」』）】]*"
_LAST_END = r"[\p{P}\s]+$"
_ASCII_PUNCTUATION = r"[!-/:-@\[-`{-~]"
_MARK = r"[!\"#%'()*+,./:;<=>?@\[\\\]^_`{|}~]"  # what is set apart: ASCII punctuation but - $ &
_UNSEEN = r"([*?])https?://\S+"
_CUT = "\x1e"  # between two sentences; the record separator does not occur in ordinary text


def measure(texts: pl.Series, counting: Counting = "plain") -> pl.DataFrame:
    """One row per text: url (whether it cites one), words, word_length, sentences,
    words_per_sentence.
    """
    return _RULES[counting](texts)


def addresses(texts: pl.Series, counting: Counting = "plain") -> pl.Series:
    """The addresses that each text cites. Under `pieces` only those with a scheme ("https://") have
    a domain.
    """
    if counting == "plain":
        return find_urls(texts)
    return _seen(texts).str.extract_all(r"(?i)[a-z][a-z0-9+.\-]*://[^\s()\[\]{}<>\"]+")


def _plain(texts: pl.Series) -> pl.DataFrame:
    """Words are separated by whitespace and stripped of punctuation; a sentence ends at . ! ? …
    before whitespace.
    """
    bare = strip_urls(texts)
    words = (
        spaced(bare).str.extract_all(r"\S+").list.eval(pl.element().str.replace_all(_AROUND, ""))
    )
    words = words.list.eval(pl.element().filter(pl.element() != ""))
    sentences = bare.str.replace(_LAST_END, "").str.count_matches(_SENTENCE_END) + 1
    return pl.DataFrame(
        {
            "url": find_urls(texts).list.len() > 0,
            "words": words.list.len().cast(pl.Int64),
            "word_length": words.list.eval(pl.element().str.len_chars()).list.mean(),
            "sentences": sentences.cast(pl.Int64),
            "words_per_sentence": words.list.len() / sentences,
        }
    )


def _in_pieces(texts: pl.Series) -> pl.DataFrame:
    """As a published validation counted; see the top of this file."""
    seen = _seen(texts)
    bare = _set_apart(strip_urls(seen, hosts=True, tidied=False).str.strip_chars())
    sentences = _sentences(bare)
    words = _count_pieces(pl.col("text"))
    letters = (
        pl.col("text")
        .str.replace_all(_ASCII_PUNCTUATION, "")
        .str.replace_all(r"\s", "")
        .str.len_chars()
    )
    whole = bare.to_frame("text").select(words=words, word_length=letters / words)
    parts = (
        pl.DataFrame({"text": sentences}).with_row_index("row").explode("text").drop_nulls("text")
    )
    each = parts.group_by("row").agg(mean=_count_pieces(pl.col("text")).mean())
    rows = pl.DataFrame({"row": pl.arange(texts.len(), eager=True, dtype=pl.UInt32)})
    return whole.select(
        find_urls(seen, hosts=True).list.len().alias("url") > 0,
        "words",
        "word_length",
        sentences=sentences.list.len().cast(pl.Int64),
        words_per_sentence=rows.join(each, on="row", how="left", maintain_order="left")["mean"],
    )


def _seen(texts: pl.Series) -> pl.Series:
    return texts.str.replace_all(_UNSEEN, "${1}URL")


def _set_apart(texts: pl.Series) -> pl.Series:
    texts = texts.str.replace_all(r"…|\.\.\.|[‘’′“”\"`']", "").str.replace_all(
        _CUT, " ", literal=True
    )
    texts = texts.str.replace_all("..", ".", literal=True).str.replace_all("–", "-", literal=True)
    texts = texts.str.replace_all(rf"(\w)({_MARK})( |{_MARK}|$)", "$1 $2 $3")
    texts = texts.str.replace_all(rf"( |{_MARK})({_MARK})(\w)", "$1 $2 $3")
    return texts.str.replace_all(" +", " ").str.strip_chars()


def _sentences(texts: pl.Series) -> pl.Series:
    """The sentences of each text; a closing bracket stays with the sentence before it. Null for
    null.
    """
    cut = texts.str.replace_all(r"(^|[^.!?])([.!?])([.!?])", f"$1$2{_CUT}$3")
    cut = cut.str.replace_all(r"([.!?])([;*:@({\[])", f"$1{_CUT}$2")
    cut = cut.str.replace_all(r"([.!?](?:\s*[)\]}]+)?)\s+", f"$1{_CUT}")
    pieces = cut.str.split(_CUT).list.eval(pl.element().str.strip_chars())
    return pieces.list.eval(pl.element().filter(pl.element() != ""))


def _count_pieces(texts: pl.Expr) -> pl.Expr:
    return (
        texts.str.replace_all(_ASCII_PUNCTUATION, "").str.count_matches(r"\s+").cast(pl.Int64) + 1
    )


_RULES: dict[Counting, Callable[[pl.Series], pl.DataFrame]] = {
    "plain": _plain,
    "pieces": _in_pieces,
}
