"""What the values of a label say: every way to read them with what speaks for it. The best reading
is taken where its evidence is enough and no other is close; otherwise all of them become one
question, each with the line that answers it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import polars as pl

from claimlab.core import packaged
from claimlab.core.errors import Choice
from claimlab.core.labels import LabelMap, fold, is_blank
from claimlab.core.record import to_records
from claimlab.exchange.importing import ladder
from claimlab.exchange.importing.meanings import says_what_yes_means
from claimlab.exchange.importing.profile import DECIDED, FLAGS, verdict_of
from claimlab.exchange.vocabulary import ALL_FALSE, ALL_TRUE, NAMES, fold_name
from claimlab.tasks import TASKS

_TABLE = packaged.toml("claimlab.exchange", "meaning.toml")
EVIDENCE: Mapping[str, float] = ladder.EVIDENCE["meaning"]
MEANING = "meaning"  # the question, in the table of thresholds
ENOUGH = ladder.THRESHOLDS[MEANING]["enough"]
GENERIC = frozenset(map(fold_name, _TABLE["names"]["generic"]))
_STEMS = {
    task: tuple(dict.fromkeys(fold_name(stem) for stem in stems))
    for task, stems in _TABLE["tasks"].items()
}
_ON_EVIDENCE = frozenset(_TABLE["offers"]["on_evidence"])
LEAST_LETTERS_INSIDE = 7  # letters of a word for a task that counts inside another word
AS_WRITTEN = "label_raw"  # the task of labels that are kept as they are written
SAYS_NOTHING = frozenset(("other", "others", "unknown", "none", "na", "n/a", "nan", "null", ""))
LEAST_SHARE_READ = 0.6  # of the values of a label, which a task must know
SEVERAL_RATINGS = 3  # words of fact-checkers in one column, at which they are surely ratings
HEAD_CHARACTERS = 400  # characters of a README that say what it is about
MENTIONS = 3  # of a task in a README that make it about the task


@dataclass(frozen=True)
class Reading:
    """One way to read a label: verdicts by a map, or the classes of a task, and what speaks for
    it."""

    verdicts: LabelMap
    score: float
    why: str

    @property
    def task(self) -> str | None:
        return self.verdicts.task

    def of(self, values: Collection[str]) -> object:
        """What it makes of these values: two readings that make the same of them are one."""
        return self.task or {value: verdict_of(value, self.verdicts) for value in values}


@cache
def tasks_named(name: str) -> frozenset[str]:
    """The tasks other than veracity that a name speaks of: IsCheckworthy, no-clickbait."""
    words = fold_name(name)
    joined = words.replace(" ", "")
    return frozenset(
        task
        for task, stems in _STEMS.items()
        if any(f" {words}".find(f" {stem}") >= 0 or _inside(stem, joined) for stem in stems)
    )


def _inside(stem: str, joined: str) -> bool:
    plain = stem.replace(" ", "")
    return len(plain) >= LEAST_LETTERS_INSIDE and plain in joined


def asks_for_a_verdict(column: str) -> bool:
    """Whether a column of this name holds verdicts, so that a True below it is a true claim:
    `verdict`, `gold_verdict` and `label.verdict` do, `label` and `is_rumor` do not."""
    name = fold_name(" ".join(column.split(".")[-2:]))  # review.rating.label
    words = name.split()
    parts = {
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, len(words) + 1)
    }
    asking = parts & NAMES["label"].keys() - GENERIC - ALL_FALSE - ALL_TRUE
    return bool(asking) and not tasks_named(name)


def is_flag(values: Collection[str]) -> bool:
    """Whether values may be the answer to any question: true and false, yes and no, 0 and 1, beside
    which nothing else says anything."""
    said = {value.strip().casefold() for value in values} - SAYS_NOTHING
    return bool(said) and said <= FLAGS


def of_tasks(
    column: str, values: Sequence[str], verdicts: LabelMap, *, generic: bool
) -> Iterator[Reading]:
    """The readings as classes of another task: by the name of the column, or by words that only one
    task has (SUBJ and OBJ, clickbait and no-clickbait). `generic` is whether the values are a flag,
    which any task reads."""
    in_name = tasks_named(column) | {
        name for name in TASKS.names() if name.replace("-", " ") in fold_name(column)
    }
    readable = set(tasks_of(values, LEAST_SHARE_READ))
    words = [v for v in values if not is_blank(v) and fold(v) not in FLAGS | SAYS_NOTHING]
    decided = [value for value in words if verdicts.verdict(value) in DECIDED]
    of_values = (
        frozenset[str]()
        if generic
        else frozenset().union(*map(tasks_named, words))
        if not decided
        else frozenset.intersection(*map(tasks_named, decided))
    )
    known = sum(verdicts.verdict(value) is not None for value in words)
    for task in sorted({*in_name, *of_values, *readable} & set(TASKS.names())):
        if task.startswith(("veracity", "bluff")):
            continue
        score = EVIDENCE["task_name"] * (task in in_name)
        only = not generic and task in readable and words and _read(task, words) > known
        score += EVIDENCE["task_values"] * bool(task in of_values or only)
        if score:
            score += EVIDENCE["task_reads"] * (task in readable)
            yield Reading(_task_map(column, task), score, f"labels of the task '{task}'")


def _task_map(column: str, task: str) -> LabelMap:
    return LabelMap(f"{column}: labels of the task '{task}'", {}, task=task)


def _read(task: str, values: Sequence[str]) -> int:
    rows = to_records(pl.DataFrame({"label_raw": values}, schema={"label_raw": pl.String}))
    return TASKS.get(task).labels(rows).count()


def tasks_of(values: Sequence[str], least: float = 1.0) -> list[str]:
    """The tasks that read at least a share of these labels, and more than one class in them."""
    rows = to_records(pl.DataFrame({"label_raw": values}))
    tasks = []
    for name in TASKS.names():
        task = TASKS.get(name)
        classes = task.labels(rows).drop_nulls()
        if task.classes and classes.n_unique() > 1 and classes.len() >= least * len(values):
            tasks.append(name)
    return tasks


def of_words(column: str, values: Sequence[str], verdicts: LabelMap, *, generic: bool) -> Reading:
    """The reading as verdicts, by words that fact-checkers use or by a name that asks for one."""
    if generic:
        words = {value.strip().casefold() for value in values}
        said = bool(words & {"true", "false"}) and asks_for_a_verdict(column)
        score = EVIDENCE["truth_name"] if said else EVIDENCE["bare"]
        return Reading(verdicts, score, f"'{column}' asks for a verdict" if said else "")
    decided = {fold(value) for value in values if verdicts.verdict(value) in DECIDED}
    of_other_tasks = {word for word in decided if tasks_named(word)}
    words = decided - of_other_tasks
    score = EVIDENCE["rating_words"] * bool(words)
    score += EVIDENCE["several_ratings"] * (len(words) >= SEVERAL_RATINGS)
    return Reading(verdicts, score, "words for ratings")


def about_tasks(names: Collection[str], texts: Collection[str]) -> dict[str, float]:
    """How much the names of files and the texts beside them speak of tasks other than veracity."""
    scores: dict[str, float] = {}
    for task, stems in _STEMS.items():
        words = re.compile(rf"(?i)(?<!\w)(?:{'|'.join(map(re.escape, stems))})")
        in_names = any(task in tasks_named(name) for name in names)
        heads = any(words.search(text[:HEAD_CHARACTERS]) for text in texts)
        often = any(len(words.findall(text)) >= MENTIONS for text in texts)
        if in_names or heads or often:
            title = in_names or heads
            scores[task] = EVIDENCE["context"] + EVIDENCE["whole_title"] * title
    return scores


def best(readings: Sequence[Reading], values: Collection[str]) -> Reading | None:
    """The reading of these values whose evidence is enough, and that no other one comes near; or
    else none."""
    ranked = ladder.close(readings, MEANING)
    agreed = all(one.of(values) == ranked[0].of(values) for one in ranked[1:])
    return ranked[0] if ranked and agreed else None


def offers(
    column: str, values: Sequence[str], maps: Sequence[Choice], tasks: Mapping[str, float]
) -> list[Choice]:
    """The answers to what a label means, the likeliest honest one first: what files and README
    speak of, then what may be said of truth, then the labels as they are."""
    readable = [name for name in tasks_of(values) if not name.startswith(("veracity", "bluff"))]
    own = EVIDENCE["name_says"] * says_what_yes_means(column)
    first = sorted((t for t in tasks if tasks[t] > own), key=lambda task: -tasks[task])
    likely = [Choice("map", task, _question_of(task)) for task in first if task in readable]
    likely += [_as_written(column, task) for task in first if task not in readable][: not likely]
    rest = [task for task in readable if task not in {*first, *_ON_EVIDENCE - tasks.keys()}]
    others = [Choice("map", task, _question_of(task)) for task in rest]
    written = [_as_written(column)] if not any(c.value == AS_WRITTEN for c in likely) else []
    return [*likely, *maps, *written, *others]


def _question_of(task: str) -> str:
    return TASKS.get(task).question


def _as_written(column: str, task: str = "") -> Choice:
    about = f"about {task}, not about truth" if task else "about something else than truth"
    return Choice("map", AS_WRITTEN, f"'{column}' is {about}: its classes are kept as they are")
