"""A sentence taken apart: what leads it in, its subject, its verb, the rest, and the clause that
trails behind.

No tagger: words of closed classes, known verbs and their neighbours decide. What cannot be read
with some confidence is null, and an operator that needs it leaves the sentence alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from claimlab.evolve.rewrite.english.forms import Tense, is_plural, lemma, verb_forms
from claimlab.evolve.rewrite.english.lists import words as listed

BE, HAVE, MODALS, DO = listed("be"), listed("have"), listed("modals"), listed("do")
AUXILIARIES = BE | HAVE | MODALS | DO
DETERMINERS, PREPOSITIONS, SUBORDINATORS = (
    listed("determiners"),
    listed("prepositions"),
    listed("subordinators"),
)
_ADVERBS, _NOUNS = listed("adverbs"), listed("nouns")
_WORD = re.compile(r"[\w][\w'’%$.,/-]*[\w%]|\w|[$€£][\d.,]+")
_FRONT = re.compile(
    r"^(?P<front>(?:In|On|At|By|During|Since|Over|Under|Throughout|Between|From|Within|Across|Among|"
    r"For|As of|After|Before|"
    r"Following|Despite|Amid|Around|Because of|Due to|Owing to|Thanks to|According"
    r" to|With|Without|Globally|Worldwide|"
    r"Today|Recently|Currently|Nationally|Back in)\b[^,;—]{0,90}?), (?=\S)"
)
_TAIL = re.compile(
    r"^(?P<main>.{15,}?)(?P<mark>, | — |—)(?P<tail>(?:which|while|whereas|although|though|even "
    r"though|with|including|such as|"
    r"especially|particularly|partly|likely|but|because|so|despite|due to|thanks to|after|before|"
    r"following|amid|who|where|"
    r"thereby|as well as|rather than|notably|mainly|compared (?:to|with)|[a-z]+ing)\b[^;]*)$"
)
_JOINT = re.compile(
    r"^(?P<main>.{15,}?) (?P<tail>(?:because of|because|due to|owing to|thanks to|while|whereas|"
    r"although|though|as a result of)"
    r" .+)$"
)
_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[\"'“A-Z0-9])")
_SHORT = re.compile(r"(?:\b[A-Z]\.|\b(?:U\.S|U\.K|Dr|Mr|Mrs|Ms|St|No|vs|v|Inc|e\.g|i\.e)\.)$")


@dataclass(frozen=True)
class Group:
    """The verb of a clause: its auxiliary, the words between, and the verb itself; `tense` is the
    form of the first.
    """

    words: tuple[str, ...]
    auxiliary: str | None
    main: str  # as it is written; for "is" alone, "is"
    base: str | None  # the verb; null where it is not a known one (after an auxiliary)
    tense: Tense | None

    def text(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True)
class Clause:
    """`front` ("In 2019"), `subject`, `group`, `rest`, and `tail` with the mark before it (",
    marking the start").
    """

    subject: str
    group: Group
    rest: str
    front: str = ""
    tail: str = ""
    mark: str = ""

    @property
    def plural(self) -> bool:
        first = self.group.words[0].lower()
        if (
            first in ("is", "was", "has", "does", "isn't", "wasn't", "hasn't", "doesn't")
            or self.group.tense == "s"
        ):
            return False
        if (
            first in ("are", "were", "have", "do", "aren't", "weren't", "haven't", "don't")
            or self.group.tense == "base"
        ):
            return True
        return several(self.subject)

    @property
    def past(self) -> bool:
        first = self.group.words[0].lower()
        return (
            first in ("was", "were", "had", "did", "would", "wasn't", "weren't", "didn't")
            or self.group.tense == "past"
        )

    def core(self) -> str:
        return " ".join(part for part in (self.subject, self.group.text(), self.rest) if part)

    def text(self) -> str:
        """The sentence without its last mark."""
        core = lowered(self.core()) if self.front else self.core()
        front = f"{raised(self.front)}, " if self.front else ""
        return (
            f"{front}{core if front else raised(core)}{self.mark if self.tail else ''}{self.tail}"
        )

    def with_(self, **parts: object) -> Clause:
        return replace(self, **parts)  # type: ignore[arg-type]


def sentences(text: str) -> list[str]:
    """The sentences of a text; a full stop after an initial or an abbreviation ends none."""
    parts: list[str] = []
    for piece in _SPLIT.split(text.strip()):
        if parts and _SHORT.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {piece}"
        else:
            parts.append(piece)
    return [part for part in parts if part]


def ended(sentence: str) -> tuple[str, str]:
    """A sentence without the mark at its end, and the mark."""
    body = sentence.rstrip(" .!?…")
    end = sentence[len(body) :].strip()
    return (
        (body + ".", end[1:])
        if _SHORT.search(body + ".") and end.startswith(".")
        else (body, end[:1] or ".")
    )


def several(phrase: str) -> bool:
    """Whether a noun phrase is plural: by its head, or because "and" joins two."""
    if ", " in phrase and " and " not in phrase:
        phrase = phrase.rsplit(", ", 1)[-1]  # what leads a sentence in is not its subject
    if match := re.match(
        (
            r"(?:\w+ )*?(?:[\d.,]+%|[\d.,]+"
            r" percent|half|majority|most|many|third|quarter|quarters|fifth|"
            r"thirds) of (?P<of>.+)"
        ),
        phrase,
    ):
        return several(match["of"])
    if re.search(r"\band\b", phrase) and not re.match(r"(?:the )?\w+ of\b", phrase, re.IGNORECASE):
        return True
    head = re.split(
        r" (?:of|in|on|at|for|from|with|to|by|among|between|across|that|which|who|during|under|over|against|about)\b|,",  # noqa: E501
        phrase,
        maxsplit=1,
    )[0]
    if re.match(r"(?:a|an|each|every|one|this|that)\b", head, re.IGNORECASE):
        return bool(
            re.match(
                r"(?:a )?(?:number|majority|group|range|variety|few) of", phrase, re.IGNORECASE
            )
        )
    return is_plural(head)


@lru_cache(maxsize=20_000)
def parse(sentence: str) -> Clause | None:
    """The parts of one sentence (without its last mark); null where no verb can be told."""
    front, body = "", sentence.strip()
    if (
        (match := _FRONT.match(body))
        and not _verb_at(match["front"], 0, whole=True)
        and len(match["front"].split()) <= 12
    ):
        front, body = match["front"], body[match.end() :]
    tail = mark = ""
    for pattern in (_TAIL, _JOINT):
        match = pattern.match(body)
        if (
            match
            and _verb_at(match["main"], 1) is not None
            and not _list_goes_on(match["main"], match["tail"])
        ):
            body, tail = match["main"], match["tail"]
            mark = match["mark"] if pattern is _TAIL else " "
            break
    at = _verb_at(body, 1)
    if at is None:
        return None
    words = list(_WORD.finditer(body))
    group, last = _group(words, at)
    if group is None:
        return None
    subject, rest = body[: words[at].start()].strip(), body[words[last].end() :].strip()
    last_word = subject.split()[-1].lower() if subject else ","
    if (
        not subject
        or subject.endswith(",")
        or last_word in PREPOSITIONS
        or last_word in _ADVERBS
        or _adverb(last_word)
    ):
        return None
    return Clause(subject, group, rest, front, tail, mark)


def _adverb(word: str) -> bool:
    return word.endswith("ly") and word not in listed("not_adverbs")


def _list_goes_on(main: str, tail: str) -> bool:
    """ ", including" may sit inside a list; a tail that ends in "and x" after a single word is a
    list, too.
    """
    return "," in main[-25:] and re.match(r"[a-z]+ing\b", tail) is not None and " and " in tail[:40]


def _verb_at(text: str, least: int, *, whole: bool = False) -> int | None:
    """Where the finite verb of a clause is among its words; null where it cannot be told."""
    words = [m[0] for m in _WORD.finditer(text)]
    lower = [w.lower() for w in words]
    inside = False  # of a relative clause
    weak: int | None = None
    for i in range(len(words)):
        before = lower[i - 1] if i else ""
        if lower[i] in SUBORDINATORS and i >= 1 and not (lower[i] == "that" and i == 0):
            inside = True
            if weak is not None and not whole:
                return weak
        if i < least or (before in ("to", "and", "or") and lower[i] not in AUXILIARIES):
            continue
        if lower[i] in AUXILIARIES:
            if inside and not whole:
                inside = False  # the first verb after "that" is the relative clause's own
                continue
            return i
        if not inside and weak is None and _finite(lower, words, i):
            if _certain(lower, i):
                return i
            weak = i
    return weak


def _finite(lower: list[str], words: list[str], i: int) -> bool:
    readings = verb_forms().get(lower[i])
    if not readings or (words[i][:1].isupper() and i > 0):
        return False
    before, after = lower[i - 1], lower[i + 1] if i + 1 < len(lower) else ""
    tenses = {tense for _, tense in readings}
    if before in DETERMINERS or before in PREPOSITIONS or before.endswith(("'s", "’s")):
        return False
    noun_follows = (
        after and after not in DETERMINERS | PREPOSITIONS | AUXILIARIES and not after.endswith("ly")
    )
    if "past" in tenses:
        return True
    if "s" in tenses:
        if lower[i] in _NOUNS and after not in DETERMINERS and after != "that":
            return False
        finite = {tense for _, tense in verb_forms().get(after, ())} & {"past", "s"}
        return after not in AUXILIARIES and not (noun_follows and finite)
    if "base" in tenses:
        return (
            is_plural(before)
            or before in ("they", "we", "you", "i")
            or (before.endswith("ly") and i > 1)
        )
    return False


def _certain(lower: list[str], i: int) -> bool:
    """A verb that cannot be a participle before a later verb: an irregular past, an -s form, or no
    verb follows.
    """
    tenses = {tense for _, tense in verb_forms().get(lower[i], ())}
    if "past" in tenses and "participle" not in tenses:
        return True
    after = lower[i + 1] if i + 1 < len(lower) else ""
    later = any(w in AUXILIARIES for w in lower[i + 1 : i + 12])
    if "s" in tenses and is_plural(lower[i - 1]):
        return after in DETERMINERS
    return not later or after in DETERMINERS


def _group(words: list[re.Match[str]], at: int) -> tuple[Group | None, int]:
    lower = [w[0].lower() for w in words]
    first = lower[at]
    if first not in AUXILIARIES:
        tense: Tense = next(
            (t for _, t in verb_forms()[first] if t in ("past", "s", "base")), "base"
        )
        return Group((words[at][0],), None, words[at][0], lemma(first, tense), tense), at
    last = at
    while last + 1 < len(words) and (
        lower[last + 1] in _ADVERBS
        or lower[last + 1].endswith("ly")
        or lower[last + 1] in ("been", "being", "be", "have")
    ):
        last += 1
    base = None
    if last + 1 < len(words) and any(
        t in ("participle", "base", "ing") for _, t in verb_forms().get(lower[last + 1], ())
    ):
        follows = lower[last + 1]
        wanted: tuple[Tense, ...] = (
            ("base",)
            if first in MODALS | DO and lower[last] not in ("be", "been", "have")
            else ("participle", "ing")
        )
        if (base := lemma(follows, *wanted)) is not None:
            last += 1
    elif (
        last + 1 < len(words)
        and first in BE | HAVE
        and re.fullmatch(r"[a-z]{3,}ed", lower[last + 1])
    ):
        last += 1  # a participle of a verb that is not in the list
        return (
            Group(
                tuple(w[0] for w in words[at : last + 1]), words[at][0], words[last][0], None, None
            ),
            last,
        )
    while (
        last > at
        and base is None
        and (lower[last].endswith("ly") or lower[last] in _ADVERBS - {"not"})
    ):
        last -= 1  # an adverb behind a lone "is" belongs to what follows
    texts = tuple(w[0] for w in words[at : last + 1])
    if first in MODALS | DO and base is None and lower[last] not in ("be", "been"):
        return None, last
    return Group(texts, words[at][0], texts[-1], base, None), last


def lowered(text: str) -> str:
    """Without its capital, where the first word is one that is no name."""
    from claimlab.evolve.rewrite.english.names import common

    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first[:1].isupper() and common(first) else text


def raised(text: str) -> str:
    """With a capital, unless the first word has one inside (mRNA)."""
    first = text.split(" ", 1)[0]
    return text if any(c.isupper() for c in first) else text[:1].upper() + text[1:]
