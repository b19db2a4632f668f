"""From a study file to its cells: a cell is one choice on every axis, made by a chain of steps.

A step is known by everything that decides its result: verb, options, seed, version, and the steps or files before it.
Equal steps have equal keys, so each is done once, and a changed axis redoes only what depends on it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Unpack, get_args, get_origin, get_type_hints

from claimlab import __version__
from claimlab.core.dataset import read_manifest
from claimlab.core.digest import digest_file
from claimlab.core.errors import UsageError
from claimlab.study.file import Options, StudyFile, Value

NONE = "none"


@dataclass(frozen=True)
class Verb:
    """A verb as a step of a study: `main` is the option that an axis value sets by its name alone."""

    home: str
    function: str
    main: str
    seeded: bool = False

    @property
    def call(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(self.home), self.function)
        return found

    @cached_property
    def options(self) -> set[str]:
        """Its arguments; those that it takes by a typed `**` count one by one."""
        names = set(inspect.signature(self.call).parameters)
        for hint in get_type_hints(self.call).values():
            names |= set(get_args(hint)[0].__annotations__) if get_origin(hint) is Unpack else set()
        return names


SOURCES = {
    "load": Verb("claimlab.catalog.load", "load", "name"),
    "import": Verb("claimlab.exchange.importer", "import_files", "paths"),
    "merge": Verb("claimlab.exchange.merge", "merge", "datasets"),
}
STEPS = {
    "clean": Verb("claimlab.clean.front", "clean", "recipe"),
    "evolve": Verb("claimlab.evolve.front", "evolve", "target", seeded=True),
    "enrich": Verb("claimlab.enrich.front", "enrich", "provider"),
    "split": Verb("claimlab.split.run", "split", "by", seeded=True),
    "detector": Verb("claimlab.detect.run", "detect", "detector", seeded=True),
}
# What any study shows beside its models: a score means nothing without them.
REFERENCES: dict[str, Options] = {
    "majority": {"detector": "majority"},
    "length alone": {"detector": "shortcut", "settings": {"feature": "length"}},
}
OF_DETECT = ("evidence", "task")  # axes that are options of the detector's run
_SET_BY_THE_STUDY = {"data", "output", "force", "progress", "cache", "mode", "max_cost", "max_calls", "max_tokens"}


@dataclass(frozen=True)
class Node:
    """One step: `folder` is a dataset that is there already, all others are made by `verb`."""

    verb: str
    options: str  # as JSON, so that equal steps are equal
    before: tuple[Node, ...] = ()
    folder: str | None = None
    inputs: str = ""  # digests of the files that are read

    @cached_property
    def key(self) -> str:
        decides = [self.verb, self.options, [b.key for b in self.before], self.folder, self.inputs, __version__]
        return sha256(json.dumps(decides).encode()).hexdigest()

    @property
    def name(self) -> str:
        return f"{self.verb}-{self.key[:12]}"

    def chain(self) -> Iterator[Node]:
        """This step and all before it, first things first."""
        for node in self.before:
            yield from node.chain()
        yield self


@dataclass(frozen=True)
class Cell:
    """One choice on every axis, and the run that answers for it."""

    axes: Mapping[str, Value]
    node: Node

    @property
    def title(self) -> str:
        return ", ".join(f"{axis} {value}" for axis, value in self.axes.items() if value != NONE)


def plan(study: StudyFile, only: Mapping[str, str] | None = None) -> list[Cell]:
    """The cells of the grid, in the order of the axes; `only` keeps those with the given values."""
    axes = axes_of(study)
    for axis, value in (only or {}).items():
        _check_only(axes, axis, value)
    cells = []
    for values in product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        left_out = any(_matches(chosen, exception) for exception in study.exceptions)
        if not left_out and all(str(chosen[axis]) == value for axis, value in (only or {}).items()):
            cells.append(Cell(chosen, _detect_node(study, chosen)))
    if not cells:
        raise UsageError("The exceptions leave no cell of the grid.", "Remove one of them.")
    return cells


def axes_of(study: StudyFile) -> dict[str, list[Value]]:
    """Every axis with its values: the datasets first, the seeds last; references join the detectors."""
    grid = {axis: list(values) for axis, values in study.grid.items()}
    for axis in grid:
        verb, _, option = axis.partition(".")
        if axis not in ("dataset", *STEPS, *OF_DETECT) and not (option and verb in STEPS):
            known = ", ".join(["dataset", *STEPS, *OF_DETECT])
            raise UsageError(f"'{axis}' is not an axis of a study.", f"The axes are {known}, or STEP.OPTION.")
        if not grid[axis]:
            raise UsageError(f"The axis '{axis}' has no values.", "Give it one, or leave the axis out.")
    if "detector" not in grid:
        raise UsageError("The grid names no detector.", 'Add one: detector = ["tfidf"] under [grid].')
    if study.references:
        grid["detector"] = [*(name for name in REFERENCES if name not in grid["detector"]), *grid["detector"]]
    datasets = grid.pop("dataset", list(study.datasets))
    for name in datasets:
        if name not in study.datasets:
            raise UsageError(f"The grid names the dataset '{name}', which has no table.", f"Add [datasets.{name}].")
    ordered = {axis: grid[axis] for axis in (*STEPS, *OF_DETECT) if axis in grid}
    rest = {axis: values for axis, values in grid.items() if axis not in ordered}
    return {"dataset": datasets, **ordered, **rest, "seed": list(study.seeds)}


def _check_only(axes: Mapping[str, list[Value]], axis: str, value: str) -> None:
    if axis not in axes:
        raise UsageError(f"'{axis}' is not an axis of this study.", f"Its axes are {', '.join(axes)}.")
    if value not in map(str, axes[axis]):
        raise UsageError(f"The axis '{axis}' has no value '{value}'.", f"It has {', '.join(map(str, axes[axis]))}.")


def _matches(chosen: Mapping[str, Value], exception: Mapping[str, Value | list[Value]]) -> bool:
    for axis, values in exception.items():
        if axis not in chosen:
            raise UsageError(
                f"An exception names '{axis}', which is not an axis.", f"The axes are {', '.join(chosen)}."
            )
        if chosen[axis] not in (values if isinstance(values, list) else [values]):
            return False
    return True


def _detect_node(study: StudyFile, chosen: Mapping[str, Value]) -> Node:
    node = dataset_node(study, str(chosen["dataset"]))
    for axis, verb in STEPS.items():
        more = {option: value for name, value in chosen.items() if (option := _option_of(name, axis))}
        if axis == "detector":
            more |= {name: chosen[name] for name in OF_DETECT if name in chosen}
            more |= {} if chosen["detector"] not in REFERENCES else {"evidence": NONE}
        options = _options(study, axis, chosen.get(axis, NONE), more)
        if options is None:
            continue
        if verb.seeded:
            options.setdefault("seed", chosen["seed"])
        node = Node(verb.function, _json(options), (node,))
    return node


def _option_of(name: str, axis: str) -> str:
    head, _, option = name.partition(".")
    return option if head == axis else ""


def _options(study: StudyFile, axis: str, value: Value, more: Options) -> Options | None:
    """What a value of the axis stands for: its table in the file, or the value itself; null where it is "none"."""
    variants, verb = study.variants(axis), STEPS[axis]
    if value == NONE and NONE not in variants:
        return None
    known = variants.get(str(value), REFERENCES.get(str(value)) if axis == "detector" else None)
    options = {verb.main: value, **more} if known is None else {verb.main: known.get(verb.main, value), **known, **more}
    if known is not None and verb.main not in known and axis not in ("detector", "split"):
        options.pop(verb.main)  # a table with a free name: its options say it all
    return checked(verb, options, f"[{axis}.{value}]")


def checked(verb: Verb, options: Options, place: str) -> Options:
    """The options, or an error that names the one that the verb does not have."""
    for option in options:
        if option not in verb.options - _SET_BY_THE_STUDY:
            raise UsageError(
                f"{place}: '{option}' is not an option of {verb.function} in a study.", "See the help of the verb."
            )
    return options


def dataset_node(study: StudyFile, name: str) -> Node:
    """How a dataset comes in: a folder as it is, a catalogued dataset, a file to import, or others merged."""
    said = dict(study.datasets[name])
    kinds = [kind for kind in ("folder", *SOURCES) if kind in said]
    if len(kinds) != 1:
        raise UsageError(
            f"[datasets.{name}] must say where the data comes from in one way.",
            "Give one of folder, load (with source), import, or merge.",
        )
    kind = kinds[0]
    value = said.pop(kind)
    if kind == "folder":
        manifest = read_manifest(Path(value))
        return Node("folder", "{}", folder=str(value), inputs=manifest.own_digest())
    if kind == "merge":
        return Node("merge", _json(said), tuple(dataset_node(study, part) for part in value))
    verb = SOURCES[kind]
    options = checked(verb, {verb.main: value, **said}, f"[datasets.{name}]")
    return Node(kind, _json(options), inputs=digest_of(options.get("source", value)))


def digest_of(path: str | list[str]) -> str:
    """The digest of a file, or of all files of a folder: a study notices that its data has changed."""
    files = [Path(p) for p in ([path] if isinstance(path, str) else path)]
    found = [f for p in files for f in (sorted(q for q in p.rglob("*") if q.is_file()) if p.is_dir() else [p])]
    if missing := [str(f) for f in found if not f.is_file()]:
        raise UsageError(f"There is no file '{missing[0]}'.", "Correct the path in the study file.")
    return sha256("".join(f"{f.name} {digest_file(f)}\n" for f in found).encode()).hexdigest()


def _json(options: Options) -> str:
    return json.dumps(options, sort_keys=True, ensure_ascii=False, default=str)
