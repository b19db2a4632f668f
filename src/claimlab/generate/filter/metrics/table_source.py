"""Metrics of a text against what it was made from: its source, its change log, and the same text in
the other language."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from claimlab.generate.filter.metric import (
    CLEAR,
    DOES_NOT_APPLY,
    Metric,
    Reading,
    failed,
    one_by_one,
    unmeasured,
    within,
)
from claimlab.generate.filter.texts import Batch, Text
from claimlab.text import details as detail
from claimlab.text.vectors import LANGUAGES, encode

CHARACTERS = 600  # of a text: what comes later moves its vector little and costs as much
DENSE = frozenset({"zho", "cmn", "jpn", "kor"})  # a character says about as much as half a word
_PLACE = re.compile(r"(?<!\S)(\S+)\s+(\d[\d.,]*)\s*(\S+)?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WRONG = -1.0  # the margin of an answer without a scale


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
            out.append(Reading("failed", 1.0, "the source was copied word for word", _WRONG))
        else:
            most = 1.0 if text.translated else batch.limit("copying", "most", text)
            share = copied(own, source, size)
            out.append(within(share, None, most, "the share copied from the source is"))
    return out


def copied(words: list[str], source: list[str], size: int) -> float:
    """The share of the runs of `size` words that are in the source, too."""
    known = {tuple(source[i : i + size]) for i in range(len(source) - size + 1)}
    runs = [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]
    return sum(run in known for run in runs) / len(runs) if runs else 0.0


def _no_source(text: Text) -> Reading:
    return unmeasured("no source") if text.machine else DOES_NOT_APPLY


def details(text: Text, batch: Batch) -> Reading:
    """Numbers, months and names of the source in real text: what is new, swapped or lost."""
    if text.veracity != "real" or text.text is None:
        return DOES_NOT_APPLY  # what may change in altered text is for the change log
    if text.source is None:
        return _no_source(text)
    fresh = new_numbers(text.source, text.source_language, text.text, text.language)
    if fresh is None:
        return unmeasured("numbers in units of ten thousand")
    if fresh:
        shown = ", ".join(sorted(fresh)[:3])
        return failed(f"a number that the source does not have: {shown}", _WRONG)
    return _kept(text.source, text.text, text, batch) if text.comparable else CLEAR


def _kept(source: str, own: str, text: Text, batch: Batch) -> Reading:
    """Numbers in their places, the same months, and most of the names."""
    if swap := swapped(source, own):
        return failed(f"numbers have changed places: {' and '.join(swap)}", _WRONG)
    months = detail.months(own, text.language)
    before = detail.months(source, text.source_language)
    if months and before is not None and months - before and before - months:
        return failed("another month than in the source", _WRONG)
    names = detail.names(source, text.source_language)
    if names is None or len(names) < batch.table["details"]["fewest_names"]:
        return CLEAR  # of one or two names, losing one says little
    share = len(names & detail.words(own)) / len(names)
    least = batch.limit("details", "least_names", text)
    return within(share, least, None, "the share of names kept is")


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


def change_log(text: Text, batch: Batch) -> Reading:  # noqa: ARG001
    """Altered text against its change log: every logged change is in the text, and no other detail
    changed.
    """
    altered = text.veracity == "altered" and text.machine
    if not altered or text.short or text.translated or text.text is None:
        return DOES_NOT_APPLY
    if text.log is None:
        return unmeasured("the change log does not say what became what")
    if missing := _missing_change(text.text, text):
        return failed(f"missing change: {missing}", _WRONG)
    if text.source is None:
        return unmeasured("no source to look for changes that are not logged")
    unlogged = unlogged_details(text.source, text.text, text)
    if unlogged:
        return failed(f"unlogged change: {', '.join(sorted(unlogged)[:3])}", _WRONG)
    return CLEAR


def _missing_change(own: str, text: Text) -> str | None:
    """The first change of the log that was not made."""
    words = folded(own)
    for change in text.log or ():
        after, before = folded(change.get("after")), folded(change.get("before"))
        if after and after not in words:
            return f"“{str(change['after'])[:60]}” is logged"
        if not after and before and before in words:
            return f"“{str(change['before'])[:60]}” should be gone"
    return None


def unlogged_details(source: str, own: str, text: Text) -> set[str]:
    """Numbers, and names put in the place of others, that neither the source nor the log holds."""
    after, before = (
        " ".join(str(change.get(side) or "") for change in text.log or ())
        for side in ("after", "before")
    )
    known = f"{source} {after}"
    fresh = new_numbers(known, text.source_language, own, text.language) or set()
    names, old_names = detail.names(own, text.language), detail.names(source, text.source_language)
    if names and old_names and old_names - detail.words(f"{own} {before}"):
        fresh |= names - detail.words(known)
    return fresh


def folded(words: object) -> str:
    return re.sub(r"[\W_]+", " ", str(words or "").casefold()).strip()


def edit_distance(text: Text, batch: Batch) -> Reading:
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

    one, other = set(source.casefold().split()), set(text.casefold().split())
    words = 1 - len(one & other) / len(one | other) if one | other else 0.0
    characters = Levenshtein.normalized_distance(source, text)
    return (words + characters + Indel.normalized_distance(source, text)) / 3


def sentiment(text: Text, batch: Batch) -> Reading:
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
    texts = sorted({text[:CHARACTERS] for pair in pairs for text in pair})
    at, vectors = {text: i for i, text in enumerate(texts)}, encode(texts)
    return [
        float(vectors[at[one[:CHARACTERS]]] @ vectors[at[other[:CHARACTERS]]])
        for one, other in pairs
    ]


def _no_vectors(text: Text) -> Reading | None:
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


def _without_vectors(text: Text, batch: Batch) -> Reading:
    if not text.translated or text.text is None:
        return DOES_NOT_APPLY
    if text.pair is None:
        return unmeasured("the other language of this text is not here")
    numbers, others = detail.numbers(text.text), detail.numbers(text.pair)
    if numbers is not None and others is not None:
        one = set(numbers) - detail.number_words(text.pair, text.pair_language)
        other = set(others) - detail.number_words(text.text, text.language)
        if odd := sorted(one ^ other):
            return failed(f"numbers in one language only: {', '.join(odd[:3])}", _WRONG)
    if len({text.language, text.pair_language} & DENSE) == 1:
        return CLEAR  # lengths in characters say nothing here
    low, high = batch.table["translated-pair"]["length"]
    return within(
        len(text.text) / max(len(text.pair), 1), low, high, "length against its original is"
    )


ENTRIES = {
    "copying": Metric("validation", "the text is not a copy of its source", "the source", copying),
    "change-log": Metric(
        "validation",
        "what changed is what is logged",
        "a log of what became what",
        one_by_one(change_log),
    ),
    "edit-distance": Metric(
        "validation",
        "as much changed as was asked for",
        "the source and a degree",
        one_by_one(edit_distance),
    ),
    "details": Metric(
        "consistency",
        "numbers, dates and names of real text are the source's",
        "the source",
        one_by_one(details),
    ),
    "sentiment": Metric(
        "consistency",
        "real text keeps the tone of its source",
        "the source; English",
        one_by_one(sentiment),
    ),
    "similarity": Metric(
        "consistency",
        "the meaning is near that of the source",
        "the source; 16 languages",
        similarity,
    ),
    "translated-pair": Metric(
        "translation",
        "both languages say the same",
        "both texts; vectors in 16 languages",
        translated_pair,
    ),
}
