"""Which steps a study shows tables of: each `[[show]]` for every dataset and variant that it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from claimlab.core.choice import one_of
from claimlab.study.file import Show, StudyFile, Value
from claimlab.study.plan import node_of, of_dataset, step_node
from claimlab.study.step import FURTHER, STEPS, Node, checked

DATASET, AUDIT = "dataset", "audit"


@dataclass(frozen=True)
class Exhibit:
    """One step whose own tables are shown: `axes` say which."""

    show: Show
    axes: Mapping[str, str]
    node: Node


def exhibits(study: StudyFile, only: Mapping[str, str]) -> list[Exhibit]:
    """The steps to show; `only` keeps those of one dataset."""
    planned: list[Exhibit] = []
    for show in study.show:
        one_of([DATASET, AUDIT, *(axis for axis in STEPS if axis != "detector")], show.step, "step")
        names = [one_of(list(study.datasets), name, "datasets") for name in show.datasets or study.datasets]
        mine = [name for name in names if only.get(DATASET, name) == name]
        planned += [_exhibit(study, show, name, value) for name in mine for value in show.values or [""]]
    return planned


def _exhibit(study: StudyFile, show: Show, dataset: str, value: str) -> Exhibit:
    chosen: dict[str, Value] = {DATASET: dataset, **show.after, "seed": study.seeds[0]}
    axes = {DATASET: dataset, **({show.step: value} if len(show.values) > 1 else {})}
    if show.step != AUDIT:
        return Exhibit(show, axes, node_of(study, {**chosen, show.step: value} if value else chosen))
    known = study.audit.get(value, {"protocol": value} if value else {})
    options = checked(FURTHER[AUDIT], of_dataset(known, dataset), f"[audit.{value}]")
    return Exhibit(show, axes, step_node(study, AUDIT, options, node_of(study, chosen)))
