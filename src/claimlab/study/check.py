"""Everything that is missing for a study, before anything is spent: files, options that do not
exist, extras, keys, and classes that a split leaves without a record."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import polars as pl

from claimlab.core.call import in_storage
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, MissingExtra
from claimlab.core.extras import require_extra
from claimlab.core.grants import on_behalf_of, require
from claimlab.core.types import JsonObject
from claimlab.detect.detector import DETECTORS
from claimlab.detect.own.source import is_own, parts_of
from claimlab.split.views import limits
from claimlab.study.axes import all_axes
from claimlab.study.exhibits import Exhibit, exhibits
from claimlab.study.file import StudyCaps, StudyFile, StudyPath, read_study_file
from claimlab.study.plan import GridCell, at_hand, dataset_node, plan, sampled
from claimlab.study.received import PROFILES, PROVIDERS, wanted_by
from claimlab.study.recorded import read_answers
from claimlab.study.run import CALLED, Grid, Maker
from claimlab.study.step import REFERENCES, SAMPLE, Node
from claimlab.tasks import open_task, own_task

_KEEP_LABELS = {
    "enrich"
}  # steps that add to records and change none: the split is the same without them
_MODELS = {"profile": "model"}  # the model of a profile to ask
RECORDS_TRIED = 60
_LOCAL = {"embedded", "gguf"}  # models inside this process


def split_problems(cells: Sequence[GridCell], maker: Maker) -> tuple[list[str], list[str]]:
    """A sentence for each step that fails before the detectors, and for each class that a side of a
    split lacks; and one for what the test records of each split can show at all.
    """
    problems: dict[tuple[str, str], dict[str, None]] = {}  # setting and problem -> seeds
    seen: dict[str, str] = {}  # what each setting can show, by its first seed
    looked: set[tuple[str, str | None, bool]] = set()
    for cell in cells:
        options = cell.node.options
        before, task = _without(cell.node.before[0]), cast("str | None", options.get("task"))
        name = str(options["detector"])
        trains = not is_own(name) and DETECTORS.get(name).needs_training
        if before is None or (before.key, task, trains) in looked:
            continue
        looked.add((before.key, task, trains))
        setting = ", ".join(
            f"{axis} {cell.axes[axis]}" for axis in ("dataset", "split") if axis in cell.axes
        )
        for problem in _problems(before, task, maker, trains=trains):
            problems.setdefault((setting, problem), {})[str(cell.axes["seed"])] = None
        if setting not in seen and not problems:
            divided = Dataset.open(maker.place(before))
            seen[setting] = " ".join([f"{setting}:", *limits(divided, task)])
    return [
        f"{setting}, seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)}: {problem}"
        for (setting, problem), seeds in problems.items()
    ], [line for setting, line in seen.items() if line != f"{setting}:"]


def _without(node: Node) -> Node | None:
    """The step without what comes before it and keeps the labels; null where its input must be
    asked for or made up.
    """
    if node.verb in _KEEP_LABELS:
        return _without(node.before[0])
    before = [_without(step) for step in node.before]
    invents = node.verb in CALLED and CALLED[node.verb].invents
    if invents or node.asks or any(step is None for step in before):
        return None
    return replace(node, before=tuple(step for step in before if step is not None))


def _problems(last: Node, task: str | None, maker: Maker, *, trains: bool) -> Iterator[str]:
    for node in last.chain():
        if node.folder is None and not any(
            before.key in maker.grid.failed for before in node.chain()
        ):
            maker.make(node)
    if failed := maker.grid.why(last):
        yield failed
        return
    try:
        divided = Dataset.open(maker.place(last))
        records = divided.records
        labels = open_task(own_task(divided, task), records).labels(records)
    except ClaimlabError as error:
        yield str(error)
        return
    tested = "test" if (records["split"] == "test").any() else "dev"  # lists may withhold the test
    yield from absent(records["split"], labels, ("train", tested) if trains else (tested,))


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


@in_storage()
def study_check(
    study: StudyPath, *, trust: bool = False
) -> tuple[list[GridCell], list[str], list[str]]:
    """List everything that is missing, before anything is spent.

    Gives the cells of the grid, a sentence for each thing that is missing, and one for each
    optional dataset that is not at hand and for each split, which says what differences between
    two detectors its test records can show. Nothing is asked and nothing stays on disk. In a folder
    that is removed again, every step that asks no model is tried on a few records, to see which
    packages are missing, and datasets are loaded, cleaned and split, to see which classes each
    side has. A file that names hosts, keys or paths outside its folder must have been allowed
    (`claimlab trust FILE`), unless `trust` says that it is yours.
    """
    read = read_study_file(study)
    wanted = wanted_by(read, Path(study))
    require(Path(study), wanted, trust=trust)
    with on_behalf_of(Path(study), wanted, trust=trust):
        return _checked(read)


def _checked(read: StudyFile) -> tuple[list[GridCell], list[str], list[str]]:
    problems: list[str] = []
    for name in read.datasets:
        _try(problems, partial(dataset_node, read, name))
    cells: list[GridCell] = []
    left_out: list[str] = []
    if not problems:
        try:
            cells, left_out = at_hand(plan(read))
        except ClaimlabError as error:
            problems.append(str(error))
    _try(problems, lambda: problems.extend(_detectors(read)))
    exhibits_tried: list[Exhibit] = []
    if cells:
        _try(problems, lambda: exhibits_tried.extend(exhibits(read, {})))
    last = [*(cell.node.before[0] for cell in cells), *(exhibit.node for exhibit in exhibits_tried)]
    ends = [*(cell.node for cell in cells), *last]
    nodes = {node.key: node for end in ends for node in end.chain()}
    for node in nodes.values():
        problems += _asked(node, read.recorded)
    seen: list[str] = []
    if cells:
        tried, seen = _tried(read, cells, last, split=not problems)
        problems += tried
    return cells, list(dict.fromkeys(problems)), [*left_out, *seen]


def _tried(
    study: StudyFile, cells: list[GridCell], last: Sequence[Node], *, split: bool
) -> tuple[list[str], list[str]]:
    """What the steps themselves say, and what their test records can show; they are made in a
    folder that is removed again."""
    with tempfile.TemporaryDirectory(prefix="claimlab-check-") as folder:
        grid = Grid(Path(folder), study, cells)
        problems = missing_extras(last, Maker(grid, StudyCaps(), "record"))
        if split and not problems:
            return split_problems(cells, Maker(grid, StudyCaps(), "replay"))
        return problems, []


def missing_extras(last: Sequence[Node], maker: Maker) -> list[str]:
    """A sentence for each step that needs packages which are not installed. Steps say so when they
    are made: each is tried on a few records, and what else is wrong with so few is not reported."""
    tried = {
        node.key: node for step in last for node in _on_few(step).chain() if node.folder is None
    }
    for node in tried.values():
        if all(each.key not in maker.grid.failed and not each.asks for each in node.chain()):
            maker.make(node)
    return [
        f"{tried[key].verb}: {e}"
        for key, e in maker.errors.items()
        if key in tried and isinstance(e, MissingExtra)
    ]


def _on_few(node: Node) -> Node:
    """The same steps on a sample of their dataset; far fewer where each record takes long."""
    if node.verb == SAMPLE or not node.before:
        return sampled(node.before[0] if node.before else node, RECORDS_TRIED)
    named = tuple((name, _on_few(other)) for name, other in node.named)
    tries = CALLED[node.verb].tries if node.verb in CALLED else None
    few = {} if tries is None else {"limit": tries}
    before = tuple(map(_on_few, node.before))
    return replace(node, options={**node.options, **few}, before=before, named=named)


def _try(problems: list[str], work: Callable[[], object]) -> None:
    try:
        work()
    except ClaimlabError as error:
        problems.append(str(error))


def _detectors(study: StudyFile) -> list[str]:
    """Detectors that cannot be made here: unknown names and settings, missing extras and
    profiles.
    """
    problems: list[str] = []
    for value in dict.fromkeys(map(str, all_axes(study)["detector"])):
        options = {**study.detector.get(value, REFERENCES.get(value, {}))}
        try:
            _open(str(options.pop("detector", value)), options)
        except ClaimlabError as error:
            problems.append(f"{value}: {error}")
    return problems


def _open(name: str, options: JsonObject) -> None:
    from claimlab.core.calls.calls import Calls
    from claimlab.detect.detector import DETECTORS
    from claimlab.detect.open import open_detector

    words = {
        "profile": options.get("profile"),
        "model": options.get("model"),
        "providers": options.get("provider", ()),
    }
    if is_own(name):
        parts_of(name)  # its form; the code itself is not run for a check
        return
    extra = DETECTORS.get(name).extra
    if extra is not None:
        require_extra(f"The detector '{name}'", extra)
    with open_detector(
        name, options.get("settings", ()), Calls("live"), "none", words, options.get("prompts", ())
    ):
        pass


def _asked(node: Node, recorded: str) -> Iterator[str]:
    """What a step needs to ask a model or a search, and does not have: profile, package, key,
    address. A model whose answers come with the study, in `recorded`, is not asked.
    """
    options: JsonObject = node.options
    for option, profile in _values(options, PROFILES):
        problems: list[str] = []
        model = options.get(_MODELS.get(option, ""))
        _try(problems, partial(_open_profile, profile, model, recorded))
        yield from (f"{node.verb}: {problem}" for problem in problems)
    for _, provider in _values(options, PROVIDERS):
        yield from (f"{node.verb}: {problem}" for problem in _search_problems(provider))


def _values(options: JsonObject, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each of these options that is given, with each of its values."""
    for name in names:
        value = options.get(name) or ()
        yield from (
            (name, name_given) for name_given in ([value] if isinstance(value, str) else value)
        )


def _open_profile(name: str, model: str | None, recorded: str) -> None:
    from claimlab.llm.profiles import find_profile

    profile = find_profile(name).with_model(model)
    kind = f"model {profile.chosen_model()}"
    if recorded and read_answers(recorded).kind == kind:
        return
    if profile.provider != "scripted":
        require_extra(
            f"The model profile '{profile.name}'",
            "local-llm" if profile.provider in _LOCAL else "llm",
        )
    profile.key()


def _search_problems(name: str) -> Iterator[str]:
    from claimlab.search.connect import PROVIDERS

    kind, _, place = name.partition(":")
    if kind == "local":
        if not Path(place).exists() and "{" not in place:
            yield f"there is no '{place}' to search in."
        return
    try:
        needs: Sequence[str] = getattr(PROVIDERS.get(kind), "needs", ())
    except ClaimlabError as error:
        yield str(error)
        return
    for variable in needs:
        if not os.environ.get(variable, "").strip():
            yield (
                f"the search provider '{kind}' needs {variable}, which is not set. Set it: export"
                f" {variable}=…"
            )
