"""How check-worthy a sentence looks, by rules: numbers, names and factual verbs against first
person and commands.

The weights are set by hand, fitted to no dataset; bench/enrich_pt.py and docs/enrich.md say what
they are worth. Languages without a word list (data/checkworthy.toml) are judged by digits,
capitals, punctuation and length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import polars as pl

from claimlab.core import packaged
from claimlab.enrich.sentences import plain, sentences, words
from claimlab.text.normalise import strip_accents
from claimlab.text.stopwords import stop_words

# The verbs of a sentence, and a long sentence made shorter at the end of a clause: with its
# subject, and never in the middle of one.
#
# Which words are verbs of a report is known by lists and by what comes before: "the report" is
# none. The lists (data/checkworthy.toml) name verbs once, as a dictionary does; the forms in which
# a report uses them are made by the rules of the language. Without a list nothing is known to be a
# verb.


class Cues(dict[str, frozenset[str]]):
    """The words of a language by kind; of a kind that it does not list there are none."""

    def __missing__(self, kind: str) -> frozenset[str]:
        return frozenset()


SUBJECT = 4  # words within which a headline comes to its verb
_ENCLITIC = re.compile(r"-(?:se|me|lhes?|[ao]s?)$")  # "encontra-se"
_AND = frozenset({"and", "e", "y", "und", "et", "or", "ou"})


@cache
def cues(language: str | None) -> Cues:
    """The word lists of a language; each word also without accents, where that is not another
    word.
    """
    listed = packaged.toml("claimlab.enrich", "checkworthy.toml").get(language or "", {})
    other = stop_words(language) if language and listed else frozenset[str]()
    known = Cues()
    for kind, spelt in listed.items():
        folded = [] if kind == "endings" else _folded(spelt)
        known[kind] = frozenset(spelt) | (frozenset(folded) - other)
    return known


def _folded(listed: list[str]) -> list[str]:
    bare: list[str] = strip_accents(pl.Series(listed, dtype=pl.String)).to_list()
    return [plain for plain, word in zip(bare, listed, strict=True) if plain != word]


def is_verb(word: str, language: str | None, before: str = "") -> bool:
    """Whether a lower-case word is a verb of a report: by the lists, or by its ending; after a word
    that only a noun can follow (`before`) it is none."""
    known = cues(language)
    if before in known["determiners"]:
        return False
    endings = tuple(known["endings"])
    if language == "por":
        word = _ENCLITIC.sub("", word)
    listed = word in known["factual"] or word in _forms(language)
    plural = known["plural"] and (before.endswith("s") or before in known["plural"])
    return bool(listed or (plural and word in known["regular"]) or _ends(word, endings, language))


def verbs(written: Sequence[str], language: str | None) -> list[bool]:
    """For each lower-case word of a sentence whether it is a verb. A Portuguese headline may begin
    with a participle, "Confirmada primeira morte", and a place with a verb, "São Paulo"."""
    flags = [is_verb(word, language, before) for before, word in pairwise(["", *written])]
    if written and written[0] in _participles(language):
        flags[0] = True
    for i, pair in enumerate(pairwise(written)):
        flags[i] = flags[i] and " ".join(pair) not in cues(language)["names"]
    if language == "eng" and not any(flags):  # "India spraying pesticides"
        flags[1:SUBJECT] = [word.endswith("ing") and len(word) > 5 for word in written[1:SUBJECT]]
    return flags


def main_verbs(written: Sequence[str], language: str | None) -> list[bool]:
    """The same without the verbs of relative clauses: "a message of a man who lives in Ostrel" has
    none. After a verb, "that" begins what is said, and not a relative clause."""
    relatives = cues(language)["relatives"]
    flags = verbs(written, language)
    # for the verb of a relative clause; for another one that "and" joins to it
    waiting = joined = False
    for i, word in enumerate(written):
        if word in relatives and not (i and flags[i - 1]):
            waiting, joined = True, False
        elif flags[i] and (waiting or (joined and _AND & set(written[i - 2 : i]))):
            flags[i], waiting, joined = False, False, True
        elif flags[i]:
            joined = False
    return flags


def _ends(word: str, endings: tuple[str, ...], language: str | None) -> bool:
    return len(word) > 4 and word.endswith(endings) and word not in stop_words(language or "eng")


@cache
def _forms(language: str | None) -> frozenset[str]:
    """The forms of the regular verbs; a form that is another word (Portuguese "para", for) is left
    out.
    """
    regular = cues(language)["regular"]
    if language == "eng":
        return frozenset(form for verb in regular for form in _english(verb))
    if language == "por":
        forms = frozenset(form for verb in regular for form in _portuguese(verb))
        return forms - stop_words(language)
    return frozenset()


@cache
def _participles(language: str | None) -> frozenset[str]:
    regular = cues(language)["regular"] if language == "por" else ()
    stems = [
        verb[:-2] + ("ad" if verb.endswith("ar") else "íd" if verb[-3] in "aiou" else "id")
        for verb in regular
    ]
    return frozenset(stem + end for stem in stems for end in ("o", "a", "os", "as"))


def _portuguese(verb: str) -> tuple[str, ...]:
    stem, kind = verb[:-2], verb[-2:]
    if verb.endswith("uir"):  # inclui, incluem
        return f"{stem}i", f"{stem}em", f"{stem}iu", f"{stem}íram", f"{stem}irá", f"{stem}irão"
    if verb.endswith("ear"):  # nomeia, nomeiam
        stem = f"{verb[:-2]}i"
    endings = packaged.toml("claimlab.enrich", "checkworthy.toml")["portuguese"][kind]
    return tuple(stem + end for end in endings)


def _english(verb: str) -> tuple[str, str]:
    """The third person and the past: cures, cured; denies, denied; reaches, reached."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies", f"{verb[:-1]}ied"
    if verb.endswith(("s", "sh", "ch", "x", "z")):
        return f"{verb}es", f"{verb}ed"
    return f"{verb}s", f"{verb}d" if verb.endswith("e") else f"{verb}ed"


