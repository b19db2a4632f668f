"""The fourth step of an import: the role of each column, with the reason, or a question that the
user must answer.

What no column gives may be in the names of files and folders (a folder per label, a file per
split), and what codes mean may be in the name of their column (is_fake) or in the codes themselves
(T and F).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from claimlab.core.labels import GENERAL, LabelMap, fold
from claimlab.exchange.importing.doubts import refuse_doubts
from claimlab.exchange.importing.layouts import (
    FILE,
    Gathered,
    labels_in,
    leaves,
    read_names,
    split_in,
    usual_places,
)
from claimlab.exchange.importing.meanings import codes_by_words
from claimlab.exchange.importing.plan import Plan
from claimlab.exchange.importing.profile import Profiled
from claimlab.exchange.importing.propose import ASIDE, Pick
from claimlab.exchange.importing.texts import FOLDER
from claimlab.exchange.vocabulary import ALL_FALSE, ALL_TRUE, NAMES, fold_name
from claimlab.files.excel import SHEET

ARTICLE = 600  # characters of the median text at which texts count as articles
MOST_CODES = 12
_PLACES = {
    FOLDER: "the folder each file lies in",
    FILE: "the name of each file",
    SHEET: "the sheet each row is in",
}
_YES = frozenset({"1", "1.0", "true", "yes", "y", "t"})
_NO = frozenset({"0", "0.0", "false", "no", "n", "f"})
_PAIR = re.compile(r"\b(\w{1,3})\s*[:=]\s*([^,;:=()\[\]]+)")
# Abbreviations that are only believed together: an F alone may be a female speaker.
_LETTERS: tuple[dict[str, str], ...] = (
    {"t": "true", "f": "false", "u": "unknown"},
    {"r": "true", "f": "false"},
)


def decide(
    gathered: Gathered,
    seen: Profiled,
    picks: Mapping[str, Pick],
    named: Mapping[str, str],
    kind: str | None = None,
    *,
    ask: bool = True,
) -> Plan:
    """What each column of the files becomes. `named` holds the columns that the user named, by
    role; `ask` raises the questions that are left.
    """
    used = {pick.column for role, pick in picks.items() if role not in ASIDE} | gathered.inner
    meta = [column for column in gathered.frame.columns if column not in used]
    plan = Plan(gathered, seen.verdicts, dict(picks), meta, label_given="label" in named)
    _take_places(plan, seen, named)
    _read_codes(plan)
    if ask:
        refuse_doubts(plan, seen)
    plan.kind = kind or _kind(plan)
    return plan


def _take_places(plan: Plan, seen: Profiled, named: Mapping[str, str]) -> None:
    """Take a label or a split that no column gives from the names of files and folders."""
    frame = plan.gathered.frame
    has_split = any(one.n and one.folded in NAMES["split"] for one in seen.columns.values())
    for place in _PLACES:
        if place not in frame.columns or (place == FILE and len(plan.gathered.tables) < 2):
            continue
        names = usual_places(frame[place])
        if not has_split:
            _take_place(plan, named, "split", place, read_names(names, split_in))
        whole = leaves(names) if place == FOLDER else None
        _take_place(plan, named, "label", place, labels_in(names, plan.verdicts) or whole)
    for role in ("label", "split"):
        column = plan.column(role)
        if column in _PLACES and role not in plan.values:
            plan.values[role] = leaves(frame[column].drop_nulls().unique().to_list())


def _take_place(
    plan: Plan, named: Mapping[str, str], role: str, place: str, words: dict[str, str] | None
) -> None:
    """Let a role have what the names of files, folders or sheets say, unless it has a column."""
    if words is None or {plan.column(role), named.get(role)} - {None, place}:
        return
    if role not in named:
        plan.picks[role] = Pick(place, _PLACES[place], next(iter(words)))
        plan.meta = [column for column in plan.meta if column != place]
    plan.values[role] = words


def _read_codes(plan: Plan) -> None:
    """Take the meaning of codes from the name of their column, or from the words that they go with
    elsewhere, unless the user gave a map.
    """
    pick = plan.picks.get("label")
    if pick is None or pick.column is None or plan.verdicts.name != GENERAL:
        return
    values = plan.gathered.text(pick.column).drop_nulls().unique().to_list()
    codes = _documented(pick.column, values, plan.verdicts) if len(values) <= MOST_CODES else None
    if codes is None and "label" not in plan.values and 2 <= len(values) <= MOST_CODES:
        prose = {plan.column("text"), pick.column}
        others = [column for column in plan.gathered.frame.columns if column not in prose]
        codes = codes_by_words(plan.gathered.plain(), pick.column, others, plan.verdicts)
    if codes is not None:
        plan.verdicts = codes
        plan.picks["label"] = replace(pick, why=codes.name.removeprefix(f"{pick.column}: "))


def _documented(column: str, values: Collection[str], verdicts: LabelMap) -> LabelMap | None:
    """The map of the codes of a label column, where its name or the codes themselves say what they
    mean.
    """
    codes = {value: fold(value) for value in values if value.strip()}
    known = set(codes.values())
    table = (
        _by_name(fold_name(column), known) or _listed(column, known, verdicts) or _letters(known)
    )
    if not codes or table is None:
        return None
    meaning = {value: table[code] for value, code in codes.items()}
    words = ", ".join(f"{value} is {verdict}" for value, verdict in sorted(meaning.items()))
    return replace(verdicts, name=f"{column}: {words}", verdicts=meaning, version=1, exact=True)


def _by_name(name: str, codes: set[str]) -> dict[str, str] | None:
    if not codes <= _YES | _NO or name not in ALL_FALSE | ALL_TRUE:
        return None
    yes, no = ("false", "true") if name in ALL_FALSE else ("true", "false")
    return {code: yes if code in _YES else no for code in codes}


def _listed(column: str, codes: set[str], verdicts: LabelMap) -> dict[str, str] | None:
    """Codes that the name of the column explains: "label (0: fake, 1: real)"."""
    words = {fold(code): verdicts.verdict(word) for code, word in _PAIR.findall(column)}
    table = {code: verdict for code, verdict in words.items() if verdict is not None}
    return table if codes <= set(table) else None


def _letters(codes: set[str]) -> dict[str, str] | None:
    for table in _LETTERS:
        if codes <= set(table) and {"true", "false"} <= {table[code] for code in codes}:
            return table
    return None


def _kind(plan: Plan) -> str:
    column = plan.column("text")
    if column is None or plan.column("tweet_id") is not None:
        return "post"
    if fold_name(column).startswith(("tweet", "tuit", "tuite", "post")):
        return "post"
    texts = plan.gathered.frame[column]
    median = texts.gather_every(max(1, texts.len() // 1_000)).str.len_chars().median()
    return "article" if isinstance(median, int | float) and median >= ARTICLE else "claim"
