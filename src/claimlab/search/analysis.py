"""From text to index terms, in any language.

Every text is indexed twice: as plain case-folded words, and in the field of its language, stemmed
and without stop words if tantivy supports the language, else as plain words. Two things that the
tokenizer would get wrong are fixed first: scripts written without spaces become pairs of
characters, and combining marks, which it takes for the end of a word (as in Hindi), are composed or
removed.

The part of a long text that fits a query best.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tantivy


EXACT = "exact"  # the field of plain words, for every text
OTHER = "lang_other"  # the language field of texts for whose language there is no stemmer
LONGEST = 100  # bytes of a word; longer ones are noise that would fill the index
PIECE = 1 << 20  # characters prepared at a time

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
    words = words.filter(tantivy.Filter.remove_long(LONGEST)).filter(tantivy.Filter.lowercase())
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
        space = _SPACE.search(text, start + PIECE)
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


_SENTENCE = re.compile("(?<=[.!?…])\\s+|\n+|(?<=[\u3002\uff01\uff1f])")
# addresses, and what a post says of accounts: "@name", and the last line of one that is quoted
_UNSAID = re.compile(
    r"https?://\S+|pic\.twitter\.com/\S+|— [^\n—(]{1,60}\(@\w+\)[^\n(]{0,40}$|@\w+|#"
)
_SAYS_SOMETHING = 20  # characters of a sentence
_SENTENCES = 8


def said(text: str) -> list[str]:
    """What a claim is compared by in meaning: its whole text without addresses and accounts, and
    behind it its sentences where it has several."""
    plain = _UNSAID.sub(" ", text)
    sentences = [" ".join(s.split()) for s in _SENTENCE.split(plain) if s and s.strip()]
    long = [s for s in sentences if len(s) >= _SAYS_SOMETHING][:_SENTENCES]
    return [" ".join(sentences) or text, *(long if len(sentences) > 1 else [])]


def best_passage(
    text: str, terms: set[str] | frozenset[str], limit: int, *, fill: bool = False
) -> str:
    """Whole sentences of at most `limit` characters that hold the most of `terms`; the earliest of
    equals.

    A single sentence that is longer is cut. With `fill`, the sentences after and before are added
    as far as they fit.
    """
    if len(text) <= limit:
        return text
    sentences = [s for s in _SENTENCE.split(text) if s and s.strip()]
    held = [terms.intersection(analyzer(EXACT).analyze(prepared(s))) for s in sentences]
    start, end = _best_window(sentences, held, limit)
    while start < end - 1 and not held[start]:
        start += 1  # what leads up to the first match says nothing of it
    if fill:
        start, end = _filled(sentences, start, end, limit)
    return " ".join(s.strip() for s in sentences[start:end])[:limit]


def snippets(text: str, least: int = 25, most: int = 40) -> list[str]:
    """The parts of a text that are as long as what a search engine shows of a page: whole sentences
    of at least `least` words together, from each sentence on; of more than `most` words, the
    sentence is cut in runs that overlap by half."""
    parts = []
    for sentence in _SENTENCE.split(text):
        words = sentence.split() if sentence else []
        starts = range(0, max(len(words) - most // 2, 1), most // 2) if words else ()
        parts += [words[start : start + most] for start in starts]
    shown = []
    for at, words in enumerate(parts):
        for following in parts[at + 1 :]:
            if len(words) >= least or len(words) + len(following) > most:
                break
            words = [*words, *following]
        shown.append(" ".join(words))
    return shown


def _best_window(sentences: list[str], held: Sequence[Set[str]], limit: int) -> tuple[int, int]:
    """The sentences, from and to, that hold the most terms and fit; the earliest of equals."""
    best, best_count = (0, 1), -1
    for start in range(len(sentences)):
        matched: set[str] = set()
        length = 0
        for end in range(start, len(sentences)):
            length += len(sentences[end]) + 1
            if length > limit and end > start:
                break
            matched |= held[end]
            if len(matched) > best_count:
                best, best_count = (start, end + 1), len(matched)
    return best


def _filled(sentences: list[str], start: int, end: int, limit: int) -> tuple[int, int]:
    """What follows a match explains it more often than what leads up to it, so that is added
    first.
    """
    room = limit - sum(len(s) + 1 for s in sentences[start:end])
    while end < len(sentences) and len(sentences[end]) < room:
        room -= len(sentences[end]) + 1
        end += 1
    while start > 0 and len(sentences[start - 1]) < room:
        start -= 1
        room -= len(sentences[start]) + 1
    return start, end
