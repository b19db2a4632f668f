"""Metrics of a text by itself, and beside the other texts of the dataset: its form, its language,
and what it says of its author."""

from __future__ import annotations

import re
from functools import cache

from claimlab.core.languages import CONFUSABLE, same
from claimlab.core.record import AUTHORSHIPS
from claimlab.text.langid import identify
from claimlab.text.neardup import find_across, find_pairs
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

SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
SENTENCE_ENDS = frozenset(".!?…。！？｡।॥۔؟։።᙮)]}»›”’\"'」』）】")
OPEN_ENDED = frozenset({"tha", "lao", "khm", "mya"})  # scripts that end no sentence with a mark


def structure(text: SampleText, batch: Batch) -> Reading:
    """No text, a chain that stopped, JSON or instructions left in the text."""
    if text.text is None or not text.text.strip():
        return failed("there is no text")
    if text.problem:
        return failed(text.problem)
    for pattern in batch.table["structure"]["leftovers"]:
        if match := re.search(pattern, text.text, re.IGNORECASE):
            return failed(f"leftover of the generation: “{match.group()[:40]}”")
    if talk := self_talk(text, batch):
        return failed(f"talk about the text: “{talk[:60]}”")
    return CLEAR


def self_talk(text: SampleText, batch: Batch) -> str | None:
    """A sentence of machine-made text that speaks of the text or the task: a noun for a text and a
    word that judges or describes one, where the source has no such sentence.
    """
    words = batch.table["structure"]["talk"].get(text.language)
    if not words or not text.machine:
        return None
    about, says = (_whole_words(words[part]) for part in ("about", "says"))
    spoken = [
        sentence
        for sentence in SENTENCE.split(text.text or "")
        if about.search(sentence) and says.search(about.sub(" ", sentence))
    ]
    source = (text.source or "").casefold()
    return next((words for words in spoken if not _from_source(words, source, about)), None)


def _from_source(sentence: str, source: str, about: re.Pattern[str]) -> bool:
    """Whether the source speaks of such texts itself: an article about a translation."""
    return all(word.casefold() in source for word in about.findall(sentence))


@cache
def _whole_words(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(words.split())})(?!\w)", re.IGNORECASE)


def truncated(text: SampleText, batch: Batch) -> Reading:  # noqa: ARG001
    """A text that ends in the middle of a sentence, and its source does not."""
    if text.text is None or text.short or text.form == "post":
        return DOES_NOT_APPLY  # posts end in tags, links and pictures
    if text.language in OPEN_ENDED:
        return unmeasured(f"{text.language} ends no sentence with a mark")
    model = text.source if text.source is not None else text.pair
    if model is None:
        return unmeasured("no source to compare the end with")
    if model.rstrip()[-1:] not in SENTENCE_ENDS:
        return unmeasured("its source ends in no mark either")
    if text.text.rstrip()[-1:] in SENTENCE_ENDS:
        return CLEAR
    return failed(f"breaks off: “… {text.text.rstrip()[-30:]}”")


def repetition(batch: Batch) -> list[Reading]:
    """The share of runs of words that were there before."""
    size, fewest = batch.table["repetition"]["run"], batch.table["repetition"]["fewest_words"]
    out = []
    for text, own, source in batch.words:
        if own is None or len(own) < fewest:
            out.append(DOES_NOT_APPLY)
            continue
        # a list repeats itself, too
        most = max(batch.limit("repetition", "most", text), repeated(source or [], size))
        out.append(within(repeated(own, size), None, most, "share of repeated runs of words"))
    return out


def repeated(words: list[str], size: int) -> float:
    runs = [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0


def near_duplicates(batch: Batch) -> list[Reading]:
    """Samples that are nearly the same as an earlier one, or as a seed that is not their own.
    Versions of one source are alike by design; a generation that uses each seed once has none.
    """
    threshold = batch.table["near-duplicates"]["jaccard"]
    texts = [text.text for text in batch.texts]
    readings = [CLEAR if text.text else DOES_NOT_APPLY for text in batch.texts]

    def note(at: int, value: float, reason: str) -> None:
        if readings[at] is CLEAR:
            words = f"nearly the same as {reason}"
            readings[at] = Reading("failed", value, words, threshold - value)

    for earlier, later, value in find_pairs(texts, threshold=threshold):
        first, second = batch.texts[earlier], batch.texts[later]
        if first.sample != second.sample and not _one_source(first, second):
            note(later, value, first.id)
    seeds = [seed.text for seed in batch.originals]
    for at, beside, value in find_across(texts, seeds, threshold=threshold) if seeds else ():
        if not _its_seed(batch.texts[at], batch.originals[beside]):
            note(at, value, f"{batch.originals[beside].id}, which is not its seed")
    return readings


def _one_source(first: SampleText, second: SampleText) -> bool:
    return first.source is not None and first.source == second.source


def _its_seed(text: SampleText, seed: SampleText) -> bool:
    return seed.id == text.source_id or seed.text == text.source or seed.sample == text.sample


def language(batch: Batch) -> list[Reading]:
    """The vote of three identifiers, against the language that was asked for."""
    votes = identify([text.text for text in batch.texts])
    return [_voted(text, vote) for text, vote in zip(batch.texts, votes, strict=True)]


def _voted(text: SampleText, vote: str | None) -> Reading:
    wanted = text.language
    if text.text is None:
        return DOES_NOT_APPLY
    if wanted is None:
        return unmeasured("the record does not say its language")
    if vote is None:
        return unmeasured("the identifiers do not agree on a language")
    if same(wanted, vote):
        return CLEAR
    if same(wanted, vote, equivalent=CONFUSABLE):
        return unmeasured(f"no identifier tells {wanted} from {vote}")
    return failed(f"the language is {vote}, not {wanted}")


def authorship(batch: Batch) -> list[Reading]:
    """What a detector of authorship predicts, where its predictions came with the dataset."""
    if batch.predictions is None:
        return [unmeasured("no predictions in the dataset")] * len(batch.texts)
    labels = [batch.predictions.get(text.id) for text in batch.texts]
    return [
        Reading("information", None, f"a detector says {label}")
        if label in AUTHORSHIPS
        else unmeasured("no prediction of its author")
        for label in labels
    ]


ENTRIES = described(
    {
        "structure": one_by_one(structure),
        "truncated": one_by_one(truncated),
        "repetition": repetition,
        "near-duplicates": near_duplicates,
        "language": language,
        "authorship": authorship,
    }
)
