"""From a text to what a person would type into a search box, by the published rules.

Two readings exist and both are kept by name. "paper" is what section 3.4 of the paper says;
"released" is what its notebooks do: they repair broken encodings first. The last rule is worded
differently in the two (the longer of the first paragraph and the first 20 words; the first
paragraph if it has 20 words, else the first 20) but is equivalent.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import polars as pl

from claimlab.enrich.decoration import without_emphasis, without_markup
from claimlab.enrich.sentences import first_paragraph, sentences
from claimlab.text.normalise import strip_emoji
from claimlab.text.repair import repair_mojibake
from claimlab.text.tokens import first_words, words
from claimlab.text.urls import strip_urls

Rule = Literal["paper", "released"]
RULES: tuple[Rule, ...] = get_args(Rule)
SHORT_TEXT_WORDS = 20  # a text up to this length is its own query
LONG_SENTENCE_WORDS = 7  # a first sentence this long is likely to have the claim

# Quotation marks. A single one between two letters is an apostrophe and stays.
_QUOTES = r"[\"“”„‟«»‹›〝〞＂]|\B['‘’‚‛]|['‘’‚‛]\B"


class QueryText(NamedTuple):
    """`how` says which branch made it: whole, first-sentence, first-paragraph or first-words."""

    text: str
    how: str


def make_queries(texts: pl.Series, rule: Rule = "paper") -> list[QueryText | None]:
    """A query per text; null where nothing is left to ask (no text, only links, only emoji)."""
    return [
        None if text is None or not text.strip() else one_query(text)
        for text in prepared(texts, rule)
    ]


def prepared(texts: pl.Series, rule: Rule) -> list[str | None]:
    """The texts without links, emoji, quotation marks, tags and the marks of bold and italics;
    encodings are repaired first under "released"."""
    repaired = repair_mojibake(texts) if rule == "released" else texts
    bare = (
        strip_emoji(strip_urls(repaired)).str.replace_all(_QUOTES, "").str.strip_chars().to_list()
    )
    return [None if text is None else without_emphasis(without_markup(text)) for text in bare]


def one_query(text: str) -> QueryText | None:
    """The query of a text that is already prepared."""
    if len(words(text)) <= SHORT_TEXT_WORDS:
        return _query(text, "whole")
    cut = sentences(text)
    if cut and len(words(cut[0])) >= LONG_SENTENCE_WORDS:
        return _query(cut[0], "first-sentence")
    paragraph = first_paragraph(text)
    if len(words(paragraph)) >= SHORT_TEXT_WORDS:
        return _query(paragraph, "first-paragraph")
    return _query(first_words(text, SHORT_TEXT_WORDS), "first-words")


def _query(text: str, how: str) -> QueryText | None:
    plain = " ".join(text.split())
    return QueryText(plain, how) if any(map(str.isalnum, plain)) else None
