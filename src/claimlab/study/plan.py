"""From a study file to its cells: a cell is one choice on every axis, made by a chain of steps.

The first step brings the dataset in: a folder as it is, a catalogued dataset, a file to import,
others merged, or what steps make `of` another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from itertools import product
from pathlib import Path

from claimlab.core.choices import each_of, one_of
from claimlab.core.dataset import read_manifest
from claimlab.core.digest import digest_file
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.remote import to_read
from claimlab.core.words import several
from claimlab.files.layout import ReadOptions as Layout
from claimlab.study.axes import PART, all_axes, axes_of, check_only, matches, parts_of, view_of
from claimlab.study.entry import check_figures
from claimlab.study.file import Axes, AxisValues, Options, StudyFile, Value, texts_in
from claimlab.study.step import (
    MISSING,
    NONE,
    OF_DETECT,
    OF_SPLIT,
    REFERENCES,
    SAMPLE,
    SOURCES,
    STEPS,
    Node,
    checked,
)

OF = "of"  # of a dataset: the one that its steps start from
MOST_PATH_CHARACTERS = 1_000


def dataset_node(study: StudyFile, name: str) -> Node:
    """The step that brings a dataset in. One that is optional and not there is a step that fails,
    with the reason.
    """
    options = dict(study.datasets[name])
    if not options.pop("optional", False):
        return _dataset_node(study, name, options)
    try:
        return _dataset_node(study, name, options)
    except ClaimlabError as error:
        return Node(MISSING, {"dataset": name, "why": str(error)})


def _dataset_node(study: StudyFile, name: str, entry: Options) -> Node:
    kinds = [kind for kind in ("folder", OF, *SOURCES) if kind in entry]
    if len(kinds) != 1:
        raise UsageError(
            f"[datasets.{name}] must say where the data comes from in one way.",
            "Give one of folder, load (with source), import, merge, or of.",
        )
    kind = kinds[0]
    value = entry.pop(kind)
    if kind == OF:
        steps = {one_of(list(STEPS), step, f"[datasets.{name}]"): v for step, v in entry.items()}
        other = one_of([each for each in study.datasets if each != name], value, OF)
        return node_of(study, {"dataset": other, **steps, "seed": study.seeds[0]})
    if kind == "folder":
        return Node(
            "folder", {}, folder=str(value), inputs=read_manifest(to_read(value)).own_digest()
        )
    if kind == "merge":
        return Node("merge", entry, tuple(dataset_node(study, part) for part in value))
    verb = SOURCES[kind]
    if kind == "import":
        entry = _as_arguments(entry)
    options = checked(verb, {verb.main: value, **entry}, f"[datasets.{name}]")
    return Node(
        kind,
        options,
        inputs=digest_of(str(options["source"]) if "source" in options else value),
    )


def _as_arguments(options: Options) -> Options:
    """The options of `claimlab import` as arguments of its function: the layout is one of them."""
    names = [field.name for field in fields(Layout)]
    layout = {name: options.pop(name) for name in names if name in options}
    if layout:
        Layout.of(layout)  # a word that is wrong is said before anything is done
    return {**options, **({"options": layout} if layout else {})}


def digest_of(path: str | list[str]) -> str:
    """The digest of a file, or of all files of a folder: a study notices that its data has
    changed.
    """
    paths: list[Path] = []
    for file in map(to_read, each_of(path)):
        inside = sorted(path for path in file.rglob("*") if path.is_file())
        paths += inside if file.is_dir() else [file]
    if missing := [str(f) for f in paths if not f.is_file()]:
        raise UsageError(f"There is no file '{missing[0]}'.", "Correct the path in the study file.")
    return sha256("".join(f"{f.name} {digest_file(f)}\n" for f in paths).encode()).hexdigest()


def digest_of_files(options: Options) -> str:
    """The digest of the files that the options of a step name (decisions, a profile, lists): empty
    without any.
    """
    texts = [
        text
        for value in options.values()
        for text in (value if isinstance(value, list) else [value])
    ]
    paths = [
        text
        for text in texts
        if isinstance(text, str) and "." in text and len(text) < MOST_PATH_CHARACTERS
    ]
    files = [path for path in paths if Path(path).is_file()]
    return digest_of(files) if files else ""


@dataclass(frozen=True)
class GridCell:
    """One choice on every axis, and the run that answers for it."""

    axes: Axes
    node: Node

    @property
    def title(self) -> str:
        return ", ".join(f"{axis} {value}" for axis, value in self.axes.items() if value != NONE)


def plan(study: StudyFile, only: Mapping[str, str] | None = None) -> list[GridCell]:
    """The cells of all grids, in the order of the axes; `only` keeps those with the given
    values.
    """
    axes = all_axes(study)
    check_figures(study, list(axes))
    for axis, value in (only or {}).items():
        check_only(axes, axis, value)
    cells = []
    for name, part in parts_of(study).items():
        view_of(part)
        own: AxisValues = {PART: [name], **axes_of(part)}
        lists: list[list[Value]] = [own.get(axis, [NONE]) for axis in axes]
        for values in product(*lists):
            chosen = dict(zip(axes, values, strict=True))
            left_out = any(matches(chosen, exception) for exception in part.exceptions)
            if not left_out and all(
                str(chosen[axis]) == value for axis, value in (only or {}).items()
            ):
                cells.append(GridCell(chosen, node_of(study, chosen)))
    if not cells:
        raise UsageError("The exceptions leave no cell of the grid.", "Remove one of them.")
    return cells


def at_hand(cells: Sequence[GridCell]) -> tuple[list[GridCell], list[str]]:
    """The cells whose datasets are there, and a sentence for each optional dataset that is not."""
    here: list[GridCell] = []
    absent: Counter[tuple[str, str]] = Counter()
    for cell in cells:
        missing = next((node for node in cell.node.chain() if node.verb == MISSING), None)
        if missing is None:
            here.append(cell)
        else:
            absent[missing.options["dataset"], missing.options["why"]] += 1
    left_out = [
        f"{several(n, 'cell')} of the optional dataset '{name}' left out: {why}"
        for (name, why), n in absent.items()
    ]
    if not here:
        raise UsageError("No dataset of these cells is at hand.", " ".join(left_out))
    return here, left_out


def node_of(study: StudyFile, chosen: Axes) -> Node:
    """The last of the steps that `chosen` names; an axis that it does not name is a step left
    out.
    """
    chosen = {axis: value for axis, value in chosen.items() if value != NONE}
    node = dataset_node(study, str(chosen["dataset"]))
    if study.sample is not None:
        node = sampled(node, study.sample)
    for axis, verb in STEPS.items():
        options = _options(study, axis, chosen, _of_other_axes(study, axis, chosen))
        if options is None:
            continue
        if verb.seeded:
            options.setdefault("seed", chosen["seed"])
        node = step_node(study, verb.function, options, node)
    return node


def _of_other_axes(study: StudyFile, axis: str, chosen: Axes) -> Options:
    """The options of a step that axes of their own set: STEP.OPTION, the rows of a split, evidence
    and task.
    """
    more: Options = {
        name.removeprefix(f"{axis}."): value
        for name, value in chosen.items()
        if name.startswith(f"{axis}.")
    }
    if axis == "split":
        sides = [side for side in OF_SPLIT if side in chosen]
        for side in sides:
            value, conditions = str(chosen[side]), study.variants(side)
            if value not in conditions:
                raise UsageError(
                    f"[{side}.{value}] is missing.",
                    "Say which columns have which values, or leave it empty.",
                )
            more[f"{side}_where"] = conditions[value]
        more |= {"task": chosen["task"]} if "task" in chosen else {}
    if axis == "detector":
        more |= {name: chosen[name] for name in OF_DETECT if name in chosen}
        more |= {"evidence": NONE} if chosen.get("detector") in REFERENCES else {}
    return more


def sampled(node: Node, size: int) -> Node:
    """A sample of the dataset; of one that is made of others, a sample of each of them: in a merged
    one, few large groups would hardly be drawn beside many small ones."""
    if node.verb in (MISSING, SAMPLE):
        return node
    if node.before:
        return replace(node, before=tuple(sampled(part, size) for part in node.before))
    return Node(SAMPLE, {"size": size}, (node,))


def step_node(study: StudyFile, verb: str, options: Options, before: Node) -> Node:
    """A step after `before`; the files and the datasets that its options name belong to it."""
    texts = [text for _, text in texts_in(options)]
    named = tuple(
        (name, dataset_node(study, name))
        for name in study.datasets
        if any(f"{{{name}}}" in text for text in texts)
    )
    return Node(verb, options, (before,), inputs=digest_of_files(options), named=named)


def _options(study: StudyFile, axis: str, chosen: Axes, more: Options) -> Options | None:
    """What a value of the axis stands for: its table in the file, or the value itself; null where
    it is "none".
    """
    variants, verb, value = study.variants(axis), STEPS[axis], chosen.get(axis, NONE)
    if value == NONE and NONE not in variants:
        return None
    variant = variants.get(str(value), REFERENCES.get(str(value)) if axis == "detector" else None)
    if variant is None:
        return checked(verb, {verb.main: value, **more}, f"[{axis}.{value}]")
    variant = of_dataset(variant, str(chosen["dataset"]))
    options = {verb.main: variant.get(verb.main, value), **variant, **more}
    if verb.main not in variant and axis not in ("detector", "split"):
        options.pop(verb.main)  # a table with a free name: its options say it all
    return checked(verb, options, f"[{axis}.{value}]")


def of_dataset(options: Options, dataset: str) -> Options:
    """The options with those that its table `for.DATASET` adds."""
    more: Options = options.get("for", {}).get(dataset, {})
    return {**{name: value for name, value in options.items() if name != "for"}, **more}
