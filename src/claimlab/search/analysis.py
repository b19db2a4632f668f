"""From text to index terms, in any language.

Every text is indexed twice: as plain case-folded words, and in the field of its language, stemmed
and without stop words if tantivy supports the language, else as plain words. Two things that the
tokenizer would get wrong are fixed first: scripts written without spaces become pairs of
characters, and combining marks, which it takes for the end of a word (as in Hindi), are composed or
removed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tantivy


EXACT = "exact"  # the field of plain words, for every text
OTHER = "lang_other"  # the language field of texts for whose language there is no stemmer
WORD_BYTES = 100  # bytes of a word; longer ones are noise that would fill the index
CHARACTERS_AT_A_TIME = 1 << 20  # characters prepared at a time

# tantivy's stemmers; those that it also has stop words for
_CODES = "ara dan nld eng fin fra deu ell hun ita nor por ron rus spa swe tam tur"
_NAMES = (
    "arabic danish dutch english finnish french german greek hungarian italian norwegian portuguese"
    " romanian russian spanish swedish tamil turkish"
)
STEMMERS = dict(zip(_CODES.split(), _NAMES.split(), strict=True))
WITHOUT_STOP_WORDS = frozenset({"arabic", "greek", "romanian", "tamil", "turkish"})

# Han with its extensions, kana, Thai, Lao, Myanmar, Khmer: written without spaces between words
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)
_SPACE = re.compile(r"\s")
_JOINERS = frozenset(
    "\u200c\u200d\u00ad\u2060\ufeff"
)  # joiners and soft hyphens: marks without a combining class


def field_of(language: str | None) -> str:
    """The field for texts in `language`: a field of its own if there is a stemmer, else the common
    one.
    """
    return f"lang_{language}" if language in STEMMERS else OTHER


def fields() -> list[str]:
    return [EXACT, OTHER, *(f"lang_{code}" for code in STEMMERS)]


def analyzer(field: str) -> tantivy.TextAnalyzer:
    """The analyzer that turns documents into the terms of `field`."""
    language = STEMMERS.get(field.removeprefix("lang_"))
    return _analyzer(stop_words=language, stemmer=language)


def terms_of(text: str, field: str, language: str | None) -> list[str]:
    """The distinct terms to look up in `field` for a query in `language`, in order.

    Repeated words count once. The field of plain words has every word of a document, but stop words
    of the query are looked up there only if the query has no other words.
    """
    written = prepared(text)
    own = (
        analyzer(field)
        if field not in (EXACT, OTHER)
        else _analyzer(stop_words=STEMMERS.get(language or ""))
    )
    terms = own.analyze(written)
    if not terms and field == EXACT:
        terms = analyzer(EXACT).analyze(written)
    return list(dict.fromkeys(terms))


@cache
def _analyzer(*, stop_words: str | None = None, stemmer: str | None = None) -> tantivy.TextAnalyzer:
    import tantivy

    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    words = words.filter(tantivy.Filter.remove_long(WORD_BYTES)).filter(tantivy.Filter.lowercase())
    if stop_words is not None and stop_words not in WITHOUT_STOP_WORDS:
        words = words.filter(tantivy.Filter.stopword(stop_words))
    if stemmer is not None:
        words = words.filter(tantivy.Filter.stemmer(stemmer))
    # last, because stemmers need the accents; "vacinação" and "vacinacao" still match as plain
    # words
    return words.filter(tantivy.Filter.ascii_fold()).build()


def prepared(text: str) -> str:
    """`text` with what the tokenizer would misread fixed; ASCII text needs no change."""
    return text if text.isascii() else "".join(map(_prepared, _pieces(text)))


def _pieces(text: str) -> Iterator[str]:
    """A long text in parts that begin at whitespace. Other threads can run between them: a single
    call on a whole book would delay Ctrl-C for seconds."""
    start = 0
    while start < len(text):
        space = _SPACE.search(text, start + CHARACTERS_AT_A_TIME)
        end = space.start() if space else len(text)
        yield text[start:end]
        start = end


def _prepared(text: str) -> str:
    composed = unicodedata.normalize("NFKC", text)
    marks = [ord(c) for c in set(composed) if unicodedata.combining(c) or c in _JOINERS]
    return _UNSPACED.sub(_pairs, composed.translate(dict.fromkeys(marks)) if marks else composed)


def _pairs(run: re.Match[str]) -> str:
    """A run of characters as overlapping pairs, so that texts match without a dictionary of
    words.
    """
    chars = run.group()
    pairs = [chars[i : i + 2] for i in range(len(chars) - 1)] or [chars]
    return f" {' '.join(pairs)} "
