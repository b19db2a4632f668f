"""Stop words: words that carry grammar rather than topic, by language.

Lists come from packages, not from this repository. `stopwordsiso` covers 58 languages.
`tidytext_stop_words` rebuilds the English list of the R package tidytext, which the published
keyword check used for every language.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from claimlab.core.languages import normalise, require

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


def stop_words_for(languages: Iterable[str | None]) -> frozenset[str]:
    """The union over the languages of a dataset. A language that is not known (null), or none at
    all, is English.
    """
    return frozenset().union(
        *(stop_words(language or ENGLISH) for language in set(languages) or {ENGLISH})
    )


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