MOST = 20  # words of a claim, as in the paper; one that has no clause to end at may be longer
LEAST_PART = 8  # words of the part of a sentence that is kept
LONG = 30  # words of a sentence that may lose a relative clause
LONGEST = 45  # words of a sentence without any end of a clause
_BOUNDARY = re.compile(r"(?<=[,;:])\s+|(?<!\s)\s+(?:[-–—]{1,2}\s+|(?=\())")
_DATELINE = re.compile(
    r"^(?:\(?[A-ZÀ-Þ][\w.()/]*,?\s+(?:d[aeo]s?\s+)?){1,4}[-–—]\s+(?=[A-ZÀ-Þ\d])"
)  # "Quito (Ecuador) - On Monday"
_ASIDE = re.compile(r"\s\([^()]{1,30}\)(?=[\s,;:.])")  # "on Tuesday (24)", "the senator (PX-RN)"
TAIL = 3  # words after the last comma of a part: fewer are the beginning of something
_AROUND = re.compile(r"^\W+|\W+$")
_PARTICIPLE = re.compile(r"(?:[ai]d[oa]s?|ed|ing)$")
_WHAT = frozenset({"que", "that", "dass"})
_EDGES = " ,;:–—-"


def shortened(sentence: str, language: str | None) -> str:
    """`sentence` within `MOST` words, cut where a clause ends; nothing of one so long that none of
    its clauses can be told."""
    whole = _DATELINE.sub("", sentence).strip(_EDGES)
    if whole.endswith((" .", "..")) and not whole.endswith("..."):
        whole = f"{whole.rstrip(' .')}."
    if len(words(whole)) > MOST:
        whole = _ASIDE.sub("", whole)
    if len(words(whole)) <= MOST:
        return whole
    head, colon, rest = whole.partition(": ")
    says = [any(main_verbs(bare_words(part), language)) for part in (head, rest)]
    if colon and cues(language) and says == [False, True]:  # a title, and what it is about
        return shortened(_capital(rest), language)
    best = _best_clause(whole, language)
    if len(words(best)) <= LONGEST:
        return best.strip(_EDGES)
    return "" if cues(language) else " ".join(words(whole)[:MOST])


