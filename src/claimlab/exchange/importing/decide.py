"""The fourth step of an import: the role of each column, with the reason. What no column gives may
be in the names of files and folders (a folder per label, a file per split), and what codes mean may
be in the name of their column (is_fake) or in the codes themselves (T and F).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

import polars as pl

from claimlab.core import packaged
from claimlab.core.labels import GENERAL, LabelMap, fold, is_blank
from claimlab.exchange.importing.doubts import MOST_CODES, free_columns, refuse_doubts
from claimlab.exchange.importing.ladder import SHARES
from claimlab.exchange.importing.layouts import (
    FILE,
    Gathered,
    label_words,
    labels_in,
    leaves,
    read_names,
    split_in,
    stem,
    usual_places,
)
from claimlab.exchange.importing.meanings import codes_by_words, codes_in_words
from claimlab.exchange.importing.plan import ImportPlan
from claimlab.exchange.importing.profile import DECIDED, FLAGS, Profiled, openings
from claimlab.exchange.importing.propose import ASIDE, Pick
from claimlab.exchange.importing.readings import (
    ENOUGH,
    EVIDENCE,
    LEAST_SHARE_READ,
    Reading,
    about_tasks,
    best,
    is_flag,
    of_tasks,
    of_words,
    tasks_named,
    tasks_of,
)
from claimlab.exchange.importing.texts import FOLDER, MANY_FILES
from claimlab.exchange.vocabulary import (
    ALL_FALSE,
    ALL_TRUE,
    NAMES,
    NO,
    YES,
    fold_name,
)
from claimlab.files.excel import SHEET_COLUMN
from claimlab.files.raw import spell_out

LEAST_FILLED = SHARES["text_filled"]  # of the rows, that have a text where there is one
MOST_NAME_WORDS = 3  # of the name of a file that is a label
ARTICLE_CHARACTERS = 600  # characters of the median text at which texts count as articles
_PLACES = {
    FOLDER: "the folder each file lies in",
    FILE: "the name of each file",
    SHEET_COLUMN: "the sheet each row is in",
}
_LETTER_CODES: list[dict[str, str]] = packaged.toml("claimlab.exchange", "vocabulary.toml")[
    "letters"
]


def decide(
    gathered: Gathered,
    seen: Profiled,
    picks: Mapping[str, Pick],
    named: Mapping[str, str],
    kind: str | None = None,
    *,
    map_given: bool = False,
    ask: bool = True,
) -> ImportPlan:
    """What each column of the files becomes. `named` holds the columns that the user named, by
    role; `map_given` is whether the user said what labels mean; `ask` raises the questions that
    are left.
    """
    used = {pick.column for role, pick in picks.items() if role not in ASIDE} | gathered.inner
    meta = [column for column in gathered.frame.columns if column not in used]
    plan = ImportPlan(gathered, seen.verdicts, dict(picks), meta, label_given="label" in named)
    plan.map_given = map_given
    _leave_empty_text(plan, seen)
    _take_places(plan, seen, named)
    _take_explained(plan, seen)
    _take_task(plan, seen)
    _take_name(plan, seen)
    _take_openings(plan)
    _take_meaning(plan)
    if ask:
        refuse_doubts(plan, seen)
    plan.kind = kind or _kind(plan)
    return plan


def _take_places(plan: ImportPlan, seen: Profiled, named: Mapping[str, str]) -> None:
    """Take a label or a split that no column gives from the names of files and folders."""
    frame = plan.gathered.frame
    has_split = any(
        profiled.n and profiled.folded in NAMES["split"] for profiled in seen.columns.values()
    )
    for place in _PLACES:
        if place not in frame.columns or (place == FILE and len(plan.gathered.tables) < 2):
            continue
        names = usual_places(frame[place])
        if not has_split:
            _take_place(plan, named, "split", place, _splits(plan.gathered, place, names))
        whole = leaves(names) if place == FOLDER else None
        _take_place(plan, named, "label", place, labels_in(names, plan.verdicts) or whole)
    readers: dict[str, Callable[[pl.Series], dict[str, str]]] = {
        "label": partial(label_words, verdicts=plan.verdicts),
        "split": leaves,
    }
    for role, read in readers.items():
        if role not in plan.values and (column := plan.column(role)) in _PLACES:
            plan.values[role] = read(frame[column].drop_nulls().unique())


def _leave_empty_text(plan: ImportPlan, seen: Profiled) -> None:
    """A column that is empty in nearly every row is not the text of records that an id or a link
    names: these are ids only."""
    pick = plan.picks.get("text")
    if pick is None or pick.given or pick.column not in seen.columns:
        return
    reachable = plan.column("tweet_id") or plan.column("url")
    if reachable and seen.columns[pick.column].filled < LEAST_FILLED:
        del plan.picks["text"]
        plan.meta = [c for c in plan.gathered.frame.columns if c in {*plan.meta, pick.column}]
        note = f"'{pick.column}' is empty in most rows and not the text: the records are ids only."
        plan.gathered.tables[0].notes.append(note)


def _take_name(plan: ImportPlan, seen: Profiled) -> None:
    """Let the name of the only file be the label of all records, where it ends with a verdict and
    no column may be the label: dataset_fake.csv."""
    tables = plan.gathered.tables
    if (
        plan.label_given
        or "label" in plan.picks
        or len(tables) != 1
        or tables[0].name == MANY_FILES
    ):
        return
    name = stem(tables[0])
    words = fold_name(PurePosixPath(name).name).split()
    verdicts = [plan.verdicts.verdict(word) for word in words]
    said = {verdict for verdict in verdicts if verdict}
    if not words or verdicts[-1] not in DECIDED or len(said) > 1 or len(words) > MOST_NAME_WORDS:
        return
    if any(column.may_be_anything for column in free_columns(plan, seen).values()):
        return
    places = pl.Series(FILE, [name]).new_from_index(0, plan.gathered.frame.height)
    plan.gathered = replace(plan.gathered, frame=plan.gathered.frame.with_columns(places))
    plan.picks["label"] = Pick(FILE, "the name of the file", words[-1])
    plan.values["label"] = {name: words[-1]}


def _take_explained(plan: ImportPlan, seen: Profiled) -> None:
    """Let the one column be the label of which a README says what verdicts its codes are."""
    if plan.label_given or "label" in plan.picks:
        return
    free = free_columns(plan, seen)
    few = [name for name in plan.meta if name in free and free[name].may_be_anything]
    about = plan.gathered.about.items()
    explained = [
        column
        for column in few
        if _explained(plan, column, {name: _said_of(column, few, text) for name, text in about})
    ]
    if len(explained) == 1:
        [column] = explained
        plan.picks["label"] = Pick(column, "its codes are explained", seen.columns[column].example)
        plan.meta = [name for name in plan.meta if name != column]


def _take_task(plan: ImportPlan, seen: Profiled) -> None:
    """Let the one column be the label that is named after a task and holds labels of it, such as
    `clickbait` with yes and no."""
    if plan.label_given or "label" in plan.picks:
        return
    free = free_columns(plan, seen)
    named = {
        name: tasks_named(name) & set(tasks_of(sorted(column.counts), LEAST_SHARE_READ))
        for name, column in free.items()
        if column.may_be_anything and tasks_named(name)
    }
    columns = [name for name, tasks in named.items() if tasks]
    if len(columns) == 1 and not _places_of_labels(plan):
        [column] = columns
        plan.picks["label"] = Pick(column, "its name", seen.columns[column].example)
        plan.meta = [name for name in plan.meta if name != column]


def _places_of_labels(plan: ImportPlan) -> bool:
    """Whether names of files or folders may be labels, too."""
    frame = plan.gathered.frame
    return any(place in frame.columns for place in (FILE, FOLDER))


def _take_openings(plan: ImportPlan) -> None:
    """Of verdicts with their reasons let the verdict be the label; whole cells stay in `meta`."""
    pick = plan.picks.get("label")
    if pick is None or pick.column not in plan.gathered.frame.columns or "label" in plan.values:
        return
    cells = plan.gathered.text(pick.column).drop_nulls().unique().to_list()
    if begun := openings(cells, plan.verdicts):
        plan.values["label"] = {cell: begun.get(cell, cell) for cell in cells}
        plan.picks["label"] = replace(pick, why=f"{pick.why}; each cell begins with a verdict")
        plan.meta.append(pick.column)
        note = f"Cells of '{pick.column}' are verdicts with reasons: the label is the verdict."
        notes = plan.gathered.tables[0].notes
        notes += [] if note in notes else [note]


def _said_of(column: str, columns: Sequence[str], text: str) -> str:
    """What a text says between the name of a column and that of another one."""
    names = "|".join(map(re.escape, columns))
    _, *parts = re.split(rf"(?<!\w)({names})(?!\w)", text)
    passages = zip(parts[::2], parts[1::2], strict=True)
    return "\n".join(words for name, words in passages if name == column)


def _splits(gathered: Gathered, place: str, names: Sequence[str]) -> dict[str, str] | None:
    """The split of each place: by the card of the folder, where it has one for every file, or by
    their names.
    """
    card = {stem(table): gathered.splits.get(table.name, "") for table in gathered.tables}
    by_card = place == FILE and all(card.values())
    return read_names(names, lambda name: split_in(card[name]) if by_card else split_in(name))


def _take_place(
    plan: ImportPlan, named: Mapping[str, str], role: str, place: str, words: dict[str, str] | None
) -> None:
    """Let a role have what the names of files, folders or sheets say, unless it has a column."""
    if words is None or {plan.column(role), named.get(role)} - {None, place}:
        return
    if role not in named:
        plan.picks[role] = Pick(place, _PLACES[place], next(iter(words)))
        plan.meta = [column for column in plan.meta if column != place]
    plan.values[role] = words


def _take_meaning(plan: ImportPlan) -> None:
    """Take what the values of the label say, where the user or some evidence decides it; words that
    are left open are no longer known, so that nothing is made of them unasked.
    """
    pick = _spelled_out(plan)
    written = plan.written("label")
    if pick is None or written is None or "veracity" in plan.picks or plan.verdicts.task:
        return
    plan.topics = about_tasks(_names_of(plan), plan.gathered.about.values())
    values = [value for value in written.drop_nulls().unique().sort() if not is_blank(value)]
    ratings = plan.gathered.ratings  # of several annotators, some words may be in no majority
    votes = [] if ratings is None else ratings.table["value"].drop_nulls().unique().to_list()
    flag = is_flag([*values, *votes]) and "label" not in plan.values and not plan.gathered.classes
    stated = plan.verdicts.stated
    if plan.map_given and (not flag or not stated or stated & {fold(value) for value in values}):
        _take_stated(plan, values, flag=flag)
        return
    readings = _readings(plan, str(pick.column), values, flag=flag)
    taken = best(readings, values)
    if taken is not None:
        plan.verdicts = taken.verdicts
        why = taken.why if taken.verdicts.name != GENERAL else pick.why
        plan.picks["label"] = replace(pick, why=why)
    elif flag:
        plan.verdicts = _without_flags(plan.verdicts)
        plan.open_flag = True
    else:
        plan.rivals = [one for one in readings if one.score >= ENOUGH]


def _readings(plan: ImportPlan, column: str, values: Sequence[str], *, flag: bool) -> list[Reading]:
    """Every way to read the label, with what speaks for it."""
    verdicts, few = plan.verdicts, len(values) <= MOST_CODES
    readings = [of_words(column, values, verdicts, generic=flag)]
    if not few:
        return readings
    readings += of_tasks(column, values, verdicts, generic=flag)
    if (documented := _documented(column, values, verdicts)) is not None:
        readings.append(documented)
    if "label" not in plan.values and len(values) > 1:
        prose = {plan.column("text"), column}
        others = [name for name in plan.gathered.frame.columns if name not in prose]
        codes = codes_by_words(plan.gathered.plain(), column, others, verdicts, flag=flag)
        if codes is not None:
            why = codes.name.removeprefix(f"{column}: ")
            readings.append(Reading(codes, EVIDENCE["words_beside"], why))
    return readings


def _take_stated(plan: ImportPlan, values: Sequence[str], *, flag: bool) -> None:
    """Keep to the map that the user gave. Of a flag it must name a value itself: the other one is
    then the opposite. What it does not say is left open.
    """
    stated = plan.verdicts.stated
    if not flag or not stated:
        return
    said = {fold(value) for value in values} & FLAGS
    left = said - stated
    known = {plan.verdicts.verdict(value) for value in said & stated}
    if not left:
        return
    verdicts = _without_flags(plan.verdicts, left)
    one_of_two = len(said) == 2 and len(left) == 1 and len(said & YES) == len(said & NO) == 1
    if one_of_two and known <= {"true", "false"}:
        opposite = "false" if known == {"true"} else "true"
        plan.verdicts = replace(verdicts, verdicts={**verdicts.verdicts, left.pop(): opposite})
    else:
        plan.verdicts, plan.open_flag = verdicts, True


def _without_flags(verdicts: LabelMap, flags: Collection[str] = FLAGS) -> LabelMap:
    known = {raw: verdict for raw, verdict in verdicts.verdicts.items() if fold(raw) not in flags}
    return replace(verdicts, verdicts=known)


def _names_of(plan: ImportPlan) -> list[str]:
    """What files, folders and archives are called, and the other columns."""
    gathered = plan.gathered
    return [*gathered.inputs, *(table.name for table in gathered.tables)]


def _documented(column: str, values: Collection[str], verdicts: LabelMap) -> Reading | None:
    """The reading of the codes of a label column, where its name or the codes themselves say what
    they mean.
    """
    codes = {value: fold(value) for value in values}
    folded = set(codes.values())
    if not codes:
        return None
    for table, evidence in (
        (_by_name(fold_name(column), folded), "name_says"),
        (_letters(folded), "letters"),
    ):
        if table is not None:
            meaning = {value: table[code] for value, code in codes.items()}
            return _read_as(column, meaning, verdicts, evidence)
    words = codes_in_words(column, column, list(codes), verdicts) or {}
    meaning = {code: v for code, word in words.items() if (v := verdicts.verdict(word))}
    return _read_as(column, meaning, verdicts, "readme") if len(meaning) == len(codes) > 0 else None


def _read_as(column: str, meaning: Mapping[str, str], verdicts: LabelMap, evidence: str) -> Reading:
    codes = _map_of(column, meaning, verdicts)
    return Reading(codes, EVIDENCE[evidence], codes.name.removeprefix(f"{column}: "))


def _spelled_out(plan: ImportPlan) -> Pick | None:
    """The pick of the label; of codes that a README explains, the words are put in their place."""
    pick = plan.picks.get("label")
    if pick is None or pick.column not in plan.gathered.frame.columns or "label" in plan.values:
        return pick
    if explained := _explained(plan, pick.column, plan.gathered.about):
        name, words = explained
        plan.gathered = replace(plan.gathered)
        note = spell_out(plan.gathered, pick.column, words, f"'{name}'")
        notes = plan.gathered.tables[0].notes
        notes += [] if note in notes else [note]
        plan.picks["label"] = replace(pick, why=f"'{name}' says what its codes mean")
    return plan.picks["label"]


def _explained(
    plan: ImportPlan, column: str, texts: Mapping[str, str]
) -> tuple[str, dict[str, str]] | None:
    """The text that says what the codes of a column mean, by its name, and the words for them."""
    values = plan.gathered.text(column).drop_nulls().unique().sort().to_list()
    codes = [value for value in values if not is_blank(value)]
    if all(plan.verdicts.verdict(code) is not None for code in codes):
        return None
    for name, text in texts.items():
        if words := codes_in_words(text, column, codes, plan.verdicts):
            return name, words
    return None


def _map_of(column: str, meaning: Mapping[str, str], verdicts: LabelMap) -> LabelMap:
    words = ", ".join(f"{value} is {verdict}" for value, verdict in sorted(meaning.items()))
    return replace(verdicts, name=f"{column}: {words}", verdicts=meaning, version=1, exact=True)


def _by_name(name: str, codes: set[str]) -> dict[str, str] | None:
    if not codes <= YES | NO or name not in ALL_FALSE | ALL_TRUE:
        return None
    yes, no = ("false", "true") if name in ALL_FALSE else ("true", "false")
    return {code: yes if code in YES else no for code in codes}


def _letters(codes: set[str]) -> dict[str, str] | None:
    """What letters mean together; T and F alone are a flag."""
    for table in _LETTER_CODES:
        if (
            not is_flag(codes)
            and codes <= set(table)
            and {"true", "false"} <= {table[code] for code in codes}
        ):
            return table
    return None


def _kind(plan: ImportPlan) -> str:
    column = plan.column("text")
    if column is None or plan.column("tweet_id") is not None:
        return "post"
    if fold_name(column).startswith(("tweet", "tuit", "tuite", "post")):
        return "post"
    texts = plan.gathered.frame[column]
    median = texts.gather_every(max(1, texts.len() // 1_000)).str.len_chars().median()
    return (
        "article" if isinstance(median, int | float) and median >= ARTICLE_CHARACTERS else "claim"
    )
