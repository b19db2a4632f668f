"""Which steps a study shows tables of: each `[[show]]` for every dataset and variant it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from claimlab.core.choices import each_of, one_of
from claimlab.study.file import (
    Axes,
    Options,
    Show,
    StudyFile,
)
from claimlab.study.plan import node_of, of_dataset, step_node
from claimlab.study.step import FURTHER, NONE, REPORTS, STEPS, Node, checked

DATASET, EXPORT = "dataset", "export"


@dataclass(frozen=True)
class Exhibit:
    """One step whose own tables are shown: `axes` say which."""

    show: Show
    axes: dict[str, str]
    node: Node


def exhibits(study: StudyFile, only: Mapping[str, str]) -> list[Exhibit]:
    """The steps to show; of the choice `only`, those that belong to it on every axis: a step that
    comes before the detectors is not shown for one of them.
    """
    planned: list[Exhibit] = []
    for show in study.show:
        one_of(
            [DATASET, *REPORTS, *(axis for axis in STEPS if axis != "detector")], show.step, "step"
        )
        names = [
            one_of(list(study.datasets), name, "datasets")
            for name in show.datasets or study.datasets
        ]
        before = [
            dict(zip(show.after, values, strict=True))
            for values in product(*map(each_of, show.after.values()))
        ]
        for name, steps, value in product(names, before, show.values or [NONE]):
            chosen: Axes = {show.step: value, **steps, DATASET: name, "seed": study.seeds[0]}
            if all(str(chosen.get(axis, NONE)) == wanted for axis, wanted in only.items()):
                planned.append(_exhibit(study, show, chosen))
    return planned


def _exhibit(study: StudyFile, show: Show, chosen: Axes) -> Exhibit:
    dataset, value = str(chosen[DATASET]), str(chosen[show.step])
    varied = [axis for axis, values in show.after.items() if len(each_of(values)) > 1]
    varied += [show.step] if len(show.values) > 1 else []
    axes = {axis: str(chosen[axis]) for axis in (DATASET, *varied)}
    node = node_of(study, chosen)
    if show.step in REPORTS:
        # the name of a format says it all
        alone: Options = {"to": value} if show.step == EXPORT else {}
        options = of_dataset(study.variants(show.step).get(value, alone), dataset)
        options = checked(FURTHER[show.step], options, f"[{show.step}.{value}]")
        node = step_node(study, show.step, options, node)
    return Exhibit(show, axes, node)
