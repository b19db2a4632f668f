"""Where a file lies may say what its rows are: a folder per label, a file per split or per label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from claimlab.core.labels import LabelMap
from claimlab.exchange.guess.columns import Plan
from claimlab.exchange.read.gather import FILE, FOLDER, MANY, Gathered
from claimlab.exchange.vocabulary import NAMES, SPLITS, fold_name

_WORDS = {FOLDER: "the folder each file lies in", FILE: "the name of each file"}


def with_places(given: Mapping[str, str | None], gathered: Gathered, verdicts: LabelMap) -> dict[str, str | None]:
    """The user's columns, and places for a label or split that was not given."""
    out = dict(given)
    frame = gathered.frame
    if gathered.tables[0].layout.format == MANY and FOLDER in frame.columns and out.get("label") is None:
        out["label"] = FOLDER
    if len(gathered.tables) < 2 or FILE not in frame.columns:
        return out
    stems = frame[FILE].unique().to_list()
    splits = {split_in(stem) for stem in stems}
    has_column = any(fold_name(c) in NAMES["split"] and frame[c].count() for c in frame.columns)
    if out.get("split") is None and None not in splits and len(splits) > 1 and not has_column:
        out["split"] = FILE
    named = all(verdicts.verdict(PurePosixPath(stem).name) for stem in stems)
    if out.get("label") is None and out.get("split") != FILE and named:
        out["label"] = FILE
    return out


def explain(plan: Plan, given: Mapping[str, str | None]) -> None:
    """Say of a place that it was guessed, and from what."""
    for role in ("label", "split"):
        pick = plan.picks.get(role)
        if pick is not None and pick.column in _WORDS and given.get(role) is None:
            plan.picks[role] = replace(pick, why=_WORDS[pick.column], given=False)


def split_in(stem: str) -> str | None:
    """The split that a file name speaks of: multimodal_train -> train."""
    found = {SPLITS[word] for word in fold_name(PurePosixPath(stem).name).split() if word in SPLITS}
    return found.pop() if len(found) == 1 else None