def _best_clause(whole: str, language: str | None) -> str:
    """The longest clause within `MOST` words, or the shortest."""
    clauses = [part for part in _parts(whole, language) if _is_clause(part, whole, language)]
    ends = sorted(clauses, key=len)
    short = [part for part in ends if len(words(part)) <= MOST]
    if short:
        return short[-1]
    return ends[0] if ends else whole


def bare(word: str) -> str:
    """A word without punctuation around it, in lower case."""
    return _AROUND.sub("", word).lower()


def bare_words(text: str) -> list[str]:
    return [bare(word) for word in words(text)]


def _parts(whole: str, language: str | None) -> Iterator[str]:
    """What comes before each place where a clause may end."""
    yield from (whole[: end.start()] for end in _BOUNDARY.finditer(whole))
    known = cues(language)
    joins, adds = known["joins"], known["adds"]
    if bare(words(whole)[0]) in joins:
        return  # the first clause is not the main one
    if len(words(whole)) > LONG:  # else what says which one is meant stays
        joins |= known["relatives"] - _WHAT
    for at in re.finditer(r"(?<!\s)\s+(?=(\S+)\s+(\S+))", whole):
        pair = f"{at[1]} {at[2]}".lower()
        word = pair if pair in joins else at[1].lower()
        # "after" begins a clause where a verb follows; in "named the project after a river" it does
        # not.
        adding = word in adds or (word in _AND and at[2].lower() in known["determiners"])
        if (word in joins or adding) and (
            not adding or _says_something(whole[at.end() :], language)
        ):
            yield whole[: at.start()]


def _says_something(rest: str, language: str | None) -> bool:
    phrase = bare_words(_BOUNDARY.split(rest, maxsplit=1)[0])[1:]
    infinitive = (
        language in ("por", "spa") and bool(phrase) and phrase[0].endswith(("ar", "er", "ir"))
    )
    return infinitive or any(main_verbs(phrase, language))


def _is_clause(part: str, whole: str, language: str | None) -> bool:
    """No bracket is left open, no word waits for the next, something is said of the subject, and
    nothing that belongs to it comes after."""
    known = cues(language)
    written = bare_words(part)
    if len(written) < LEAST_PART or part.count("(") != part.count(")"):
        return False
    verb_marks = verbs(written, language)
    stops = (stop_words(language) if language else frozenset[str]()) | _openers(known)
    if written[-1] in stops or verb_marks[-1]:  # "the minister says" waits for what
        return False
    opened = _openers(known) - known["adds"]
    last = max((i for i, word in enumerate(written) if i and word in opened), default=None)
    if last is not None and not any(verb_marks[last:]):  # "so that the senator" waits for a verb
        return False
    rest = _segments(whole[len(part) :].strip(_EDGES))
    return not known or (
        _has_main_verb(part, language)
        and not _goes_on(_segments(part)[-1], written, rest, language)
    )


def _has_main_verb(part: str, language: str | None) -> bool:
    """Where a sentence begins with "when" or "if", its main verb comes after the first comma."""
    segments = _segments(part)
    late = segments[0][0] in _openers(cues(language)) | cues(language)["conditions"]
    return any(main_verbs([word for segment in segments[late:] for word in segment], language))


def _goes_on(
    last: list[str], written: list[str], rest: list[list[str]], language: str | None
) -> bool:
    """Whether the sentence says more of the same: "the doctor, who was ill, | had written it"; "a
    disease | that spreads"; "gave on Monday, in Ostrel, | the looms"; "says in the paper, on page
    one, | that the mill burnt".
    """
    if not rest:
        return False
    known = cues(language)
    openings = [segment[0] for segment in (last, *rest[:2])]
    interrupted = any(
        (a in known["determiners"] or _PARTICIPLE.search(a)) and b in known["articles"]
        for a, b in pairwise(openings)
    )
    waits = _waiting(written, known["says"], rest)
    # "gave the right treatment, | at last, of the disease"
    owned = any(s[0] in known["of"] and s[1:2] not in (["acordo"], ["quais"]) for s in rest[:2])
    goes_on = interrupted or waits or owned or len(last) < TAIL
    return goes_on or is_verb(rest[0][0], language, written[-1])


