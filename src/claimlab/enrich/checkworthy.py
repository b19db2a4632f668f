"""How check-worthy a sentence looks, by rules: numbers, names and factual verbs against first
person and commands.

The weights are set by hand, fitted to no dataset; bench/enrich_pt.py and docs/enrich.md say what
they are worth. Languages without a word list (data/checkworthy.toml) are judged by digits,
capitals, punctuation and length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from claimlab.enrich.cues import (
    QUESTION_MARKS,
    Cues,
    bare_words,
    begins_with,
    count_of,
    cues,
    ends_in,
)
from claimlab.enrich.decoration import plain
from claimlab.enrich.sentences import sentences
from claimlab.enrich.shortening import shortened
from claimlab.enrich.statements import LEAST_CLAIM_WORDS, statement_of, unlinked
from claimlab.enrich.verbs import ENCLITIC, main_verbs, verb_forms, verbs
from claimlab.text.stopwords import stop_words
from claimlab.text.tokens import words
from claimlab.text.traits import PUNCTUATION

WORDS_READ = 75  # a sentence that begins within them is read, to its end
LEAST_CONTENT_WORDS = 4  # content words of a claim
# the least score of a claim: more must speak for it than against; below, the text is said to make
# none
LEAST_SCORE = 0.1
# a text with this many statements rarely has no claim: a lower minimum score there
SEVERAL_STATEMENTS, LEAST_SCORE_OF_SEVERAL = 3, -0.5
HEADLINE_BONUS = 1.5
LEAD_BONUS = 0.5
REPORTING_LEAD_BONUS = 2.0  # more for a lead that reports something, against what comes later
SCORE_TO_SPARE = 1.0  # of its score that a claim may lose where it is cut
LATER_PENALTY = 0.05  # for each sentence before: what matters is said first
_BARE = re.compile(r"^[^\w$€£]+|\W+$")
_STOP = frozenset(f"{PUNCTUATION['question']}{PUNCTUATION['full_stop']}…")
_NUMBER = re.compile(r"(?:[A-Z]{0,2}[$€£])?\d")  # "R$30" and "3rd", not "covid-19"
# "667 new cases", "Deaths in 2018: 81,440", without a verb
_COUNT = re.compile(
    r"^(?:\w+ than )?\W*\d(?:\d{2}|[\d.,]*(?:%| per cent))|: [^\w\s]*\d[\d.,]*(?:[.,]\d{3}|%)\W*$"
)
_PART = re.compile(r"(?<=;)\s+")
_GERUND = re.compile(r"[aei]ndo$")
_REPORTED = re.compile(r"(?:[aei]ndo|[ai]d[ao]s?)$|^(?:falso|mentira|verdade|fato)$")
# what words of a kind take away, each, and how many of them count
_SPOKEN = {"person": (1.0, 2), "group": (0.5, 1), "opinion": (0.8, 2), "call": (1.0, 2)}


class CandidateSentence(NamedTuple):
    """A sentence of a text, its score, and the claim in it. `says`: it has a verb; `headline`: it
    has a line of its own at the top; `lead`: it is the first, or the first that is worth it."""

    sentence: str
    worth: float
    claim: str
    says: bool
    headline: bool
    lead: bool


def score(sentence: str, language: str | None) -> float:
    """Higher is more check-worthy; only the order of two scores, and whether one is above
    `LEAST_SCORE`, mean anything.
    """
    written = list(filter(None, (_BARE.sub("", w) for w in words(sentence.replace("’", "'")))))
    lower, lists = [word.lower() for word in written], cues(language)
    if not written or _is_figures(written):
        return float("-inf")
    counted = bool(_COUNT.search(sentence))
    n_verbs = sum(verbs(lower, language)) * any(main_verbs(lower, language))
    whole = 1.0 if n_verbs or not lists else 0.5  # a heading, a name or a source names things too
    numbers = sum(bool(_NUMBER.match(word)) for word in written)
    named = 1.0 * min(2, numbers) + 0.6 * min(3, _names(written))
    total = whole * named + 0.8 * min(2, n_verbs)
    for cost in (
        *(cost * min(most, count_of(lower, lists, kind)) for kind, (cost, most) in _SPOKEN.items()),
        *_opening(written, lower, lists),
        6.0 * ends_in(QUESTION_MARKS, sentence) + 2.0 * _asks_later(sentence, lists),
        (0.5 if named else 1.5) * ("!" in sentence),
        *_heading(lower, lists, counted=counted, says=n_verbs > 0),
        1.5 * _lacks_subject(written, language),
        0.5 * written[0][0].islower(),
    ):
        total -= cost
    short = len(written) <= LEAST_CLAIM_WORDS
    empty = not counted and _is_empty(lower, language, LEAST_CONTENT_WORDS - short)
    return total - 1.5 * short - 0.8 * empty


def _is_empty(lower: list[str], language: str | None, least: int) -> bool:
    """Fewer content words than that, in a language of which they are known."""
    if language is None or not cues(language):
        return False
    return sum(word not in stop_words(language) for word in lower) < least


def _is_figures(written: list[str]) -> bool:
    """A date, a time, a telephone number."""
    return sum(any(map(str.isdigit, word)) for word in written) * 2 > len(written)


def _opening(written: list[str], lower: list[str], lists: Cues) -> Iterator[float]:
    """What the first words take away: a link to the sentence before, a command, a question."""
    linked = len(lower) > 1 and begins_with(lower, lists, "links")
    opening = lower[1:] if linked else lower
    command, pointing = (begins_with(opening, lists, kind) for kind in ("command", "pointing"))
    # "Estão fechando moinhos", "Está proibida a pesca", "É falso que"
    reported = _REPORTED.search(" ".join(opening[1:2])) and opening[0] in lists["factual"]
    pointing = pointing and not reported
    yield 0.8 * linked + 4.0 * command + 2.0 * pointing
    yield 1.5 * begins_with(opening, lists, "conditions")
    shouted = len(written[0]) > 1 and written[0].isupper()
    shouted = shouted and not " ".join(written[1:2]).isupper()
    yield 3.5 * (begins_with(opening, lists, "asks") and not shouted)


def _heading(lower: list[str], lists: Cues, *, counted: bool, says: bool) -> Iterator[float]:
    """What it takes away that nothing is said, and that the first words are a label."""
    label = begins_with(lower, lists, "label")
    if lists and not says:
        yield (0.3 if counted else 1.5) + 1.0 * label
    yield 1.0 * label


def _spoken(sentence: str, language: str | None) -> bool:
    """Whether the writer speaks of himself, judges or calls to the reader."""
    written, lists = bare_words(sentence.replace("’", "'")), cues(language)
    return any(count_of(written, lists, kind) for kind in _SPOKEN)


def _lacks_subject(written: list[str], language: str | None) -> bool:
    """Who did it is not said, in a language that may leave it out: "Took it and denies it". What
    begins with a verb and goes on with a name, an article or a figure says it: "Died the miller".
    """
    if language not in ("por", "spa") or len(written) < 2:
        return False
    lists = cues(language)
    verb = ENCLITIC.sub("", written[0].lower()) in lists["factual"] | verb_forms(language)
    subject = written[1] in lists["articles"] or _GERUND.search(written[1])
    return verb and written[1].islower() and not subject


def _asks_later(sentence: str, lists: Cues) -> bool:
    """ "The mill: what is known", "May 1: see how it went"."""
    parts = filter(None, map(bare_words, sentence.split(": ")[1:]))
    return any(begins_with(part, lists, kind) for part in parts for kind in ("asks", "call"))


def _names(written: list[str]) -> int:
    """Words with a capital inside the sentence; where most words have one, as in a title, it says
    nothing.
    """
    long = [w for w in written if len(w) > 3]
    if sum(w[0].isupper() for w in long) * 5 > len(long) * 3:
        return 0
    return sum(
        1 for w in written[1:] if w[0].isupper() and len(w) > 1 and not (w.isupper() and len(w) > 5)
    )


def best_claims(text: str, language: str | None, *, most: int = 1) -> list[str]:
    """The `most` most check-worthy sentences that begin in the first 75 words, each within its
    clauses, in the order of the text. None where no sentence is worth checking."""
    options = candidates(text, language)
    least = (
        LEAST_SCORE_OF_SEVERAL
        if sum(candidate.says for candidate in options) >= SEVERAL_STATEMENTS
        else LEAST_SCORE
    )
    ranked = []
    for i, candidate in enumerate(options):
        # what a cut took away counts no more
        lost = max(0.0, candidate.worth - score(candidate.claim, language))
        worth = candidate.worth + LEAD_BONUS * candidate.lead + HEADLINE_BONUS * candidate.headline
        if worth - max(0.0, lost - SCORE_TO_SPARE) < (least if candidate.says else LEAST_SCORE):
            continue
        # a lead that reports something goes first
        first = candidate.lead and candidate.says and not _spoken(candidate.sentence, language)
        ranked.append((LATER_PENALTY * i - worth + lost - REPORTING_LEAD_BONUS * first, i))
    chosen = sorted(i for _, i in sorted(ranked)[:most])
    return list(dict.fromkeys(options[i].claim for i in chosen))


def candidates(text: str, language: str | None) -> list[CandidateSentence]:
    """The sentences that begin in the first 75 words, as claims. A headline is a line of its own
    that says something, does not end like a sentence and comes before all others that do."""
    claims: list[CandidateSentence] = []
    has_headline = has_lead = False
    for sentence, alone in sentences_read(text):
        statement = statement_of(sentence, language)
        claim = shortened(unlinked(statement, language), language)
        if len(words(claim)) < LEAST_CLAIM_WORDS:
            continue
        says = any(main_verbs(bare_words(statement), language)) or not cues(language)
        worth = score(statement, language)
        reports = says and worth > 0
        headline = alone and reports and not has_headline
        has_headline |= headline or (says and not alone)
        lead = not claims or (reports and not has_lead)
        has_lead |= reports
        claims.append(CandidateSentence(statement, worth, claim, says, headline, lead))
    return claims


def sentences_read(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences that begin in the first 75 words, and whether each is a line of its own above
    others.
    """
    lines = plain(text).splitlines()
    read = 0
    for number, line in enumerate(lines):
        cut = [part for sentence in sentences(line) for part in _PART.split(sentence)]
        for sentence in cut:
            if read >= WORDS_READ:
                return
            read += len(words(sentence))
            yield (
                sentence,
                len(cut) == 1 and number + 1 < len(lines) and not ends_in(_STOP, sentence),
            )
