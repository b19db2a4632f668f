"""Where a file lies may say what its rows are: a folder per label, a file per split or per
label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath

from claimlab.core.labels import LabelMap
from claimlab.exchange.guess.plan import Pick, Plan
from claimlab.exchange.read.gathered import FILE
from claimlab.exchange.read.texts import FOLDER
from claimlab.exchange.vocabulary import NAMES, SPLITS, fold_name
from claimlab.files.excel import SHEET

_WORDS = {
    FOLDER: "the folder each file lies in",
    FILE: "the name of each file",
    SHEET: "the sheet each row is in",
}


def pick_places(plan: Plan, named: Mapping[str, str | None]) -> None:
    """Take a label or a split that no column gives from the names of files and folders."""
    frame = plan.gathered.frame
    for place in (FOLDER, FILE, SHEET):
        if place not in frame.columns or (place == FILE and len(plan.gathered.tables) < 2):
            continue
        names = frame[place].drop_nulls().unique().sort().to_list()
        has_split = any(fold_name(c) in NAMES["split"] and frame[c].count() for c in frame.columns)
        if not has_split:
            _pick(plan, named, "split", place, _read(names, split_in))
        whole = {n: PurePosixPath(n).name for n in names} if place == FOLDER else None
        _pick(plan, named, "label", place, labels_in(names, plan.verdicts) or whole)
    for role in ("label", "split"):
        if (
            plan.column(role) in _WORDS
            and role not in plan.values
            and (column := plan.column(role))
        ):
            plan.values[role] = {
                n: PurePosixPath(n).name for n in frame[column].drop_nulls().unique().to_list()
            }


def _pick(
    plan: Plan,
    named: Mapping[str, str | None],
    role: str,
    place: str,
    values: dict[str, str] | None,
) -> None:
    wanted = named.get(role)
    if values is None or plan.column(role) not in (None, place) or wanted not in (None, place):
        return
    if wanted is None:
        plan.picks[role] = Pick(place, _WORDS[place], next(iter(values)))
        plan.meta = [c for c in plan.meta if c != place]
    plan.values[role] = values


def labels_in(names: Iterable[str], verdicts: LabelMap) -> dict[str, str] | None:
    """The verdict that each name refers to (ClaimFakeCOVID-19 -> Fake), if every name has one and
    they differ.

    The innermost part of the path that says it decides. A word such as "news" says nothing; "fake"
    and "real" do.
    """
    words = _read(names, lambda name: _verdict_word(name, verdicts))
    if words is None:
        return None
    known = {verdicts.verdict(word) for word in words.values()}
    return words if {"true", "false"} <= known else None


def _verdict_word(name: str, verdicts: LabelMap) -> str | None:
    for part in reversed(PurePosixPath(name).parts):
        if verdicts.verdict(part) is not None:
            return part
        words = [w for w in fold_name(part).split() if verdicts.verdict(w) is not None]
        if len({verdicts.verdict(w) for w in words}) == 1:
            return words[0]
    return None


def split_in(name: str) -> str | None:
    """The split that a file name refers to, or else its folder: multimodal_train -> train."""
    for part in (PurePosixPath(name).name, PurePosixPath(name).parent.name):
        splits = {SPLITS[word] for word in fold_name(part).split() if word in SPLITS}
        if splits:
            return splits.pop() if len(splits) == 1 else None
    return None


def _read(names: Iterable[str], tell: Callable[[str], str | None]) -> dict[str, str] | None:
    """What each name says; null unless every one says something and they differ."""
    table = {name: tell(name) for name in names}
    words = {name: word for name, word in table.items() if word is not None}
    return words if len(words) == len(table) and len(set(words.values())) > 1 else None
