"""What an import asks before anything is written: a choice that is close, files that hold different
tables or the same texts, a label that is unclear. Every question offers the options that answer it.
With `only`, the user has chosen: then files are read together as long as each of them has the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, filterfalse
from pathlib import PurePosixPath
from typing import NoReturn

import polars as pl

from claimlab.core.errors import Choice, DataError, Question, UsageError
from claimlab.core.labels import GENERAL, is_blank
from claimlab.core.languages import normalise
from claimlab.core.words import several
from claimlab.exchange.importing.choose import chosen, some_of
from claimlab.exchange.importing.ladder import SHARES
from claimlab.exchange.importing.layouts import (
    FILE,
    TableLayout,
    by_columns,
    label_words,
    layouts_of,
    one_in_each,
    rows_of,
    split_in,
    stem,
    stems,
    usual_places,
    without_fold,
)
from claimlab.exchange.importing.meanings import flag_maps
from claimlab.exchange.importing.plan import MOST_VALUES_SHOWN, ImportPlan, examples, shown
from claimlab.exchange.importing.profile import ColumnProfile, Profiled
from claimlab.exchange.importing.propose import NO_COLUMN
from claimlab.exchange.importing.readings import is_flag, offers
from claimlab.exchange.importing.texts import FOLDER
from claimlab.exchange.vocabulary import ANNOTATORS, YES, fold_name, named
from claimlab.files.raw import RawTable

MOST_CODES = 12
_LETTERS_ONLY = re.compile(r"[\W\d_]+")
# of a file's columns that the main file must have too, for both to be read together
COLUMNS_SHARED = SHARES["alike"]
# share of a file's texts in another file at which the two look like editions of one dataset
TEXTS_SHARED = SHARES["edition"]
DISTINCT_IDS_SHARE = 0.7  # of the ids of records that have no text, which must differ
LINES = "one text per line"
SEPARATORS = ("__label__", "::", "|||", "\u0001")
LAYOUTS_NAMED = 3  # that a message names
# rows with an id and a label, with which files are compared; files; rows that must be the same
LEAST_LABELLED, FILES_COMPARED, SAME_ROWS = 20, 8, SHARES["same_rows"]
LEAST_TEXTS = 5  # a file with fewer texts is not compared
MAPPED_SHARE = SHARES["mapped"]  # of the labels that the map knows: beyond doubt
COLUMNS_OFFERED, VALUES_SHOWN, VALUE_CHARACTERS = (
    6,
    3,
    40,
)  # columns in a question; values of each; characters of one


def refuse_doubts(plan: ImportPlan, seen: Profiled) -> None:
    """Raise the first question that the files leave open."""
    key = plan.column("text") or plan.column("tweet_id") or plan.column("url")
    if key is None:
        _ask_text(plan, seen)
    _refuse_marked_lines(plan, key)
    if len(plan.gathered.tables) > 1 and FILE in plan.gathered.frame.columns:
        _refuse_mixture(plan, key)
        if not plan.gathered.chosen:
            _refuse_editions(plan, key)
    _refuse_links(plan, key)
    _refuse_folders(plan)
    for role in ("text", "label"):
        _ask_column(plan, seen, role)
    _refuse_unclear_label(plan)
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
        f"{problem}.",
        [Choice("text", n, examples_of(seen.columns[n])) for n in likely[:LAYOUTS_NAMED]],
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
        and ids.n_unique() < DISTINCT_IDS_SHARE * ids.len()
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
    for mark in SEPARATORS:
        if (
            texts.len() >= LEAST_TEXTS
            and texts.str.contains(mark, literal=True).sum() >= COLUMNS_SHARED * texts.len()
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
    if plan.column("label") is None and (file := one_in_each(stems(plan.gathered.tables))):
        raise Question(
            f"Each of many folders holds one file in '{file}', and others beside it.",
            [
                Choice("only", f"*/{file}/*", "these are the records"),
                Choice("only", "*", "every file holds records"),
            ],
        )
    if plan.column("label") != FOLDER or "label" not in plan.values:
        return
    words: dict[str, str] = {}
    counts: dict[str, int] = {}
    sizes = dict(plan.gathered.frame[FOLDER].value_counts().iter_rows())
    for folder, word in plan.values["label"].items():
        place = without_fold(folder)
        words[place] = plan.verdicts.verdict(word) or word
        counts[place] = counts.get(place, 0) + sizes.get(folder, 0)
    names: dict[str, set[str]] = {}
    for place, word in words.items():
        names.setdefault(word, set()).add(PurePosixPath(place).name)
    if alike := min((sorted(each) for each in names.values() if len(each) > 1), default=None):
        raise Question(
            f"The folders {', '.join(map(repr, alike[:6]))} seem to stand for one label, but hold"
            " different files.",
            [
                *_corpora(words, counts),
                Choice("label", FOLDER, f"all of them are records: {_counted(words, counts)}"),
            ],
        )


def _corpora(words: Mapping[str, str], counts: Mapping[str, int]) -> list[Choice]:
    """The choices of folders that hold one kind of file: of each place and label the one with the
    shortest name (`fake` beside `fake_titles`), all places together first and then each by itself.
    No label is lost, and the counts are those that will be read.
    """
    corpora: dict[str, dict[str, str]] = {}
    for place, word in sorted(words.items(), key=lambda pair: (len(pair[0]), pair[0])):
        parent = str(PurePosixPath(place).parent)
        corpora.setdefault(parent, {}).setdefault(word, place)
    each = [set(corpus.values()) for corpus in corpora.values()]
    every = set().union(*each)
    parts = [every, *each] if len(each) > 1 else each
    rest = [part for part in parts if part != set(words) and len({*map(words.get, part)}) > 1]
    return [
        Choice(
            "only",
            sorted(f"{place}/*" for place in part),
            _counted({p: words[p] for p in part}, counts),
        )
        for part in rest[:LAYOUTS_NAMED]
        if len(part) <= MOST_CODES
    ]


def _counted(words: Mapping[str, str], counts: Mapping[str, int]) -> str:
    """How many records of each label these folders hold."""
    sums: dict[str, int] = {}
    for place, word in words.items():
        sums[word] = sums.get(word, 0) + counts.get(place, 0)
    return ", ".join(f"{word} {n:,}" for word, n in sorted(sums.items()))


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
    columns = [pick.column, *rivals]
    if role == "text":  # of close ones, that with the usual name is the likeliest: claimReviewed
        columns.sort(key=lambda column: -_how_usual(seen.columns[column].name, role))
    columns = columns[:COLUMNS_OFFERED]
    choices = [Choice(role, column, examples_of(seen.columns[column])) for column in columns]
    if rivals:
        unnamed = role == "label" and all(seen.columns[name].nameless for name in columns)
        raise Question(
            f"Several columns may be the {role}: {', '.join(map(repr, columns))}.",
            _named_places(plan) * unnamed + choices,
        )
    if role == "label" and not pick.sure and seen.columns[pick.column].verdicts < MAPPED_SHARE:
        raise Question(
            f"The column '{pick.column}' may be the label, or there is none.",
            [*choices, Choice(role, NO_COLUMN, "no labels")],
        )


def _how_usual(name: str, role: str) -> float:
    """How usual a name is for a role, where it is one by its whole or its main word."""
    how = named(name).get(role)
    return how.grade if how is not None and how.where in ("whole", "main") else 0.0


def examples_of(seen: ColumnProfile) -> str:
    values = list(dict.fromkeys(seen.values))[:VALUES_SHOWN]
    return ", ".join(repr(shown(value, VALUE_CHARACTERS)) for value in values)


def _refuse_unclear_label(plan: ImportPlan) -> None:
    """What a flag means is asked rather than guessed, and so is a label that may be read in two
    ways."""
    label, column = plan.written("label"), plan.column("label")
    if label is None or column is None or not (plan.open_flag or plan.rivals[1:]):
        return
    texts = plan.written("text")
    values = [value for value in label.drop_nulls().unique().sort() if not is_blank(value)]
    if plan.open_flag and not {value.casefold() for value in values} & {"true", "false"}:
        return  # codes and answers are no words that the map knows: the records are not made
    shown_values = "; ".join(examples(label, texts))
    if plan.open_flag:
        listed = ", ".join(f"'{value}'" for value in values[:MOST_VALUES_SHOWN])
        why = f"holds {listed}, and does not say whether {_yes_of(values)} means a true claim"
        maps = flag_maps(column, values)
    else:
        about = sorted({one.task or "truth" for one in plan.rivals})
        why = f"may be about {' or about '.join(about)}"
        maps = [Choice("map", GENERAL, "its values are verdicts: true, false and so on")]
    tasks = {**plan.topics, **{one.task: one.score for one in plan.rivals if one.task}}
    question = Question(
        f"The column '{column}' {why}: {shown_values}.",
        [
            *offers(column, values, maps, tasks),
            Choice("label", NO_COLUMN, "import without labels"),
        ],
    )
    question.about_meaning = True
    question.column = column
    raise question


def _yes_of(values: Sequence[str]) -> str:
    return next((f"'{value}'" for value in values if value.strip().casefold() in YES), "one")


def _refuse_unlabelled(plan: ImportPlan, seen: Profiled) -> None:
    """No labels, although a column may hold them: that is said before anything is written."""
    if plan.label_given or plan.picks.keys() & {"label", "veracity"}:
        return
    free = free_columns(plan, seen)
    places = _named_places(plan)
    likely = _may_be_labels(free, anything=not places)
    if likely or places:
        coded = [name for name, column in free.items() if column.may_be_codes]
        columns = sorted(likely, key=lambda name: -seen.columns[name].verdicts)
        columns = list(dict.fromkeys([*columns, *coded]))[:COLUMNS_OFFERED]
        question = Question(
            "No column looks like the label, but some have few values."
            if likely
            else "There is no label, but the names of files or folders may be labels.",
            [Choice("label", name, _words_of(plan, seen.columns[name], name)) for name in columns]
            + places
            + [Choice("label", NO_COLUMN, "no labels")],
        )
        question.exit_code = DataError.exit_code
        raise question


def _words_of(plan: ImportPlan, seen: ColumnProfile, name: str) -> str:
    """The values of a column that may be the label; of a flag with texts that have each."""
    if not is_flag(seen.counts) or plan.column("text") is None:
        return examples_of(seen)
    frame = plan.gathered.frame
    return "; ".join(examples(plan.gathered.text(name), frame[str(plan.column("text"))]))


def free_columns(plan: ImportPlan, seen: Profiled) -> dict[str, ColumnProfile]:
    """The columns that may still be the label, where none was found; not who gave it."""
    columns = {name: seen.columns[name] for name in plan.meta_and_topic if name in seen.visible}
    return {
        name: column
        for name, column in columns.items()
        if ANNOTATORS.isdisjoint(column.folded.split())
    }


def _may_be_labels(free: Mapping[str, ColumnProfile], *, anything: bool) -> list[str]:
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
    values = ", ".join(repr(shown(word, VALUE_CHARACTERS)) for word in sorted(set(names.values())))
    return [Choice("label", FILE, values)]


def _refuse_mixture(plan: ImportPlan, key: str) -> None:
    layouts = by_columns(plan.gathered.tables)
    parent = key.split(".")[0] if key in plan.gathered.inner else key
    with_key = [parent in columns for columns, _ in layouts]
    lacking = any(with_key) and not all(
        with_key
    )  # a column that was joined is in none of the files
    if not lacking and (plan.gathered.chosen or _all_alike(plan, layouts)):
        return
    names = [table.name for table in plan.gathered.tables]
    why = f"Not every file has a column '{key}'" if lacking else "The files hold different tables"
    ranked = layouts_of(plan.gathered, plan.verdicts)
    offers = [offered(layout, names) for layout in ranked]
    choices = [offer for offer in offers if offer is not None]
    more = f" The likeliest {LAYOUTS_NAMED} are offered." if len(ranked) > LAYOUTS_NAMED else ""
    raise Question(
        f"{why}: the {len(names)} files have {several(len(layouts), 'layout')}.{more}",
        [*_joined(ranked, plan.gathered.frame), *choices][:LAYOUTS_NAMED],
    )


def offered(layout: TableLayout, names: Sequence[str]) -> Choice | None:
    """The choice that reads a layout, or its first file where its files have too little in
    common.
    """
    words = layout.describe()
    first = f"the first of {several(len(layout.names), 'file')}: {words}"
    return chosen(layout.names, names, words) or chosen(layout.names[:1], names, first)


def _joined(ranked: Sequence[TableLayout], frame: pl.DataFrame) -> list[Choice]:
    """The choice that joins a table of labels to the likeliest layout by a key of which both hold
    many values.
    """
    first, *others = ranked
    links = []
    for other in others if len(first.tables) == 1 and "label" not in first.picks else []:
        own, theirs = rows_of(frame, first.tables), rows_of(frame, other.tables)
        keys = [
            column
            for column in first.columns
            if column in other.columns
            and fold_name(column).split()[-1:] == ["id"]
            and theirs[column].is_in(own[column].implode()).sum() >= TEXTS_SHARED * theirs.height
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
    return all(len(main & set(columns)) >= COLUMNS_SHARED * len(columns) for columns, _ in layouts)


def _refuse_editions(plan: ImportPlan, key: str) -> None:
    """Files that hold the same texts are editions of one another: read together, every record
    counts twice.
    """
    rows = plan.gathered.frame.lazy().select(FILE, key).drop_nulls().unique()
    shared = rows.with_columns(files=pl.col(FILE).len().over(key))
    files = shared.group_by(FILE).agg(texts=pl.len(), again=(pl.col("files") > 1).sum())
    doubtful = files.filter(
        pl.col("texts") >= LEAST_TEXTS, pl.col("again") >= TEXTS_SHARED * pl.col("texts")
    )
    table = doubtful.sort(["again", FILE], descending=[True, False]).collect()
    if not table.height:
        _refuse_rewritten(plan)
        return
    name, texts, again = table.row(0)
    texts_of = "texts" if plan.column("text") == key else f"values of '{key}'"
    texts_held = rows.filter(pl.col(FILE) == name).select(key)
    other = (
        rows.filter(pl.col(FILE) != name)
        .join(texts_held, on=key, how="semi")
        .group_by(FILE)
        .len()
        .sort(["len", FILE], descending=[True, False])
        .collect()
    )[FILE][0]
    raise Question(
        f"{again:,} of the {texts:,} {texts_of} of '{name}' are in other files too, such as"
        f" '{other}': they look like editions of the same data.",
        [
            *_annotators(plan, key),
            *_each_once(plan, key, name, other),
            Choice("only", "*", "all files"),
        ],
    )


def _annotators(plan: ImportPlan, key: str) -> list[Choice]:
    """The choice that reads files of the same texts as those of annotators, where labels differ."""
    frame, label = plan.gathered.frame, plan.column("label")
    if label not in frame.columns or "label" in plan.values:
        return []
    rows = frame.select(FILE, key, said=pl.col(str(label))).drop_nulls().unique()
    items = rows.group_by(key).agg(files=pl.col(FILE).n_unique(), answers=pl.col("said").n_unique())
    again = items.filter(pl.col("files") > 1)
    differ = again.filter(pl.col("answers") > 1).height
    few = rows["said"].n_unique() <= MOST_CODES
    divided = few and again.height >= LEAST_TEXTS and 0 < differ < again.height
    words = "each file holds what one annotator said of the same records"
    return [Choice("rater", FILE, words)] if divided else []


def _refuse_rewritten(plan: ImportPlan) -> None:
    """Files with the same ids and labels are editions, too, where their texts differ: one of them
    was lemmatised, say."""
    column, label = plan.column("id") or plan.column("tweet_id"), plan.column("label")
    frame = plan.gathered.frame
    if column is None or label not in frame.columns or "label" in plan.values:
        return
    rows = frame.select(FILE, key=pl.col(column), said=pl.col(str(label))).drop_nulls().unique()
    parts = [part for part in rows.partition_by(FILE) if part.height >= LEAST_LABELLED]
    for one, other in combinations(parts[:FILES_COMPARED], 2):
        longest = max(one.height, other.height)
        both = one.join(other, on="key")
        same = both.filter(pl.col("said") == pl.col("said_right"))
        if min(same.height, both.height) >= SAME_ROWS * longest and same["said"].n_unique() > 1:
            first, second = one[FILE][0], other[FILE][0]
            raise Question(
                f"'{first}' and '{second}' hold the same {same.height:,} ids with the same labels,"
                " but other texts: they look like editions of the same data.",
                [*_each_once(plan, column, first, second), Choice("only", "*", "all files")],
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
        if len(texts[file] & seen) < TEXTS_SHARED * len(texts[file]):
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