def _segments(text: str) -> list[list[str]]:
    """The words between commas, dashes and brackets."""
    return list(filter(None, map(bare_words, _BOUNDARY.split(text))))


def _openers(known: Cues) -> frozenset[str]:
    return known["joins"] | known["relatives"]


def _waiting(written: list[str], says: frozenset[str], rest: list[list[str]]) -> bool:
    """Whether someone says something, and what it is comes only in the rest."""
    last = max((i for i, word in enumerate(written) if word in says), default=len(written))
    begins = {segment[0] for segment in rest}
    return last < len(written) and not _WHAT & set(written[last:]) and not _WHAT.isdisjoint(begins)


READ = 75  # words: a sentence that begins within them is read, to its end
LEAST = 4  # words of a claim
CONTENT = 4  # content words of a claim
# the least score of a claim: more must speak for it than against; below, the text is said to make
# none
WORTHY = 0.1
# a text with this many statements rarely has no claim: a lower minimum score there
SEVERAL, SEVERAL_WORTHY = 3, -0.5
HEADLINE = 1.5
LEAD = 0.5
FIRST = 2.0  # more for a lead that reports something, against what comes later
SPARE = 1.0  # of its score that a claim may lose where it is cut
LATER = 0.05  # for each sentence before: what matters is said first
CALL = 4  # words of a call to the reader that may go before a comma
CALL_TITLE = 12  # and before a colon
LEAST_CLAUSE = 6  # words of a statement before a question
AHEAD_WORDS = 3  # words among which a question begins: "And only how long"
AHEAD = 30  # characters that may go before "did you know"
_BARE = re.compile(r"^[^\w$€£]+|\W+$")
_QUESTION = frozenset("?？؟")
_STOP = frozenset(".?…。")
_NUMBER = re.compile(r"(?:[A-Z]{0,2}[$€£])?\d")  # "R$30" and "3rd", not "covid-19"
# "667 new cases", "Deaths in 2018: 81,440", without a verb
_COUNT = re.compile(
    r"^(?:\w+ than )?\W*\d(?:\d{2}|[\d.,]*(?:%| per cent))|: [^\w\s]*\d[\d.,]*(?:[.,]\d{3}|%)\W*$"
)
_SHOUT = re.compile(
    r"^(\w+)(?:\s*[!:,.–—-]+\s*|\s+(?=[^\Wa-zà-ÿ])|$)"
)  # "URGENT: The mill", "URGENT The mill"
_PART = re.compile(r"(?<=;)\s+")
_GERUND = re.compile(r"[aei]ndo$")
_REPORTED = re.compile(r"(?:[aei]ndo|[ai]d[ao]s?)$|^(?:falso|mentira|verdade|fato)$")
_TRAILING = re.compile(r"(?<![\s,])[\s,]+(?:ou seja|isto é)\W*$", re.IGNORECASE)  # before a ;
_HEAD = re.compile(r"[,:]\s+")  # "Look here, the mill", "Read this: the mill"
# what words of a kind take away, each, and how many of them count
_SPOKEN = {"person": (1.0, 2), "group": (0.5, 1), "opinion": (0.8, 2), "call": (1.0, 2)}
_SIGNS = " !:;,.–—-"


class Candidate(NamedTuple):
    """A sentence of a text, its score, and the claim in it. `says`: it has a verb; `headline`: it
    has a line of its own at the top; `lead`: it is the first, or the first that is worth it."""

    sentence: str
    worth: float
    claim: str
    says: bool
    headline: bool
    lead: bool


