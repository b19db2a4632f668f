"""A step of a study: a verb with its options, known by everything that decides its result.

Equal steps have equal keys, so each is done once, and a changed axis redoes only what depends on
it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from claimlab.core.choices import each_of
from claimlab.core.errors import UsageError
from claimlab.core.version import __version__
from claimlab.study.file import Options, Variants
from claimlab.study.verb import VERBS, Kind, Verb

NONE = "none"
# What the folder of a study holds: see `study/run.py`.
FILE, CELLS, TIMINGS, STEPS_FOLDER, CALLS, SPENT = (
    "study.toml",
    "cells.json",
    "timings.json",
    "steps",
    "calls",
    "spent.jsonl",
)
MERGE = "merge"
SAMPLE, MISSING, DETECT = "sample", "missing", "detect"
# What any study shows beside its models: a score means nothing without them.
REFERENCES: Variants = {
    "majority": {"detector": "majority"},
    "length alone": {"detector": "shortcut", "settings": {"feature": "length"}},
}
OF_SPLIT = ("train", "test")  # axes that say which rows of a side are used
OF_DETECT = ("evidence", "task")  # axes that are options of the detector's run
_SET_BY_THE_STUDY = {
    "data",
    "output",
    "force",
    "cache",
    "mode",
    "max_cost",
    "max_calls",
    "max_tokens",
}


def in_order(kind: Kind) -> dict[str, Verb]:
    """The steps of a kind by name, each behind the one that it comes after."""
    waiting = [verb for verb in VERBS.all().values() if verb.kind == kind]
    outside = set(VERBS.outside())
    waiting.sort(key=lambda verb: verb.name in outside)
    order: list[Verb] = []
    while waiting:
        names = ["", *(verb.name for verb in order)]
        ready = next((verb for verb in waiting if verb.after in names), waiting[0])
        place = names.index(ready.after) if ready.after in names else len(order)
        order.insert(place, ready)
        waiting.remove(ready)
    return {verb.name: verb for verb in order}


SOURCES, STEPS, REPORTS = in_order("source"), in_order("axis"), in_order("report")
FURTHER = in_order("part") | REPORTS  # steps that are not axes


@dataclass(frozen=True)
class Node:
    """One step: `folder` is a dataset that is there already, all others are made by `verb`."""

    verb: str
    options: Options  # arguments of the function, as the file has them
    before: tuple[Node, ...] = ()
    folder: str | None = None
    inputs: str = ""  # digests of the files that are read
    named: tuple[tuple[str, Node], ...] = ()  # other datasets that the options name as {NAME}

    @cached_property
    def key(self) -> str:
        before = [b.key for b in self.before] + [[name, node.key] for name, node in self.named]
        decides = [self.verb, as_json(self.options), before, self.folder, self.inputs, __version__]
        return sha256(json.dumps(decides).encode()).hexdigest()

    @property
    def name(self) -> str:
        return f"{self.verb}-{self.key[:12]}"

    @cached_property
    def asks(self) -> bool:
        """Whether the step asks a model or a search on the network."""
        from claimlab.detect.detector import DETECTORS

        detector = str(self.options.get("detector"))
        if self.verb == DETECT and detector in DETECTORS and DETECTORS.get(detector).handles:
            return True
        if self.options.get("profile") or self.options.get("judge"):
            return True
        return any(
            not name.startswith("local:") for name in each_of(self.options.get("provider", ()))
        )

    def chain(self) -> Iterator[Node]:
        """This step and all before it, first things first."""
        for node in (*self.before, *(other for _, other in self.named)):
            yield from node.chain()
        yield self


def checked(verb: Verb, options: Options, place: str) -> Options:
    """The options, or an error that names the one that the verb does not have."""
    for option in options:
        if option not in verb.options - _SET_BY_THE_STUDY:
            raise UsageError(
                f"{place}: '{option}' is not an option of {verb.function} in a study.",
                "See the help of the verb.",
            )
    return options


def as_json(options: Options) -> str:
    """The options as a text by which equal steps have equal keys."""
    return json.dumps(options, sort_keys=True, ensure_ascii=False, default=str)
