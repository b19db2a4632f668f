"""Classes that a split leaves without a record: seen before anything is trained or asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.detect.detector import DETECTORS
from claimlab.study.plan import Cell
from claimlab.study.run import Maker, asks
from claimlab.study.step import Node
from claimlab.tasks import open_task
from claimlab.tasks.table import VERACITY

_KEEP_LABELS = {
    "enrich"
}  # steps that add to records and change none: the split is the same without them


def split_problems(cells: Sequence[Cell], maker: Maker) -> list[str]:
    """A sentence for each step that fails before the detectors, and for each class that a side of a
    split lacks.
    """
    problems: dict[tuple[str, str], dict[str, None]] = {}  # setting and problem -> seeds
    looked: set[tuple[str, str, bool]] = set()
    for cell in cells:
        options = json.loads(cell.node.options)
        before, task = _without(cell.node.before[0]), str(options.get("task", VERACITY.name))
        trains = DETECTORS.get(str(options["detector"])).needs_training
        if before is None or (before.key, task, trains) in looked:
            continue
        looked.add((before.key, task, trains))
        setting = ", ".join(
            f"{axis} {cell.axes[axis]}" for axis in ("dataset", "split") if axis in cell.axes
        )
        for problem in _problems(before, task, maker, trains=trains):
            problems.setdefault((setting, problem), {})[str(cell.axes["seed"])] = None
    return [
        f"{setting}, {_seeds(list(seeds))}: {problem}"
        for (setting, problem), seeds in problems.items()
    ]


def _seeds(seeds: Sequence[str]) -> str:
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(seeds)}"


def _without(node: Node) -> Node | None:
    """The step without what comes before it and keeps the labels; null where its input must be
    asked for or made up.
    """
    if node.verb in _KEEP_LABELS:
        return _without(node.before[0])
    before = [_without(one) for one in node.before]
    if node.verb == "evolve" or asks(node) or any(one is None for one in before):
        return None
    return replace(node, before=tuple(one for one in before if one is not None))


def _problems(last: Node, task: str, maker: Maker, *, trains: bool) -> Iterator[str]:
    for node in last.chain():
        if node.folder is None and not any(
            before.key in maker.grid.failed for before in node.chain()
        ):
            maker.make(node)
    if failed := maker.grid.why(last):
        yield failed
        return
    try:
        records = Dataset.open(maker.place(last)).records
        labels = open_task(task, records).labels(records)
    except ClaimlabError as error:
        yield str(error)
        return
    yield from absent(records["split"], labels, ("train", "test") if trains else ("test",))


def absent(splits: pl.Series, labels: pl.Series, sides: Sequence[str]) -> Iterator[str]:
    """What the sides lack of the classes that the records have; nothing where there is no split."""
    if splits.null_count() == splits.len():
        return
    classes = labels.drop_nulls().unique().sort().to_list()
    for side in sides:
        here = set(
            labels.filter((splits == side).fill_null(value=False)).drop_nulls().unique().to_list()
        )
        if missing := [name for name in classes if name not in here]:
            yield f"no record of class {', '.join(missing)} in {side}."
