"""How check-worthy a sentence looks, by rules: numbers, names and factual verbs against first
person and commands.

The weights are set by hand, fitted to no dataset; bench/enrich_pt.py and docs/enrich.md say what
they are worth. Languages without a word list (data/checkworthy.toml) are judged by digits,
capitals, punctuation and length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from claimlab.enrich.clauses import Cues, bare, cues, main_verbs, shortened, verbs
from claimlab.enrich.sentences import plain, sentences, words
from claimlab.text.stopwords import stop_words

READ = 75  # words: a sentence that begins within them is read, to its end
LEAST = 4  # words of a claim
CONTENT = 4  # content words of a claim
# the least score of a claim: more must speak for it than against; below, the text is said to make
# none
WORTHY = 0.1
SEVERAL, SEVERAL_WORTHY = (
    3,
    -0.5,
)  # a text with this many statements rarely has no claim: a lower minimum score there
HEADLINE = 1.5
LEAD = 0.5
LATER = 0.05  # for each sentence before: what matters is said first
CALL = 4  # words of a call to the reader that may go before a comma
AHEAD = 30  # characters that may go before "did you know"
_BARE = re.compile(r"^[^\w$€£]+|\W+$")
_QUESTION = frozenset("?？؟")
_STOP = frozenset(".?…。")
_NUMBER = re.compile(r"(?:[A-Z]{0,2}[$€£])?\d")  # "R$30" and "3rd", not "covid-19"
_COUNT = re.compile(
    r"^(?:\w+ than )?\W*\d(?:\d{2}|[\d.,]*(?:%| per cent))"
)  # "667 new cases", without a verb
_SHOUT = re.compile(
    r"^(\w+)(?:\s*[!:,.–—-]+\s*|\s+(?=[^\Wa-zà-ÿ])|$)"
)  # "URGENT: The mill", "URGENT The mill"
_PART = re.compile(r"(?<=;)\s+")
# what words of a kind take away, each, and how many of them count
_SPOKEN = {"person": (1.0, 2), "group": (0.5, 1), "opinion": (0.8, 2), "call": (1.0, 2)}
_SIGNS = " !:;,.–—-"


@dataclass(frozen=True)
class Candidate:
    """A sentence of a text, and the claim in it. `says`: it has a verb; `headline`: it has a line
    of its own at the top; `lead`: it is the first."""

    sentence: str
    claim: str
    says: bool = True
    headline: bool = False
    lead: bool = False


def score(sentence: str, language: str | None) -> float:
    """Higher is more check-worthy; only the order of two scores, and whether one is above `WORTHY`,
    mean anything.
    """
    written = [w for w in (_BARE.sub("", w) for w in words(sentence.replace("’", "'"))) if w]
    lower, known = [word.lower() for word in written], cues(language)
    if not written or _is_figures(written):
        return float("-inf")
    counted = bool(_COUNT.search(sentence))
    n_verbs = sum(verbs(lower, language)) if any(main_verbs(lower, language)) else 0
    whole = 1.0 if n_verbs or not known else 0.5  # a heading, a name or a source names things too
    named = 1.0 * min(2, _numbers(written)) + 0.6 * min(3, _names(written))
    total = whole * named + 0.8 * min(2, n_verbs)
    for cost in (
        *(cost * min(most, _count(lower, known, kind)) for kind, (cost, most) in _SPOKEN.items()),
        *_opening(written, lower, known),
        6.0 * _ends_in(_QUESTION, sentence) + 2.0 * _asks_later(sentence, known),
        0.5 * ("!" in sentence),
        *_heading(lower, known, counted=counted, says=n_verbs > 0),
        0.5 * written[0][0].islower(),
    ):
        total -= cost
    if len(written) < LEAST + 1:
        return total - 1.5
    return total - 0.8 * (not counted and _is_empty(lower, language))


def _is_empty(lower: list[str], language: str | None) -> bool:
    """Few content words, in a language of which they are known."""
    if language is None or not cues(language):
        return False
    return sum(word not in stop_words(language) for word in lower) < CONTENT


def _is_figures(written: list[str]) -> bool:
    """A date, a time, a telephone number."""
    return sum(any(map(str.isdigit, word)) for word in written) * 2 > len(written)


def _numbers(written: list[str]) -> int:
    return sum(bool(_NUMBER.match(word)) for word in written)


def _opening(written: list[str], lower: list[str], known: Cues) -> Iterator[float]:
    """What the first words take away: a link to the sentence before, a command, a question."""
    linked = len(lower) > 1 and _begins(lower, known, "links")
    opening = lower[1:] if linked else lower
    command, pointing = (_begins(opening, known, kind) for kind in ("command", "pointing"))
    yield 0.8 * linked + 3.0 * command + 2.0 * pointing
    yield 1.5 * _begins(opening, known, "conditions")
    shouted = len(written[0]) > 1 and written[0].isupper()
    yield 3.5 * (_begins(opening, known, "asks") and not shouted)


def _heading(lower: list[str], known: Cues, *, counted: bool, says: bool) -> Iterator[float]:
    """What it takes away that nothing is said, and that the first words are a label."""
    label = _begins(lower, known, "label")
    if known and not says:
        yield (0.3 if counted else 1.5) + 1.0 * label
    yield 1.0 * label


def _asks_later(sentence: str, known: Cues) -> bool:
    """ "The mill: what is known", "May 1: see how it went"."""
    parts = [[bare(word) for word in words(part)] for part in sentence.split(": ")[1:]]
    return any(_begins(part, known, kind) for part in parts if part for kind in ("asks", "call"))


def _count(written: list[str], known: Cues, kind: str) -> int:
    pairs = [" ".join(pair) for pair in pairwise(written)]
    return sum(w in known.get(kind, ()) for w in [*written, *pairs])


def _begins(written: list[str], known: Cues, kind: str) -> bool:
    return written[0] in known.get(kind, ()) or " ".join(written[:2]) in known.get(kind, ())


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
    worth = [
        score(one.sentence, language) + LEAD * one.lead + HEADLINE * one.headline for one in options
    ]
    least = SEVERAL_WORTHY if sum(one.says for one in options) >= SEVERAL else WORTHY
    good = [i for i, value in enumerate(worth) if value >= least]
    ranked = sorted(good, key=lambda i: (LATER * i - worth[i], i))[:most]
    return list(dict.fromkeys(options[i].claim for i in sorted(ranked)))


def _statement(sentence: str, language: str | None) -> str:
    """A sentence without its opening: a call for attention, "did you know that", "look here,"."""
    known = cues(language)
    statement = _without_question(sentence, known)
    while (shout := _SHOUT.match(statement)) and bare(shout[1]) in known.get("shouts", ()):
        statement = statement[shout.end() :].lstrip(_SIGNS)
    head, comma, rest = statement.partition(",")
    begins = [bare(word) for word in words(head)]
    called = 0 < len(begins) <= CALL and _begins(begins, known, "command")
    return (
        _capital(rest.strip(_SIGNS))
        if comma and called and len(words(rest)) >= LEAST
        else statement
    )


def _unlinked(statement: str, language: str | None) -> str:
    """A sentence without the word and the comma that tie it to the one before: "So, the mill
    burnt".
    """
    head, comma, rest = statement.partition(",")
    return (
        _capital(rest.strip())
        if comma and bare(head) in cues(language).get("links", ())
        else statement
    )


def _without_question(sentence: str, known: Cues) -> str:
    """ "Did you know that the mill burnt?" says that the mill burnt."""
    lower = sentence.lower()
    for opening in sorted(known.get("known", ()), key=len, reverse=True):
        at = lower.find(f"{opening} ")
        if 0 <= at <= AHEAD and _ends_in(_QUESTION, sentence):
            return _capital(sentence[at + len(opening) :].strip(_SIGNS + "?"))
    return sentence


def _ends_in(marks: frozenset[str], sentence: str) -> bool:
    """Whether one of the marks is in the punctuation at the end."""
    for character in reversed(sentence):
        if character in marks:
            return True
        if character.isalnum() or character == "_":
            return False
    return False


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def candidates(text: str, language: str | None) -> list[Candidate]:
    """The sentences that begin in the first 75 words, as claims. A headline is a line of its own
    that says something, does not end like a sentence and comes before all others that do."""
    claims: list[Candidate] = []
    has_headline = False
    for sentence, alone in _read(text):
        statement = _statement(sentence, language)
        claim = shortened(_unlinked(statement, language), language)
        if len(words(claim)) < LEAST:
            continue
        says = any(main_verbs([bare(word) for word in words(statement)], language)) or not cues(
            language
        )
        headline = alone and not has_headline and says and score(statement, language) > 0
        has_headline = has_headline or headline or (says and not alone)
        claims.append(Candidate(statement, claim, says, headline, lead=not claims))
    return claims


def _read(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences that begin in the first 75 words, and whether each is a line of its own above
    others.
    """
    lines = plain(text).splitlines()
    read = 0
    for number, line in enumerate(lines):
        cut = [part for sentence in sentences(line) for part in _PART.split(sentence)]
        for sentence in cut:
            if read >= READ:
                return
            read += len(words(sentence))
            yield (
                sentence,
                len(cut) == 1 and number + 1 < len(lines) and not _ends_in(_STOP, sentence),
            )
