"""Metrics of a text against what it was made from: its source, its change log, and the same text in
the other language."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache
from typing import Any

from claimlab.core.types import JsonObject
from claimlab.text import details as detail
from claimlab.text.stopwords import stop_words
from claimlab.text.vectors import LANGUAGES, encode
from claimlab_simulate.generate.filter.batch import Batch, SampleText
from claimlab_simulate.generate.filter.metric import described, one_by_one
from claimlab_simulate.generate.filter.reading import (
    CLEAR,
    DOES_NOT_APPLY,
    Reading,
    failed,
    unmeasured,
    within,
)

CHARACTERS_ENCODED = 600  # of a text: what comes later moves its vector little and costs as much
DENSE_SCRIPTS = frozenset(
    {"zho", "cmn", "jpn", "kor"}
)  # a character says about as much as half a word
_PLACE = re.compile(r"(?<!\S)(\S+)\s+(\d[\d.,]*)\s*(\S+)?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_CLAUSE = re.compile(r"[.!?;:–—()]+\s*|,\s+|\n+")
STEM_LETTERS = 5  # first letters of a word that are compared: forms of one word are alike
_NO_SCALE_MARGIN = -1.0  # the margin of an answer without a scale


def copying(batch: Batch) -> list[Reading]:
    """A text that is its source: word for word where something was to change, or in the source's
    language."""
    size = batch.table["copying"]["run"]
    out = []
    for text, own, source in batch.words:
        if own is None or text.short:
            out.append(DOES_NOT_APPLY)  # a post may well quote its article
        elif source is None:
            out.append(_no_source(text))
        elif own == source:
            out.append(
                Reading("failed", 1.0, "the source was copied word for word", _NO_SCALE_MARGIN)
            )
        else:
            most = 1.0 if text.translated else batch.limit("copying", "most", text)
            share = copied(own, source, size)
            out.append(within(share, None, most, "the share copied from the source is"))
    return out


def copied(words: list[str], source: list[str], size: int) -> float:
    """The share of the runs of `size` words that are in the source, too."""
    source_runs = {tuple(source[i : i + size]) for i in range(len(source) - size + 1)}
    runs = [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]
    return sum(run in source_runs for run in runs) / len(runs) if runs else 0.0


def _no_source(text: SampleText) -> Reading:
    return unmeasured("no source") if text.machine else DOES_NOT_APPLY


def details(text: SampleText, batch: Batch) -> Reading:
    """Real text against its source, detail by detail: nothing is changed or invented, and nothing
    lost but by a post, which may leave things out.
    """
    if text.veracity != "real" or text.text is None:
        return DOES_NOT_APPLY  # what may change in altered text is for the change log
    if text.source is None:
        return _no_source(text)
    first = text.source_language or text.language
    if "number" not in detail.readable(text.source, first) & detail.readable(
        text.text, text.language
    ):
        return unmeasured("numbers in units of ten thousand")
    gates = batch.table["details"]["gates"]
    lost = detail.LOST if text.short else ""
    for change in detail.compared(text.source, text.text, first, text.language):
        wrong = change.kind in gates and change.outcome not in (detail.KEPT, lost)
        if wrong and not _said_otherwise(change, text, first):
            return failed(_in_words(change), _NO_SCALE_MARGIN)
    return _places_and_names(text, batch, first) if text.comparable else CLEAR


def _places_and_names(text: SampleText, batch: Batch, first: str | None) -> Reading:
    """Whether numbers are where they were, and how many of the names in the source are kept."""
    if swap := swapped(text.source or "", text.text or ""):
        return failed(f"numbers have changed places: {' and '.join(swap)}", _NO_SCALE_MARGIN)
    names = detail.names(text.source or "", first)
    if names is None or len(names) < batch.table["details"]["fewest_names"]:
        return CLEAR  # of one or two names, losing one says little
    share = len(names & detail.words(text.text or "")) / len(names)
    return within(
        share, batch.limit("details", "least_names", text), None, "the share of names kept is"
    )


def _in_words(change: detail.DetailChange) -> str:
    if change.outcome == detail.CHANGED:
        return f"a {change.kind} has changed: {change.before} to {change.after}"
    if change.outcome == detail.LOST:
        return f"a {change.kind} of the source is lost: {change.before}"
    return f"a {change.kind} that the source does not have: {change.after}"


def _said_otherwise(change: detail.DetailChange, text: SampleText, language: str | None) -> bool:
    """Whether a detail is there all the same: "one" for 1, a name at the beginning of a sentence,
    or "the council" for its name.
    """
    sides = ((text.text, text.language, change.before), (text.source, language, change.after))
    if change.kind == "number":
        return all(
            value in detail.number_words(other or "", spoken)
            for other, spoken, value in sides
            if value
        )
    if change.kind in ("name", "place"):
        fresh = detail.words(change.after or "") - detail.words(text.source or "")
        return not fresh
    return False


def invention(batch: Batch) -> list[Reading]:
    """Clauses of real text that nothing in the source supports. In the language of the source, one
    with enough of its words is supported; any other must be near a sentence of it by vectors.
    """
    limits = batch.table["invention"]
    suspects = [_suspects(text, limits) for text in batch.texts]
    pairs = [
        pair
        for text, clauses in zip(batch.texts, suspects, strict=True)
        if not isinstance(clauses, Reading)
        for clause in clauses
        for pair in _beside(text, clause)
    ]
    near = dict(zip(pairs, cosines(pairs), strict=True)) if pairs else {}
    return [
        clauses
        if isinstance(clauses, Reading)
        else _supported(text, clauses, near, limits["least"])
        for text, clauses in zip(batch.texts, suspects, strict=True)
    ]


def _suspects(text: SampleText, limits: JsonObject) -> Reading | list[str]:
    if text.veracity != "real" or not text.machine:
        return DOES_NOT_APPLY
    if why := _no_vectors(text):
        return why
    is_translated = (text.source_language or text.language) != text.language
    stems = (
        set()
        if is_translated
        else {word[:STEM_LETTERS] for word in detail.words(text.source or "")}
    )
    # the order of clauses differs between languages, that of sentences hardly
    parts = (_SENTENCE if is_translated else _CLAUSE).split(text.text or "")
    stops = stop_words(text.language or "")
    return [part.strip() for part in parts if _is_suspect(part, stops, stems, limits)]


def _is_suspect(part: str, stops: Set[str], stems: Set[str], limits: JsonObject) -> bool:
    """Whether a clause has enough words of content, and the source too few of them."""
    content = [w for w in detail.words(part) if w not in stops and len(w) > 2]
    own = sum(word[:STEM_LETTERS] in stems for word in content)
    few = not stems or own < limits["known"] * len(content)
    return len(content) >= limits["words"] and few


def _beside(text: SampleText, clause: str) -> list[tuple[str, str]]:
    """The sentences and the clauses of the source, each with the clause, all without the names of
    the source: what speaks of the same person is not yet said of them there.
    """
    source = text.source or ""
    names = detail.names(source, text.source_language) or set()
    nameless, *parts = (
        " ".join(word for word in part.split() if not detail.words(word) & names)
        for part in (clause, *_SENTENCE.split(source), *_CLAUSE.split(source))
    )
    return [(part, nameless) for part in parts if part]


def _supported(
    text: SampleText, clauses: list[str], near: dict[tuple[str, str], float], least: float
) -> Reading:
    scores = [max(near[pair] for pair in _beside(text, clause)) for clause in clauses]
    if not scores or min(scores) >= least:
        return Reading("passed", min(scores, default=None), None, 1.0)
    clause = clauses[scores.index(min(scores))]
    words = f"the source does not say: “{clause[:60]}”"
    return Reading("failed", min(scores), words, min(scores) - least)


def new_numbers(
    source: str, source_language: str | None, text: str, language: str | None
) -> set[str] | None:
    """Numbers of the text that are not in the source, as digits or as words; null where either
    cannot be read.
    """
    before, now = detail.numbers(source), detail.numbers(text)
    if before is None or now is None:
        return None
    return set(now) - set(before) - detail.number_words(source, source_language or language)


def swapped(source: str, text: str) -> tuple[str, str] | None:
    """Two numbers that have exchanged the words around them."""
    before, now = _places(source), _places(text)
    for place, number in before.items():
        other = now.get(place)
        if other is None or other == number or other not in before.values():
            continue
        for elsewhere, value in now.items():
            if value == number and before.get(elsewhere) == other:
                return number, other
    return None


def _places(text: str) -> dict[tuple[str, str], str]:
    """Numbers by the words before and after them; a place that occurs with two numbers is none."""
    places: dict[tuple[str, str], str] = {}
    twice = set()
    for before, number, after in _PLACE.findall(text):
        place = (before.casefold(), after.casefold().strip(".,;:!?"))
        value = (detail.numbers(number) or [""])[0]
        if places.setdefault(place, value) != value:
            twice.add(place)
    return {place: value for place, value in places.items() if place not in twice}


def change_log(text: SampleText, batch: Batch) -> Reading:  # noqa: ARG001
    """Altered text against its change log: every logged change is in the text, and no other detail
    changed.
    """
    altered = text.veracity == "altered" and text.machine
    if not altered or text.short or text.translated or text.text is None:
        return DOES_NOT_APPLY
    if text.log is None:
        return unmeasured("the change log does not say what became what")
    if missing := _missing_change(text.text, text):
        return failed(f"missing change: {missing}", _NO_SCALE_MARGIN)
    if text.source is None:
        return unmeasured("no source to look for changes that are not logged")
    unlogged = unlogged_details(text.source, text.text, text)
    if unlogged:
        return failed(f"unlogged change: {', '.join(sorted(unlogged)[:3])}", _NO_SCALE_MARGIN)
    return CLEAR


def _missing_change(own: str, text: SampleText) -> str | None:
    """The first change of the log that was not made."""
    words = folded(own)
    for change in text.log or ():
        after, before = folded(change.get("after")), folded(change.get("before"))
        if after and after not in words:
            return f"“{str(change['after'])[:60]}” is logged"
        if not after and before and before in words:
            return f"“{str(change['before'])[:60]}” should be gone"
    return None


def unlogged_details(source: str, own: str, text: SampleText) -> set[str]:
    """Numbers, and names put in the place of others, that neither the source nor the log holds."""
    after, before = (
        " ".join(str(change.get(side) or "") for change in text.log or ())
        for side in ("after", "before")
    )
    source_and_log = f"{source} {after}"
    fresh = new_numbers(source_and_log, text.source_language, own, text.language) or set()
    names, old_names = detail.names(own, text.language), detail.names(source, text.source_language)
    if names and old_names and old_names - detail.words(f"{own} {before}"):
        fresh |= names - detail.words(source_and_log)
    return fresh


def folded(words: object) -> str:
    return re.sub(r"[\W_]+", " ", str(words or "").casefold()).strip()


def edit_distance(text: SampleText, batch: Batch) -> Reading:
    """How much of the source changed, against the degree that was asked for."""
    if text.short or text.translated:
        return DOES_NOT_APPLY
    if text.source is None or text.text is None:
        return unmeasured("no source")
    value = changed(text.source, text.text)
    band = batch.limit("edit-distance", "changed", text)
    if text.degree is None or band is None:
        return unmeasured("no degree was asked for", value)
    low, high = band
    return within(value, low, high, f"the share that changed ({text.degree}) is")


def changed(source: str, text: str) -> float:
    """The mean of three distances from 0 to 1: Jaccard of words, Levenshtein and longest common
    subsequence of characters, each as a share that changed.
    """
    from rapidfuzz.distance import Indel, Levenshtein

    before, after = set(source.casefold().split()), set(text.casefold().split())
    words = 1 - len(before & after) / len(before | after) if before | after else 0.0
    characters = Levenshtein.normalized_distance(source, text)
    return (words + characters + Indel.normalized_distance(source, text)) / 3


def sentiment(text: SampleText, batch: Batch) -> Reading:
    """Whether real text keeps the tone of its source: VADER, in English only."""
    if text.short or text.translated or text.text is None:
        return DOES_NOT_APPLY
    if text.source is None:
        return _no_source(text)
    if text.language != "eng" or text.source_language != "eng":
        return unmeasured(f"no measure of sentiment for {text.language or 'an unstated language'}")
    shift = abs(tone(text.text) - tone(text.source))
    return within(
        shift, None, batch.limit("sentiment", "most_shift", text), "shift of sentiment is"
    )


def tone(text: str) -> float:
    """The mean over sentences, from -1 to 1: over a whole article the score would run into either
    end.
    """
    scores = [
        _analyser().polarity_scores(sentence)["compound"]
        for sentence in _SENTENCE.split(text)
        if sentence
    ]
    return sum(scores) / len(scores) if scores else 0.0


@cache
def _analyser() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()


def similarity(batch: Batch) -> list[Reading]:
    """Whether a text still tells its source's story: cosine of sentence vectors, in and across 16
    languages.
    """
    barred = [_no_vectors(text) for text in batch.texts]
    pairs = [
        (text.source or "", text.text or "")
        for text, why in zip(batch.texts, barred, strict=True)
        if why is None
    ]
    values = iter(cosines(pairs))
    return [
        why
        or within(
            next(values),
            batch.limit("similarity", "least", text),
            None,
            "similarity to the source is",
        )
        for text, why in zip(batch.texts, barred, strict=True)
    ]


def cosines(pairs: list[tuple[str, str]]) -> list[float]:
    """The cosine of each pair; a text that occurs in several is encoded once."""
    texts = sorted({text[:CHARACTERS_ENCODED] for pair in pairs for text in pair})
    at, vectors = {text: i for i, text in enumerate(texts)}, encode(texts)
    return [
        float(vectors[at[first[:CHARACTERS_ENCODED]]] @ vectors[at[second[:CHARACTERS_ENCODED]]])
        for first, second in pairs
    ]


def _no_vectors(text: SampleText) -> Reading | None:
    """Why the vectors of a text and its source cannot be compared; null where they can."""
    if text.text is None:
        return DOES_NOT_APPLY
    if text.source is None:
        return _no_source(text)
    for language in (text.language, text.source_language or text.language):
        if language not in LANGUAGES:
            return unmeasured(f"no sentence vectors for {language or 'an unstated language'}")
    return None


def translated_pair(batch: Batch) -> list[Reading]:
    """The two languages of one text: the same numbers, a plausible length, and in 16 languages a
    similar meaning. Answers for the translated text of each pair; its counterpart is the same pair.
    """
    first = [_without_vectors(text, batch) for text in batch.texts]
    measurable = [
        reading.outcome == "passed" and {text.language, text.pair_language} <= LANGUAGES
        for text, reading in zip(batch.texts, first, strict=True)
    ]
    pairs = [
        (text.pair or "", text.text or "")
        for text, can in zip(batch.texts, measurable, strict=True)
        if can
    ]
    values = iter(cosines(pairs))
    return [
        within(
            next(values),
            batch.limit("translated-pair", "least", text),
            None,
            "similarity of the pair is",
        )
        if can
        else reading
        for text, reading, can in zip(batch.texts, first, measurable, strict=True)
    ]


def _without_vectors(text: SampleText, batch: Batch) -> Reading:
    if not text.translated or text.text is None:
        return DOES_NOT_APPLY
    if text.pair is None:
        return unmeasured("the other language of this text is not here")
    numbers, others = detail.numbers(text.text), detail.numbers(text.pair)
    if numbers is not None and others is not None:
        own = set(numbers) - detail.number_words(text.pair, text.pair_language)
        other = set(others) - detail.number_words(text.text, text.language)
        if odd := sorted(own ^ other):
            return failed(f"numbers in one language only: {', '.join(odd[:3])}", _NO_SCALE_MARGIN)
    if len({text.language, text.pair_language} & DENSE_SCRIPTS) == 1:
        return CLEAR  # lengths in characters say nothing here
    low, high = batch.table["translated-pair"]["length"]
    return within(
        len(text.text) / max(len(text.pair), 1), low, high, "length against its original is"
    )


ENTRIES = described(
    {
        "copying": copying,
        "change-log": one_by_one(change_log),
        "edit-distance": one_by_one(edit_distance),
        "details": one_by_one(details),
        "invention": invention,
        "sentiment": one_by_one(sentiment),
        "similarity": similarity,
        "translated-pair": translated_pair,
    }
)
