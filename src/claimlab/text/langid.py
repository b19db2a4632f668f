"""The language of a text: a vote of three independent identifiers.

pycld2 runs first, and its answer is used when it is certain: it is many times faster than the
others and covers 165 languages. For short texts, and within groups of languages that every
identifier confuses, cld3 and py3langid vote with it, and a language needs two of the three votes.
Without agreement the result is null; `abstain=False` gives the answer of the best single identifier
instead (right about half of the time).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import polars as pl

from claimlab.core.languages import CONFUSABLE, describe, normalise
from claimlab.core.progress import Progress, silent
from claimlab.text.normalise import EMOJI
from claimlab.text.tokens import words
from claimlab.text.urls import URL

# of letters: about 12 Latin letters, 6 Arabic or 4 Chinese ones. Less is not enough.
MIN_BYTES = 12
SURE_BYTES = 40  # on shorter texts pycld2 calls itself reliable too easily
SURE_PERCENT = 80  # of the text, so that a quotation in another language does not decide
MAX_CHARACTERS = 2_000  # the beginning decides; more text makes the slow voters slower, not better
# characters that pycld2 is asked about first: the rest, if it is sure of them, changes nothing
HEAD_CHARACTERS = 500
VOTES_NEEDED = 2
TEXTS_PER_BATCH = 10_000
BEST_ALONE = "py3langid"  # on short texts, where the votes scatter (bench/langid.py)

# Not language: links, addresses, @names, #tags, emoji, and the characters on which pycld2 stumbles.
_NOISE = rf"(?:{URL})|[\w.+\-]+@[\w\-]+\.[\w.\-]+|[@#]\w+|{EMOJI}|[\p{{Cc}}\p{{Co}}\p{{Cn}}\x{{fffc}}\x{{fffd}}]"  # noqa: E501

Voter = Callable[[str | bytes], str | None]
SURE_WORDS = 5  # words needed to identify the language of an answer


@dataclass(frozen=True)
class Identification:
    """`language` (ISO 639-3, or null), how many identifiers `agreed` on it, and what each one
    voted.

    `votes` holds only the identifiers that were asked: pycld2 alone where it was sure, two where
    those agreed, none where the text is too short.
    """

    language: str | None
    agreed: int
    votes: Mapping[str, str | None]


TOO_SHORT = Identification(None, 0, {})


def identify(
    texts: Sequence[str | None] | pl.Series, *, abstain: bool = True, progress: Progress = silent
) -> list[str | None]:
    """The language of each text as ISO 639-3, macrolanguages folded.

    Null where a text is too short and, unless `abstain` is false, where no two identifiers agree.
    """
    return [
        result.language for result in identify_detailed(texts, abstain=abstain, progress=progress)
    ]


def other_language(answer: str, text: str, language: str | None) -> dict[str, str] | None:
    """The language of a text and the one in which it was answered, by name, where they are known
    and differ. Few words are in no language for sure, so only a sentence is looked at."""
    if len(words(answer)) < SURE_WORDS:
        return None
    answered, own = identify([answer, text])
    wanted = language or own
    if answered is None or wanted is None or answered in (wanted, own):
        return None
    codes = {"wanted": wanted, "given": answered}
    return {k: facts.name if (facts := describe(code)) else code for k, code in codes.items()}


def identify_detailed(
    texts: Sequence[str | None] | pl.Series, *, abstain: bool = True, progress: Progress = silent
) -> list[Identification]:
    """`identify`, with the votes. Equal texts are looked at once."""
    cleaned = _clean(texts)
    distinct = cleaned.unique(maintain_order=True).drop_nulls()
    results: dict[str, Identification] = {}
    for start in range(0, distinct.len(), TEXTS_PER_BATCH):
        batch = distinct[start : start + TEXTS_PER_BATCH]
        results.update(zip(batch.to_list(), _identify(batch, abstain), strict=True))
        progress("language", len(results), distinct.len())
    return [TOO_SHORT if text is None else results[text] for text in cleaned.to_list()]


def _identify(texts: pl.Series, abstain: bool) -> list[Identification]:
    """One identifier after another over every text that is still open, which keeps its model in the
    processor's cache.

    A text leaves as soon as a language has its votes: the slowest identifier breaks ties only.
    """
    whole = texts.cast(pl.Binary).to_list()
    results = _sure(whole, texts.str.slice(0, HEAD_CHARACTERS).cast(pl.Binary).to_list())
    open_votes: dict[bytes, dict[str, str | None]] = {
        text: {} for text in whole if text not in results
    }
    for name, vote in _voters().items():
        for text, votes in list(open_votes.items()):
            language = votes[name] = vote(text)
            if language is not None and list(votes.values()).count(language) == VOTES_NEEDED:
                results[text] = Identification(language, VOTES_NEEDED, open_votes.pop(text))
    for text, votes in open_votes.items():
        best = None if abstain else votes[BEST_ALONE]
        results[text] = Identification(best, 0 if best is None else 1, votes)
    return [results[text] for text in whole]


def _sure(whole: list[bytes], heads: list[bytes]) -> dict[bytes, Identification]:
    """The texts that pycld2 is certain of, by their beginning if that is enough."""
    sure = _sure_voter()
    results = {}
    for text, head in zip(whole, heads, strict=True):
        language = sure(head) or (sure(text) if len(head) < len(text) else None)
        if language is not None:
            results[text] = _alone(language)
    return results


@cache
def _alone(language: str) -> Identification:
    return Identification(language, 1, {"pycld2": language})


def _clean(texts: Sequence[str | None] | pl.Series) -> pl.Series:
    """The texts without noise, cut to the length that is looked at; null where too little is
    left.
    """
    series = texts if isinstance(texts, pl.Series) else pl.Series(list(texts), dtype=pl.String)
    bare = (
        series.str.slice(0, 4 * MAX_CHARACTERS)
        .str.replace_all(_NOISE, " ")
        .str.replace_all(r"\s{2,}|[^\S ]", " ")  # a single space stays as it is
        .str.strip_chars()
        .str.slice(0, MAX_CHARACTERS)
    )
    few = (
        ~_enough(bare.str.slice(0, 2 * MIN_BYTES))
    ).arg_true()  # the beginning of most texts is enough
    return bare.scatter(few.filter(~_enough(bare.gather(few))), None)


def _enough(texts: pl.Series) -> pl.Series:
    return texts.str.replace_all(r"[^\p{L}\p{M}]", "").str.len_bytes() >= MIN_BYTES


def _sure_voter() -> Voter:
    import pycld2

    hard = frozenset().union(*CONFUSABLE)

    def sure(text: str | bytes) -> str | None:
        reliable, size, languages = pycld2.detect(text, isPlainText=True)
        _, code, percent, _ = languages[0]
        if not reliable or size < SURE_BYTES or percent < SURE_PERCENT:
            return None
        language = normalise(code)
        return None if language in hard else language

    return sure


def _voters() -> dict[str, Voter]:
    """The three that vote, each loaded when it is first asked."""
    import pycld2

    def cld2(text: str | bytes) -> str | None:
        code = pycld2.detect(text, isPlainText=True, bestEffort=True)[2][0][1]
        return None if code == "un" else normalise(code)

    def cld3(text: str | bytes) -> str | None:
        return normalise(_neural().FindLanguage(text).language)

    def langid(text: str | bytes) -> str | None:
        import py3langid

        return normalise(py3langid.classify(text)[0])

    return {"pycld2": cld2, "cld3": cld3, "py3langid": langid}


@cache
def _neural() -> Any:
    import gcld3

    return gcld3.NNetLanguageIdentifier(0, 1000)  # bytes it reads, spread over a longer text
