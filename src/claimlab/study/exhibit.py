"""Which steps a study shows tables of: each `[[show]]` for every dataset and variant that it
names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from claimlab.core.settings import each_of, one_of
from claimlab.study.file import Options, Show, StudyFile, Value
from claimlab.study.plan import node_of, of_dataset, step_node
from claimlab.study.step import FURTHER, STEPS, Node, checked

DATASET, EXPORT = "dataset", "export"
REPORTS = ("audit", "drift", EXPORT)  # steps that write something else than a dataset


@dataclass(frozen=True)
class Exhibit:
    """One step whose own tables are shown: `axes` say which."""

    show: Show
    axes: dict[str, str]
    node: Node


def exhibits(study: StudyFile, only: Mapping[str, str]) -> list[Exhibit]:
    """The steps to show; `only` keeps those of one dataset."""
    planned: list[Exhibit] = []
    for show in study.show:
        one_of(
            [DATASET, *REPORTS, *(axis for axis in STEPS if axis != "detector")], show.step, "step"
        )
        names = [
            one_of(list(study.datasets), name, "datasets")
            for name in show.datasets or study.datasets
        ]
        mine = [name for name in names if only.get(DATASET, name) == name]
        before = [
            dict(zip(show.after, values, strict=True))
            for values in product(*map(each_of, show.after.values()))
        ]
        planned += [
            _exhibit(study, show, name, steps, value)
            for name in mine
            for steps in before
            for value in show.values or [""]
        ]
    return planned


def _exhibit(
    study: StudyFile, show: Show, dataset: str, before: Mapping[str, str], value: str
) -> Exhibit:
    chosen: dict[str, Value] = {DATASET: dataset, **before, "seed": study.seeds[0]}
    several = {axis: name for axis, name in before.items() if len(each_of(show.after[axis])) > 1}
    axes = {DATASET: dataset, **several, **({show.step: value} if len(show.values) > 1 else {})}
    if show.step not in REPORTS:
        return Exhibit(
            show, axes, node_of(study, {**chosen, show.step: value} if value else chosen)
        )
    alone: Options = (
        {"to": value} if show.step == EXPORT else {}
    )  # the name of a format says it all
    options = of_dataset(study.variants(show.step).get(value, alone), dataset)
    options = checked(FURTHER[show.step], options, f"[{show.step}.{value}]")
    return Exhibit(show, axes, step_node(study, show.step, options, node_of(study, chosen)))
