"""Stop words: words that carry grammar rather than topic, by language.

Lists come from packages, not from this repository. `stopwordsiso` covers 58 languages.
`tidytext_stop_words` rebuilds the English list of the R package tidytext, which the published
keyword check used for every language.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import polars as pl

from claimlab.core.languages import describe, normalise, require

ENGLISH = "eng"


@cache
def covered() -> dict[str, str]:
    """The languages with a list: ISO 639-3 code to the code by which `stopwordsiso` knows it."""
    import stopwordsiso

    return {
        iso3: code for code in sorted(stopwordsiso.langs()) if (iso3 := normalise(code)) is not None
    }


@cache
def stop_words(language: str = ENGLISH) -> frozenset[str]:
    """The stop words of one language, lower-cased; empty for a language without a list (see
    `covered`).

    English is tidytext's list: the one in `stopwordsiso` also holds "world", "research", "billion"
    and the like, which are topics in a dataset of claims.
    """
    code = require(language)
    if code == ENGLISH:
        return tidytext_stop_words()
    if code not in covered():
        return frozenset()
    import stopwordsiso

    return frozenset(word.lower() for word in stopwordsiso.stopwords(covered()[code]))


def language_read(languages: pl.Series) -> pl.Series:
    """The language by whose list each record is read: its own. A record that names none is read in
    the language that most records name, or in English where none does.
    """
    counted = languages.drop_nulls().value_counts(name="n", sort=False)
    usual = counted.sort(["n", languages.name], descending=[True, False]).to_series().first()
    return languages.cast(pl.String).fill_null(usual if isinstance(usual, str) else ENGLISH)


def without_list(languages: Iterable[str | None]) -> list[str]:
    """The names of the languages for which there is no list, in alphabetical order."""
    codes = {code for name in set(languages) if name and (code := normalise(name))}
    facts = [describe(code) for code in codes - covered().keys() - {ENGLISH}]
    return sorted(language.name for language in facts if language is not None)


def without_stop_words(held: pl.DataFrame, languages: pl.Series) -> pl.DataFrame:
    """`held` (a `row` and a `word` each) less the stop words of each row's own language.

    Lists are never united: "die" is grammar in German and a topic in English, and one German
    record must not hide it from the English ones.
    """
    read = language_read(languages)
    codes = read.unique().sort().to_list()
    lists = pl.DataFrame(
        {"language": codes, "word": [sorted(_stop_words_of(code)) for code in codes]},
        schema={"language": pl.String, "word": pl.List(pl.String)},
    ).explode("word")
    return (
        held.with_columns(language=read.gather(held["row"]))
        .join(lists, on=["language", "word"], how="anti", maintain_order="left")
        .select("row", "word")
    )


@cache
def _stop_words_of(code: str) -> frozenset[str]:
    """The list of a language that a record names; none where the name is not known."""
    return frozenset() if normalise(code) is None else stop_words(code)


@cache
def tidytext_stop_words() -> frozenset[str]:
    """The 728 distinct words of tidytext's `stop_words`: the SMART, Snowball and Onix lists
    together.

    The package python-rake carries SMART, Snowball's (as Ranks NL) and Fox's list. Onix is Fox's
    list less two words that SMART and Snowball do not have either.
    """
    from RAKE.stoplists import FoxStopList, RanksNLStoplist, SmartStopList

    words = {*SmartStopList.words(), *RanksNLStoplist.words(), *FoxStopList.words()}
    return frozenset(words - {"numbered", "numbering"})