def score(sentence: str, language: str | None) -> float:
    """Higher is more check-worthy; only the order of two scores, and whether one is above `WORTHY`,
    mean anything.
    """
    written = list(filter(None, (_BARE.sub("", w) for w in words(sentence.replace("’", "'")))))
    lower, known = [word.lower() for word in written], cues(language)
    if not written or _is_figures(written):
        return float("-inf")
    counted = bool(_COUNT.search(sentence))
    n_verbs = sum(verbs(lower, language)) * any(main_verbs(lower, language))
    whole = 1.0 if n_verbs or not known else 0.5  # a heading, a name or a source names things too
    numbers = sum(bool(_NUMBER.match(word)) for word in written)
    named = 1.0 * min(2, numbers) + 0.6 * min(3, _names(written))
    total = whole * named + 0.8 * min(2, n_verbs)
    for cost in (
        *(cost * min(most, _count(lower, known, kind)) for kind, (cost, most) in _SPOKEN.items()),
        *_opening(written, lower, known),
        6.0 * _ends_in(_QUESTION, sentence) + 2.0 * _asks_later(sentence, known),
        (0.5 if named else 1.5) * ("!" in sentence),
        *_heading(lower, known, counted=counted, says=n_verbs > 0),
        1.5 * _lacks_subject(written, language),
        0.5 * written[0][0].islower(),
    ):
        total -= cost
    short = len(written) <= LEAST
    empty = not counted and _is_empty(lower, language, CONTENT - short)
    return total - 1.5 * short - 0.8 * empty


def _is_empty(lower: list[str], language: str | None, least: int) -> bool:
    """Fewer content words than that, in a language of which they are known."""
    if language is None or not cues(language):
        return False
    return sum(word not in stop_words(language) for word in lower) < least


def _is_figures(written: list[str]) -> bool:
    """A date, a time, a telephone number."""
    return sum(any(map(str.isdigit, word)) for word in written) * 2 > len(written)


def _opening(written: list[str], lower: list[str], known: Cues) -> Iterator[float]:
    """What the first words take away: a link to the sentence before, a command, a question."""
    linked = len(lower) > 1 and _begins(lower, known, "links")
    opening = lower[1:] if linked else lower
    command, pointing = (_begins(opening, known, kind) for kind in ("command", "pointing"))
    # "Estão fechando moinhos", "Está proibida a pesca", "É falso que"
    reported = _REPORTED.search(" ".join(opening[1:2])) and opening[0] in known["factual"]
    pointing = pointing and not reported
    yield 0.8 * linked + 4.0 * command + 2.0 * pointing
    yield 1.5 * _begins(opening, known, "conditions")
    shouted = len(written[0]) > 1 and written[0].isupper()
    shouted = shouted and not " ".join(written[1:2]).isupper()
    yield 3.5 * (_begins(opening, known, "asks") and not shouted)


def _heading(lower: list[str], known: Cues, *, counted: bool, says: bool) -> Iterator[float]:
    """What it takes away that nothing is said, and that the first words are a label."""
    label = _begins(lower, known, "label")
    if known and not says:
        yield (0.3 if counted else 1.5) + 1.0 * label
    yield 1.0 * label


def _spoken(sentence: str, language: str | None) -> bool:
    """Whether the writer speaks of himself, judges or calls to the reader."""
    written, known = bare_words(sentence.replace("’", "'")), cues(language)
    return any(_count(written, known, kind) for kind in _SPOKEN)


def _lacks_subject(written: list[str], language: str | None) -> bool:
    """Who did it is not said, in a language that may leave it out: "Took it and denies it". What
    begins with a verb and goes on with a name, an article or a figure says it: "Died the miller".
    """
    if language not in ("por", "spa") or len(written) < 2:
        return False
    known = cues(language)
    verb = _ENCLITIC.sub("", written[0].lower()) in known["factual"] | _forms(language)
    subject = written[1] in known["articles"] or _GERUND.search(written[1])
    return verb and written[1].islower() and not subject


def _asks_later(sentence: str, known: Cues) -> bool:
    """ "The mill: what is known", "May 1: see how it went"."""
    parts = filter(None, map(bare_words, sentence.split(": ")[1:]))
    return any(_begins(part, known, kind) for part in parts for kind in ("asks", "call"))


