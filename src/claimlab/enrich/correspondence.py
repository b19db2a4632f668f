"""Does a result speak of the claim? The share of the query's content words that its snippet holds.

The paper calls a share of at least .8 a correspondence; its notebooks ask for more than .8. Both are kept by name.
Words are compared without case and accents, because people drop accents when they type.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal, get_args

import polars as pl

from claimlab.core.errors import UsageError
from claimlab.text.normalise import strip_accents
from claimlab.text.stopwords import stop_words_for
from claimlab.text.tokens import tokenize

Rule = Literal["paper", "released"]
SHARE = 0.8


def check_rule(rule: str) -> Rule:
    for known in get_args(Rule):
        if rule == known:
            return known  # type: ignore[no-any-return]
    raise UsageError(f"There is no correspondence rule '{rule}'.", f"Use one of: {', '.join(get_args(Rule))}.")


def corresponds(share: float | None, rule: Rule = "paper") -> bool:
    """Whether a share is enough: at least .8 ("paper") or more than .8 ("released")."""
    if share is None:
        return False
    return share >= SHARE if rule == "paper" else share > SHARE


def shares(query: str, snippets: Sequence[str | None], language: str | None) -> list[float | None]:
    """For each snippet the share of the query's content words it holds; null where there is nothing to compare.

    A query of stop words alone is compared by all its words. A language that is not known counts as English.
    """
    cut = tokenize(strip_accents(pl.Series([query, *snippets], dtype=pl.String)), language=language).to_list()
    asked = set(cut[0])
    content = asked - _stop(language)
    wanted = content or asked
    return [None if not wanted or held is None else len(wanted & set(held)) / len(wanted) for held in cut[1:]]


@cache
def _stop(language: str | None) -> frozenset[str]:
    listed = sorted(stop_words_for([language]))
    return frozenset(strip_accents(pl.Series(listed, dtype=pl.String)).to_list())
