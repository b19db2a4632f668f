"""From a study file to its cells: a cell is one choice on every axis, made by a chain of steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from claimlab.core.errors import UsageError
from claimlab.study.file import Options, StudyFile, Value
from claimlab.study.source import dataset_node
from claimlab.study.step import NONE, OF_DETECT, REFERENCES, STEPS, Node, as_json, checked


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
        node = Node(verb.function, as_json(options), (node,))
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
