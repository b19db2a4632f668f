"""The fourth step of an import: the role of each column, with the reason, or a question that the
user must answer.

What no column gives may be in the names of files and folders (a folder per label, a file per
split), and what codes mean may be in the name of their column (is_fake) or in the codes themselves
(T and F).

Questions that several files raise and that only the user can answer: which of them are the
records?

An error names the option that resolves it. With `only`, the user has chosen: then files are read
together as long as each of them has the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import filterfalse
from pathlib import PurePosixPath
from typing import NoReturn

import polars as pl

from claimlab.core import packaged
from claimlab.core.errors import Choice, DataError, Question, UsageError
from claimlab.core.labels import GENERAL, LabelMap, fold, is_blank
from claimlab.core.languages import normalise
from claimlab.core.words import several
from claimlab.exchange.importing.choose import chosen, some_of
from claimlab.exchange.importing.layouts import (
    FILE,
    Gathered,
    Layout,
    by_columns,
    label_words,
    labels_in,
    layouts_of,
    leaves,
    one_in_each,
    read_names,
    rows_of,
    split_in,
    stem,
    stems,
    usual_places,
)
from claimlab.exchange.importing.meanings import (
    codes_by_words,
    codes_in_words,
    labels_of_task,
    offered_tasks,
)
from claimlab.exchange.importing.plan import ImportPlan, shown
from claimlab.exchange.importing.profile import Profile, Profiled, openings
from claimlab.exchange.importing.propose import ASIDE, NONE, Pick
from claimlab.exchange.importing.texts import FOLDER
from claimlab.exchange.vocabulary import (
    ALL_FALSE,
    ALL_TRUE,
    ANNOTATORS,
    NAMES,
    NO,
    UNCLEAR,
    YES,
    fold_name,
    named,
)
from claimlab.files.excel import SHEET
from claimlab.files.raw import RawTable, spell_out

ARTICLE = 600  # characters of the median text at which texts count as articles
MOST_CODES = 12
_PLACES = {
    FOLDER: "the folder each file lies in",
    FILE: "the name of each file",
    SHEET: "the sheet each row is in",
}
_LETTERS_ONLY = re.compile(r"[\W\d_]+")
_LETTERS: list[dict[str, str]] = packaged.toml("claimlab.exchange", "vocabulary.toml")["letters"]


def decide(
    gathered: Gathered,
    seen: Profiled,
    picks: Mapping[str, Pick],
    named: Mapping[str, str],
    kind: str | None = None,
    *,
    ask: bool = True,
) -> ImportPlan:
    """What each column of the files becomes. `named` holds the columns that the user named, by
    role; `ask` raises the questions that are left.
    """
    used = {pick.column for role, pick in picks.items() if role not in ASIDE} | gathered.inner
    meta = [column for column in gathered.frame.columns if column not in used]
    plan = ImportPlan(gathered, seen.verdicts, dict(picks), meta, label_given="label" in named)
    _take_places(plan, seen, named)
    _take_explained(plan, seen)
    _take_openings(plan)
    _read_codes(plan)
    if ask:
        refuse_doubts(plan, seen)
    plan.kind = kind or _kind(plan)
    return plan


def _take_places(plan: ImportPlan, seen: Profiled, named: Mapping[str, str]) -> None:
    """Take a label or a split that no column gives from the names of files and folders."""
    frame = plan.gathered.frame
    has_split = any(one.n and one.folded in NAMES["split"] for one in seen.columns.values())
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


def _take_explained(plan: ImportPlan, seen: Profiled) -> None:
    """Let the one column be the label of which a README says what verdicts its codes are."""
    if plan.label_given or "label" in plan.picks:
        return
    free = _free(plan, seen)
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


def _read_codes(plan: ImportPlan) -> None:
    """Take the meaning of codes from the name of their column, or from the words that they go with
    elsewhere, unless the user gave a map.
    """
    pick = _spelled_out(plan)
    if pick is None or pick.column is None or plan.verdicts.name != GENERAL:
        return
    values = plan.gathered.text(pick.column).drop_nulls().unique().to_list()
    codes = _documented(pick.column, values, plan.verdicts) if len(values) <= MOST_CODES else None
    if codes is None and "label" not in plan.values and 2 <= len(values) <= MOST_CODES:
        prose = {plan.column("text"), pick.column}
        others = [column for column in plan.gathered.frame.columns if column not in prose]
        codes = codes_by_words(plan.gathered.plain(), pick.column, others, plan.verdicts)
    if codes is None and len(values) <= MOST_CODES:
        codes = labels_of_task(pick.column, values, plan.verdicts)
    if codes is not None:
        plan.verdicts = codes
        plan.picks["label"] = replace(pick, why=codes.name.removeprefix(f"{pick.column}: "))


def _documented(column: str, values: Collection[str], verdicts: LabelMap) -> LabelMap | None:
    """The map of the codes of a label column, where its name or the codes themselves say what they
    mean.
    """
    codes = {value: fold(value) for value in values if not is_blank(value)}
    known = set(codes.values())
    table = _by_name(fold_name(column), known) or _letters(known)
    if not codes or table is None:
        words = codes_in_words(column, column, list(codes), verdicts) or {}
        meaning = {code: v for code, word in words.items() if (v := verdicts.verdict(word))}
        return _map_of(column, meaning, verdicts) if len(meaning) == len(codes) > 0 else None
    return _map_of(column, {value: table[code] for value, code in codes.items()}, verdicts)


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
    known = plan.gathered.text(column).drop_nulls().unique().sort().to_list()
    codes = [value for value in known if not is_blank(value)]
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
    for table in _LETTERS:
        if codes <= set(table) and {"true", "false"} <= {table[code] for code in codes}:
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
    return "article" if isinstance(median, int | float) and median >= ARTICLE else "claim"


ALIKE = 0.8  # of a file's columns that the main file must have too, for both to be read together
# share of a file's texts in another file at which the two look like editions of one dataset
SAME = 0.5
DISTINCT = 0.7  # of the ids of records that have no text, which must differ
LINES = "one text per line"
MARKS = ("__label__", "::", "|||", "\u0001")
LAYOUTS = 3  # that a message names
LEAST = 5  # a file with fewer texts is not compared
MAPPED = 0.9  # of the labels that the map knows, at which they are labels beyond doubt
CHOICES, EXAMPLES, LONGEST = 6, 3, 40  # columns in a question; values of each; characters of one


def refuse_doubts(plan: ImportPlan, seen: Profiled) -> None:
    key = plan.column("text") or plan.column("tweet_id") or plan.column("url")
    if key is None:
        _ask_text(plan, seen)
    _refuse_marked_lines(plan, key)
    if len(plan.gathered.tables) > 1:
        _refuse_mixture(plan, key)
        if not plan.gathered.chosen:
            _refuse_editions(plan, key)
    _refuse_links(plan, key)
    _refuse_folders(plan)
    for role in ("text", "label"):
        _ask_column(plan, seen, role)
    _refuse_unclear_label(plan, seen.under(plan.verdicts))
    _refuse_unlabelled(plan, seen)


def _ask_text(plan: ImportPlan, seen: Profiled) -> NoReturn:
    """The text is none that we know: the columns with the longest values are offered."""
    columns = plan.gathered.frame.columns
    likely = sorted(
        (name for name in seen.visible if seen.columns[name].n and not seen.columns[name].numbers),
        key=lambda name: -seen.columns[name].length,
    )
    problem = "No column looks like the text of a record"
    if not likely:
        shown_columns = ", ".join(map(repr, columns[:20]))
        raise UsageError(f"{problem} (there are {shown_columns}).", "Name it: `text`.")
    raise Question(
        f"{problem}.", [Choice("text", n, _examples(seen.columns[n])) for n in likely[:LAYOUTS]]
    )


def _refuse_links(plan: ImportPlan, key: str) -> None:
    """Without a text, ids that come back again and again belong to a table that links records
    (replies to posts).
    """
    role = "tweet_id" if "tweet_id" in plan.picks else "url"
    pick = plan.picks.get(role)
    ids = plan.gathered.frame[key].drop_nulls()
    if (
        plan.column("text") is None
        and pick is not None
        and not pick.given
        and ids.n_unique() < DISTINCT * ids.len()
    ):
        raise Question(
            f"There is no text, and each value of '{key}' occurs {ids.len() / ids.n_unique():.1f}"
            " times: it links records rather than holding them. Give another file, or name the"
            " column that identifies a record.",
            [Choice(role, key, "every row is a record")],
        )


def _refuse_marked_lines(plan: ImportPlan, key: str) -> None:
    """Lines in which some other mark separates the label from the text are not texts."""
    pick = plan.picks.get("text")
    if pick is None or pick.given or any(t.layout.format != LINES for t in plan.gathered.tables):
        return
    texts = plan.gathered.frame[key].drop_nulls()
    for mark in MARKS:
        if (
            texts.len() >= LEAST
            and texts.str.contains(mark, literal=True).sum() >= ALIKE * texts.len()
        ):
            raise Question(
                f"Nearly every line contains '{mark}', which seems to separate a label from the"
                f" text. Save it as a table, with tabs for '{mark}', or say that it is a text.",
                [Choice("text", key, "each line is a text")],
            )


def _refuse_folders(plan: ImportPlan) -> None:
    """Folders such as `fake` and `fake-titles` say the same label of files that are not of the same
    kind; and of a thread with its replies, one file is the record.
    """
    if plan.gathered.chosen or ("label" in plan.picks and plan.picks["label"].given):
        return
    if plan.column("label") is None and (one := one_in_each(stems(plan.gathered.tables))):
        raise Question(
            f"Each of many folders holds one file in '{one}', and others beside it.",
            [
                Choice("only", f"*/{one}/*", "these are the records"),
                Choice("only", "*", "every file holds records"),
            ],
        )
    if plan.column("label") != FOLDER:
        return
    leaves: dict[str | None, set[str]] = {}
    for place, word in plan.values["label"].items():
        leaves.setdefault(plan.verdicts.verdict(word) or word, set()).add(PurePosixPath(place).name)
    if alike := min((sorted(names) for names in leaves.values() if len(names) > 1), default=None):
        shortest = [f"{min(names, key=lambda n: (len(n), n))}/*" for names in leaves.values()]
        raise Question(
            f"The folders {', '.join(map(repr, alike[:6]))} seem to stand for one label, but hold"
            " different files.",
            [
                Choice("only", sorted(shortest), "the records are in these"),
                Choice("label", FOLDER, "all of them are records"),
            ],
        )


def _ask_column(plan: ImportPlan, seen: Profiled, role: str) -> None:
    """Which of several columns that look alike is the text, or the label, is asked rather than
    guessed.
    """
    pick = plan.picks.get(role)
    if pick is None or pick.given or pick.column not in seen.columns:
        return
    sure = {other.column for name, other in plan.picks.items() if name != role and other.sure}
    close = filterfalse(sure.__contains__, pick.close)
    rivals = [column for column in close if not seen.says_the_same(pick.column, column)]
    columns = [pick.column, *rivals][:CHOICES]
    choices = [Choice(role, column, _examples(seen.columns[column])) for column in columns]
    if rivals:
        unnamed = role == "label" and all(seen.columns[name].nameless for name in columns)
        raise Question(
            f"Several columns may be the {role}: {', '.join(map(repr, columns))}.",
            _named_places(plan) * unnamed + choices,
        )
    if role == "label" and not pick.sure and seen.columns[pick.column].verdicts < MAPPED:
        raise Question(
            f"The column '{pick.column}' may be the label, or there is none.",
            [*choices, Choice(role, NONE, "no labels")],
        )


def _examples(seen: Profile) -> str:
    values = list(dict.fromkeys(seen.values))[:EXAMPLES]
    return ", ".join(repr(shown(value, LONGEST)) for value in values)


def _refuse_unclear_label(plan: ImportPlan, seen: Profiled) -> None:
    """Whether "true" means a true claim is asked rather than guessed."""
    pick = plan.picks.get("label")
    if pick is None or pick.given or pick.column not in seen.columns or "label" in plan.values:
        return
    label = seen.columns[pick.column]
    if label.booleans and not _says_truth(label.name) and seen.verdicts.name == GENERAL:
        values = ", ".join(f"'{value}'" for value in sorted(set(label.values))[:4])
        raise Question(
            f"The column '{pick.column}' holds {values}, and its name does not say whether 'true'"
            " means a true claim.",
            [
                Choice("label", pick.column, "true means a true claim"),
                Choice("map", "True=false,False=true", "true means a false claim"),
                *offered_tasks(sorted(set(label.values))),
                Choice("label", NONE, "it says something else"),
            ],
        )


def _says_truth(name: str) -> bool:
    """Whether a column of this name holds verdicts, so that "true" means a true claim: is_rumor
    does not.
    """
    how = named(name).get("label")
    whole = how is not None and how.where in ("whole", "main")
    return whole and not UNCLEAR & {name, *name.split()}


def _refuse_unlabelled(plan: ImportPlan, seen: Profiled) -> None:
    """No labels, although a column may hold them: that is said before anything is written."""
    if plan.label_given or plan.picks.keys() & {"label", "veracity"}:
        return
    free = _free(plan, seen)
    places = _named_places(plan)
    likely = _may_be_labels(free, anything=not places)
    if likely or places:
        coded = [name for name, column in free.items() if column.may_be_codes]
        columns = sorted(likely, key=lambda name: -seen.columns[name].verdicts)
        columns = list(dict.fromkeys([*columns, *coded]))[:CHOICES]
        question = Question(
            "No column looks like the label, but some have few values."
            if likely
            else "There is no label, but the names of files or folders may be labels.",
            [Choice("label", name, _examples(seen.columns[name])) for name in columns]
            + places
            + [Choice("label", NONE, "no labels")],
        )
        question.exit_code = DataError.exit_code
        raise question


def _free(plan: ImportPlan, seen: Profiled) -> dict[str, Profile]:
    """The columns that may still be the label, where none was found; not who gave it."""
    columns = {name: seen.columns[name] for name in plan.meta_and_topic if name in seen.visible}
    return {
        name: column
        for name, column in columns.items()
        if ANNOTATORS.isdisjoint(column.folded.split())
    }


def _may_be_labels(free: Mapping[str, Profile], *, anything: bool) -> list[str]:
    """The columns that may be the label, or else any that has few values. Of several columns of yes
    and no all are one kind."""
    likely = [name for name, column in free.items() if column.may_be_label]
    few = [name for name, column in free.items() if column.may_be_anything]
    answers = [set(free[name].counts) for name in likely if free[name].answers == 1]
    alike = [name for name in few if set(free[name].counts) in answers]
    return list(dict.fromkeys([*likely, *alike])) or (few if anything else [])


def _named_places(plan: ImportPlan) -> list[Choice]:
    """The names of files as labels, or of the folders that they lie in; unless these are splits,
    languages, or numbers of parts.
    """
    frame = plan.gathered.frame
    if FILE not in frame.columns:
        return []
    names = label_words(usual_places(frame[FILE]), plan.verdicts)
    words = sorted({_LETTERS_ONLY.sub(" ", word).strip() for word in names.values()} - {""})
    ordinary = all(normalise(word) is not None or split_in(word) is not None for word in words)
    if not 2 <= len(words) <= MOST_CODES or len(set(names.values())) > MOST_CODES or ordinary:
        return []
    values = ", ".join(repr(shown(word, LONGEST)) for word in sorted(set(names.values())))
    return [Choice("label", FILE, values)]


def _refuse_mixture(plan: ImportPlan, key: str) -> None:
    layouts = by_columns(plan.gathered.tables)
    parent = key.split(".")[0] if key in plan.gathered.inner else key
    held = [parent in columns for columns, _ in layouts]
    lacking = any(held) and not all(held)  # a column that was joined is in none of the files
    if not lacking and (plan.gathered.chosen or _all_alike(plan, layouts)):
        return
    names = [table.name for table in plan.gathered.tables]
    why = f"Not every file has a column '{key}'" if lacking else "The files hold different tables"
    ranked = layouts_of(plan.gathered, plan.verdicts)
    offers = [offered(layout, names) for layout in ranked]
    choices = [one for one in offers if one is not None]
    more = f" The likeliest {LAYOUTS} are offered." if len(ranked) > LAYOUTS else ""
    raise Question(
        f"{why}: the {len(names)} files have {several(len(layouts), 'layout')}.{more}",
        [*_joined(ranked, plan.gathered.frame), *choices][:LAYOUTS],
    )


def offered(layout: Layout, names: Sequence[str]) -> Choice | None:
    """The choice that reads a layout, or its first file where its files have too little in
    common.
    """
    words = layout.describe()
    first = f"the first of {several(len(layout.names), 'file')}: {words}"
    return chosen(layout.names, names, words) or chosen(layout.names[:1], names, first)


def _joined(ranked: Sequence[Layout], frame: pl.DataFrame) -> list[Choice]:
    """The choice that joins a table of labels to the likeliest layout by a key of which both hold
    many values.
    """
    first, *others = ranked
    links = []
    for other in others if len(first.tables) == 1 and "label" not in first.picks else []:
        mine, theirs = rows_of(frame, first.tables), rows_of(frame, other.tables)
        keys = [
            column
            for column in first.columns
            if column in other.columns
            and fold_name(column).split()[-1:] == ["id"]
            and theirs[column].is_in(mine[column].implode()).sum() >= SAME * theirs.height
        ]
        if len(other.tables) == 1 and keys and "label" in other.picks:
            value = f"{other.tables[0].name}:{keys[0]}"
            links.append(Choice("join", value, f"the labels are in '{other.tables[0].name}'"))
    return links[:1] if len(ranked) == 2 else []


def _all_alike(plan: ImportPlan, layouts: Sequence[tuple[list[str], list[RawTable]]]) -> bool:
    """Whether every file has nearly the columns of the main one; one without labels (a test set)
    may have fewer.
    """
    label = plan.column("label")
    labelled = [
        (set(columns), tables) for columns, tables in layouts if label is None or label in columns
    ]
    main = max(labelled or [(set(c), t) for c, t in layouts], key=lambda layout: len(layout[0]))[0]
    kinds = {table.layout.format for table in plan.gathered.tables}
    if len(kinds) > 1 and len(layouts) > 1:
        return False
    return all(len(main & set(columns)) >= ALIKE * len(columns) for columns, _ in layouts)


def _refuse_editions(plan: ImportPlan, key: str) -> None:
    """Files that hold the same texts are editions of one another: read together, every record
    counts twice.
    """
    rows = plan.gathered.frame.lazy().select(FILE, key).drop_nulls().unique()
    shared = rows.with_columns(files=pl.col(FILE).len().over(key))
    files = shared.group_by(FILE).agg(texts=pl.len(), again=(pl.col("files") > 1).sum())
    doubtful = files.filter(pl.col("texts") >= LEAST, pl.col("again") >= SAME * pl.col("texts"))
    table = doubtful.sort(["again", FILE], descending=[True, False]).collect()
    if not table.height:
        return
    name, texts, again = table.row(0)
    texts_of = "texts" if plan.column("text") == key else f"values of '{key}'"
    held = rows.filter(pl.col(FILE) == name).select(key)
    other = (
        rows.filter(pl.col(FILE) != name)
        .join(held, on=key, how="semi")
        .group_by(FILE)
        .len()
        .sort(["len", FILE], descending=[True, False])
        .collect()
    )[FILE][0]
    raise Question(
        f"{again:,} of the {texts:,} {texts_of} of '{name}' are in other files too, such as"
        f" '{other}': they look like editions of the same data.",
        [*_each_once(plan, key, name, other), Choice("only", "*", "all files")],
    )


def _each_once(plan: ImportPlan, key: str, name: str, other: str) -> list[Choice]:
    """The choices that read each text once: files with labels are preferred, then those that hold
    more texts.
    """
    tables, label = plan.gathered.tables, plan.column("label")
    names = [table.name for table in tables]
    labelled = {table.name for table in tables if label in table.frame.columns}
    values = plan.gathered.frame.select(FILE, key).drop_nulls().unique()
    texts = {table.name: set(values.filter(pl.col(FILE) == stem(table))[key]) for table in tables}
    seen: set[str] = set()
    first: list[str] = []
    for file in sorted(texts, key=lambda file: (file not in labelled, -len(texts[file]), file)):
        if len(texts[file] & seen) < SAME * len(texts[file]):
            first.append(file)
            seen |= texts[file]
    if labelled:  # the others are ids that were collected, of which some have a label
        first = [file for file in first if file in labelled]
    without = [
        [table.name for table in tables if stem(table) != left_out] for left_out in (name, other)
    ]
    parts = [sorted(part) for part in [first, *without, first[:1]] if part]
    choices = [chosen(part, names, f"each text once: {some_of(part)}") for part in parts]
    once = {str(choice.value): choice for choice in choices if choice is not None}
    return list(once.values())[:2]
