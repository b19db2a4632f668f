"""The words in which others give the classes of a task: its own names in any spelling, what the
dataset wrote as labels, what the task reads, and for verdicts the map of fact-checkers' ratings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from claimlab.core.errors import ClaimlabError
from claimlab.core.labels import fold, general
from claimlab.core.record import VERACITIES, to_records
from claimlab.tasks import Task

NO_EVIDENCE, INSUFFICIENT = "no-evidence", "insufficient-evidence"
# What a system writes instead of a verdict when it found nothing, or not enough: two different
# things.
ABSTENTIONS = {
    NO_EVIDENCE: ("no evidence", "no evidence found", "nothing found"),
    INSUFFICIENT: (
        "insufficient evidence",
        "not enough evidence",
        "not enough info",
        "not enough information",
        "nei",
    ),
}
ABSTAINED_AS = {word: kind for kind, words in ABSTENTIONS.items() for word in words}
_NUMBERED = re.compile(r"(?:LABEL_)?([0-9]+)(?:\.0)?")  # as programs write the number of a class


@dataclass(frozen=True)
class Meaning:
    """What a word means: a class of the task, or `known` and no class of it, or nothing."""

    name: str | None = None
    known: bool = False


@dataclass(frozen=True)
class OwnWords:
    """`of_data` are the dataset's labels, folded, with the class that all records of a label have;
    null where the task leaves them out."""

    task: Task
    classes: tuple[str, ...]
    of_data: Mapping[str, str | None]
    written: tuple[str, ...]  # these labels as the dataset writes them

    def meaning(self, word: str) -> Meaning:
        """What one word means; spellings aside ("FALSE " is false)."""
        numbered = _NUMBERED.fullmatch(word.strip())
        for spelling in (word, *([numbered[1]] if numbered else [])):
            for read in (self._as_class, self._as_label, self._as_task, self._as_rating):
                meaning = read(spelling)
                if meaning.known:
                    return meaning
        return Meaning(known=fold(word) in ABSTAINED_AS)

    def _as_class(self, word: str) -> Meaning:
        if name := speller(self.classes)(word.strip()):
            return Meaning(name if name in self.classes else None, name in self.classes)
        return Meaning()

    def _as_label(self, word: str) -> Meaning:
        return Meaning(self.of_data.get(fold(word)), fold(word) in self.of_data)

    def _as_task(self, word: str) -> Meaning:
        """A class by the words that the task knows, of which these records may lack some."""
        return self._told(_read(self.task, [word])[0])

    def _as_rating(self, word: str) -> Meaning:
        verdict = general().verdict(word) if set(self.task.classes) <= set(VERACITIES) else None
        return self._told(verdict if self.task.classes else None)

    def _told(self, name: str | None) -> Meaning:
        return Meaning(name if name in self.classes else None, name is not None)

    def listed(self) -> str:
        """The classes, and the dataset's own words for them where these are others."""
        own = [word for word in self.written if word not in self.classes]
        more = f" (in the words of the data: {', '.join(own[:8])})" if own else ""
        return f"{', '.join(self.classes)}{more}"


def own_words(task: Task, records: pl.DataFrame) -> OwnWords:
    """The words for the classes of `task`, as these records and their labels give them."""
    labels = task.labels(records)
    pairs = pl.DataFrame({"raw": records["label_raw"], "label": labels}).drop_nulls("raw").unique()
    classes_of: dict[str, set[str]] = {}
    for raw, label in pairs.sort("raw", "label").iter_rows():
        classes_of.setdefault(fold(raw), set()).update([label] if label is not None else [])
    return OwnWords(
        task,
        task.classes_in(records),
        {word: next(iter(names), None) for word, names in classes_of.items() if len(names) < 2},
        tuple(pairs["raw"].unique().sort().to_list()),
    )


def _read(task: Task, words: Sequence[str]) -> list[str | None]:
    """The classes that a task reads in records with these labels alone."""
    rows = pl.DataFrame({"id": [str(n) for n in range(len(words))], "label_raw": words})
    try:
        return task.labels(to_records(rows)).to_list()
    except ClaimlabError:  # it reads another column
        return [None] * len(words)


def speller(classes: Sequence[str]) -> Callable[[str], str]:
    """Maps a word to the class it means: " FALSE" is false. Classes that differ only in case stay
    separate.
    """
    folded: dict[str, str | None] = {}
    for name in classes:
        word = name.strip().lower()
        folded[word] = None if word in folded else name
    exact = set(classes)

    def spell(word: str) -> str:
        return word if word in exact else folded.get(word.strip().lower()) or word

    return spell
