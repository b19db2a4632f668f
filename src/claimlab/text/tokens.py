"""Words of texts, and how many there are.

A word is what Unicode's segmentation rules (UAX #29, as in ICU and in R's tokenizers) call one:
"don't", "u.s", "3.5" and "co2" are one word each, "covid-19" is two. The rules run as one pattern
in Polars. Chinese, Japanese, Thai, Khmer, Lao and Burmese write no spaces between words; runs of
those scripts are cut by ICU's dictionaries.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal

import polars as pl

from claimlab.core.languages import normalise
from claimlab.text.rows import change_where

# Scripts that write no spaces between words, as a character class for Polars patterns: Thai, Lao,
# Burmese, Khmer, kana and Han, with their marks and extensions.
UNSPACED = (
    r"\x{e00}-\x{eff}\x{1000}-\x{109f}\x{1780}-\x{17ff}\x{19e0}-\x{19ff}\x{a9e0}-\x{a9ff}\x{aa60}-\x{aa7f}"
    r"\x{3005}-\x{3007}\x{303b}\x{3041}-\x{3096}\x{3099}-\x{30fa}\x{30fc}-\x{30ff}\x{31f0}-\x{31ff}"
    r"\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{f900}-\x{faff}\x{ff66}-\x{ff9f}\x{1b000}-\x{1b16f}\x{20000}-\x{3ffff}"
)
# Tibetan, Tai Le, New Tai Lue, Tai Tham, Balinese, Javanese and Tai Viet: no spaces between words,
# and no dictionary in ICU.
_NO_DICTIONARY = (
    r"\x{f40}-\x{fbc}\x{1950}-\x{19df}\x{1a20}-\x{1aad}\x{1b00}-\x{1b4c}\x{a980}-\x{a9df}"
    r"\x{aa80}-\x{aadf}"
)
_UNSPACED_RUN = rf"[{UNSPACED}]+"
_LETTER = rf"[\p{{L}}\p{{Nl}}--[{UNSPACED}]]"
_LETTERS = rf"{_LETTER}[\p{{L}}\p{{Nl}}\p{{M}}\x{{ad}}\x{{200c}}\x{{200d}}--[{UNSPACED}]]*"
# An apostrophe, dot, colon or gershayim joins letters on both sides; a straight quote does so in
# Hebrew (ארה"ב).
_LETTER_WORD = rf"{_LETTERS}(?:['’‘.·‧:״]{_LETTERS}|\"\p{{Hebrew}}[\p{{Hebrew}}\p{{M}}]*)*"
_NUMBER = r"\p{Nd}+(?:[,.;'’‘]\p{Nd}+)*"
_SPACED_WORD = rf"(?:{_LETTER_WORD}|{_NUMBER})(?:_*(?:{_LETTER_WORD}|{_NUMBER}))*"
_WORD = rf"{_SPACED_WORD}|{_UNSPACED_RUN}"

# Letters that some texts write as one character and others as a base and a mark: accents, Hangul,
# the dotted letters of Hindi, Bengali, Punjabi and Odia, pointed Hebrew.
_COMPOSABLE = (
    r"[\p{M}\x{1100}-\x{11ff}\x{958}-\x{95f}\x{9dc}-\x{9df}\x{a33}-\x{a36}\x{a59}-\x{a5e}"
    r"\x{b5c}\x{b5d}\x{fb1d}-\x{fb4e}]"
)
DOTLESS = frozenset({"tur", "aze"})  # languages in which I is the capital of ı
_FEW_ROWS = 256  # rows
RUNS_KEPT = 1 << 14  # runs of a script without spaces whose words are remembered
_LOWERED = pl.col("text").str.to_lowercase().str.replace_all("[’‘]", "'")


def tokenize(texts: pl.Series, *, language: str | pl.Series | None = None) -> pl.Series:
    """The words of each text, lower-cased, in order; null for null, an empty list where there is
    none.

    `language`, one for all texts or one for each, matters to lower case only: in Turkish and
    Azerbaijani I becomes ı, elsewhere i.
    """
    return _cut_words(_composed(texts, language), _LOWERED)


def words(text: str) -> list[str]:
    """The words of a text as they are typed, with the punctuation around them: what whitespace
    separates and, in a script that writes none, what ICU's dictionaries do.
    """
    return _spaced(text).split() if _unspaced_run().search(text) else text.split()


def first_words(text: str, n: int) -> str:
    """The first `n` words, with single spaces where the text has whitespace."""
    plain = " ".join(text.split())
    end = 0
    for word in words(plain)[:n]:
        end = plain.index(word, end) + len(word)
    return plain[:end]


def spaced(texts: pl.Series) -> pl.Series:
    """`texts` with a space between the words of scripts that write none, so that whitespace
    separates the words of every text; others are as they were.
    """
    return change_where(
        texts,
        _unspaced(texts),
        lambda rows: pl.Series(rows.name, [_spaced(row) for row in rows.to_list()], pl.String),
    )


def without_words(texts: pl.Series) -> pl.Series:
    """Which texts are in a script that writes no spaces between words, and for which there is no
    dictionary: their words cannot be told apart.
    """
    return texts.str.contains(f"[{_NO_DICTIONARY}]").fill_null(False)


def count_words(texts: pl.Series) -> pl.Series:
    """How many words each text has; null for null."""
    unspaced = _unspaced(texts)
    cut = tokenize(texts.filter(unspaced)).list.len()
    return change_where(texts.str.count_matches(_WORD), unspaced, lambda _: cut)


def cdl_count_tokens(texts: pl.Series) -> pl.Series:
    """The words that the published keyword check counts: lower-cased, less tidytext's English stop
    words.

    The published script does this for every language, so curly apostrophes and foreign stop words
    stay as they are.
    """
    from claimlab.text.stopwords import tidytext_stop_words

    words = _cut_words(texts, pl.col("text").str.to_lowercase())
    return _filtered(words, ~pl.element().is_in(list(tidytext_stop_words())))


def cdl_presence_tokens(texts: pl.Series) -> pl.Series:
    """The words in which the published keyword check looks for a counted word: cleaned another way
    than those counted.

    Punctuation and digits vanish without a trace ("covid-19" is "covid", "don't" is "dont") and
    words of one or two letters are dropped, so a counted word such as "19" or "co2" is found
    nowhere. That is the published protocol.
    """
    bare = texts.str.to_lowercase().str.replace_all(r"[\p{P}\p{S}\p{Nd}]", "")
    # Splitting at spaces is three times as fast as matching words; other whitespace is rare and
    # replaced first.
    blanks = change_where(
        bare, bare.str.contains(r"[^\S ]"), lambda rows: rows.str.replace_all(r"\s", " ")
    )
    return _filtered(blanks.str.split(" "), pl.element().str.len_chars() >= 3)


def _composed(texts: pl.Series, language: str | pl.Series | None = None) -> pl.Series:
    composed = change_where(
        texts, texts.str.contains(_COMPOSABLE), lambda rows: rows.str.normalize("NFC")
    )
    if language is None:
        return composed
    each = pl.Series([language]) if isinstance(language, str) else language
    dotless = [code for code in each.drop_nulls().unique() if normalise(code) in DOTLESS]
    if not dotless:
        return composed
    chosen = pl.select(pl.lit(each).is_in(dotless).fill_null(False)).to_series()
    chosen = chosen if chosen.len() == texts.len() else chosen.new_from_index(0, texts.len())
    return change_where(
        composed, chosen, lambda rows: rows.str.replace_many(["I", "İ"], ["ı", "i"])
    )


def _cut_words(texts: pl.Series, prepared: pl.Expr) -> pl.Series:
    """The words of `texts` after the expression `prepared` (over the column "text")."""
    frame = pl.LazyFrame({"text": texts.rename("text")})
    # The streaming engine uses every core for one column and keeps the order of rows; starting it
    # costs more than a few rows are worth, and enrich cuts a handful of texts at a time.
    engine: Literal["streaming", "in-memory"] = (
        "streaming" if texts.len() > _FEW_ROWS else "in-memory"
    )
    words = frame.select(prepared.str.extract_all(_WORD)).collect(engine=engine).to_series()
    return change_where(words, _unspaced(texts), _cut_unspaced).rename(texts.name)


def _unspaced(texts: pl.Series) -> pl.Series:
    return texts.str.contains(f"[{UNSPACED}]").fill_null(False)


def _cut_unspaced(rows: pl.Series) -> pl.Series:
    """Word lists in which every run of a script without spaces is replaced by the words ICU finds
    in it.
    """
    runs = rows.explode().unique().drop_nulls()
    runs = runs.filter(runs.str.contains(_UNSPACED_RUN))
    cut = {run: _icu_words(run) for run in runs.to_list()}
    lists = [[part for word in row for part in cut.get(word, (word,))] for row in rows.to_list()]
    return pl.Series(rows.name, lists, dtype=pl.List(pl.String))


def _icu_words(run: str) -> list[str]:
    from icu4py.breakers import WordBreaker

    # The dictionary follows from the script, so any locale does.
    return [part for part in WordBreaker(run, "en") if any(map(str.isalnum, part))]


@cache
def _unspaced_run() -> re.Pattern[str]:
    """A run of a script without spaces, and the punctuation around it."""
    characters = re.sub(r"\\x\{([0-9a-f]+)\}", lambda code: f"\\U{code[1]:0>8}", UNSPACED)
    return re.compile(rf"([^\w\s]*)([{characters}]+)([^\w\s]*)")


@lru_cache(RUNS_KEPT)
def _cut_run(run: str) -> str:
    """The words of a run with spaces between; what is no word stays with the word before it."""
    from icu4py.breakers import WordBreaker

    parts: list[str] = []
    for part in WordBreaker(run, "en"):
        if parts and not any(map(str.isalnum, part)):
            parts[-1] += part
        else:
            parts.append(part)
    return " ".join(parts)


def _spaced(text: str) -> str:
    separate = _unspaced_run().sub(lambda run: f" {run[1]}{_cut_run(run[2])}{run[3]} ", text)
    return " ".join(separate.split())


def _filtered(words: pl.Series, keep: pl.Expr) -> pl.Series:
    return words.list.eval(pl.element().filter(keep))