def _count(written: list[str], known: Cues, kind: str) -> int:
    pairs = [" ".join(pair) for pair in pairwise(written)]
    return sum(w in known[kind] for w in [*written, *pairs])


def _begins(written: list[str], known: Cues, kind: str) -> bool:
    return written[0] in known[kind] or " ".join(written[:2]) in known[kind]


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
    least = SEVERAL_WORTHY if sum(one.says for one in options) >= SEVERAL else WORTHY
    ranked = []
    for i, one in enumerate(options):
        # what a cut took away counts no more
        lost = max(0.0, one.worth - score(one.claim, language))
        worth = one.worth + LEAD * one.lead + HEADLINE * one.headline
        if worth - max(0.0, lost - SPARE) < (least if one.says else WORTHY):
            continue
        # a lead that reports something goes first
        first = one.lead and one.says and not _spoken(one.sentence, language)
        ranked.append((LATER * i - worth + lost - FIRST * first, i))
    chosen = sorted(i for _, i in sorted(ranked)[:most])
    return list(dict.fromkeys(options[i].claim for i in chosen))


def _statement(sentence: str, language: str | None) -> str:
    """A sentence without its opening: a call for attention, "did you know that", "look here,"."""
    known = cues(language)
    statement = _before_question(_without_question(_TRAILING.sub("", sentence), known), language)
    while (shout := _SHOUT.match(statement)) and bare(shout[1]) in known["shouts"]:
        statement = _capital(statement[shout.end() :].lstrip(_SIGNS))
    head, *rest = _HEAD.split(statement, maxsplit=1)
    begins = bare_words(head)
    most = CALL if statement[len(head) :][:1] == "," else CALL_TITLE
    called = 0 < len(begins) <= most and _begins(begins, known, "command")
    long = bool(rest) and len(words(rest[0])) >= LEAST
    return _capital(rest[0].strip(_SIGNS)) if called and long else statement


def _unlinked(statement: str, language: str | None) -> str:
    """A sentence without the word and the comma that tie it to the one before: "So, the mill
    burnt".
    """
    head, comma, rest = statement.partition(",")
    return _capital(rest.strip()) if comma and bare(head) in cues(language)["links"] else statement


def _without_question(sentence: str, known: Cues) -> str:
    """ "Did you know that the mill burnt?" says that the mill burnt."""
    lower = sentence.lower()
    for opening in known["heard"]:  # "I read that the mill burnt"
        if lower.startswith(f"{opening} "):
            return _capital(sentence[len(opening) :].strip())
    for opening in sorted(known["known"], key=len, reverse=True):
        at = lower.find(f"{opening} ")
        if 0 <= at <= AHEAD and _ends_in(_QUESTION, sentence):
            return _capital(sentence[at + len(opening) :].strip(_SIGNS + "?"))
    return sentence


def _before_question(sentence: str, language: str | None) -> str:
    """ "The mayor closed all mills of the town, and who pays for it?" says that he closed them."""
    known = cues(language)
    head, *rest = re.split(r"(?<!,), | e (?=vai |vão |quer |querem )", sentence, maxsplit=1)
    begins = bare_words(head)
    if not rest or len(begins) < LEAST_CLAUSE or not _ends_in(_QUESTION, sentence):
        return sentence
    question = any(_begins(begins[i:], known, "asks") for i in range(AHEAD_WORDS))
    question = question or any(_begins(begins, known, kind) for kind in ("conditions", "group"))
    return sentence if question or not any(main_verbs(begins, language)) else f"{head}."


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
    has_headline = has_lead = False
    for sentence, alone in _read(text):
        statement = _statement(sentence, language)
        claim = shortened(_unlinked(statement, language), language)
        if len(words(claim)) < LEAST:
            continue
        says = any(main_verbs(bare_words(statement), language)) or not cues(language)
        worth = score(statement, language)
        reports = says and worth > 0
        headline = alone and reports and not has_headline
        has_headline |= headline or (says and not alone)
        lead = not claims or (reports and not has_lead)
        has_lead |= reports
        claims.append(Candidate(statement, worth, claim, says, headline, lead))
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
