"""Everything that is missing for a study, before anything is spent: files, extras, keys, options that do not exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from claimlab.core.errors import ClaimlabError
from claimlab.study.file import StudyFile, read_study_file
from claimlab.study.plan import Cell, axes_of, plan
from claimlab.study.source import dataset_node
from claimlab.study.step import REFERENCES


def study_check(study: str | Path) -> tuple[list[Cell], list[str]]:
    """The cells of the grid, and a sentence for each thing that is missing; nothing is run."""
    read = read_study_file(study)
    problems: list[str] = []
    for name in read.datasets:
        _try(problems, partial(dataset_node, read, name))
    cells: list[Cell] = []
    if not problems:
        _try(problems, lambda: cells.extend(plan(read)))
    _try(problems, lambda: problems.extend(_detectors(read)))
    return cells, list(dict.fromkeys(problems))


def _try(problems: list[str], work: Callable[[], object]) -> None:
    try:
        work()
    except ClaimlabError as error:
        problems.append(str(error))


def _detectors(study: StudyFile) -> list[str]:
    """Detectors that cannot be made here: unknown names and settings, missing extras, profiles and keys."""
    from claimlab.core.calls.calls import Calls
    from claimlab.detect.open import open_detector

    problems: list[str] = []
    for value in dict.fromkeys(map(str, axes_of(study)["detector"])):
        options = {**study.detector.get(value, REFERENCES.get(value, {}))}
        name = options.pop("detector", value)
        words = {
            "profile": options.get("profile"), "model": options.get("model"), "providers": options.get("provider", ()),
            "search_profile": options.get("search_profile"), "search_model": options.get("search_model"),
        }  # fmt: skip
        try:
            with open_detector(name, options.get("settings", ()), Calls("live"), "none", words, ()):
                pass
        except ClaimlabError as error:
            problems.append(f"{value}: {error}")
    return problems
