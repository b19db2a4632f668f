"""Questions that several files raise and that only the user can answer: which of them are the
records?

An error names the option that resolves it. With `only`, the user has chosen: then files are read
together as long as each of them has the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import polars as pl

from claimlab.core.errors import Choice, DataError, Question, UsageError
from claimlab.core.labels import GENERAL
from claimlab.exchange.importing.choose import only
from claimlab.exchange.importing.layouts import FILE, Layout, by_columns, layouts_of, stem
from claimlab.exchange.importing.plan import Plan, shown
from claimlab.exchange.importing.profile import Profile, Profiled
from claimlab.exchange.importing.propose import NONE
from claimlab.exchange.importing.texts import FOLDER
from claimlab.exchange.vocabulary import UNCLEAR, fold_name
from claimlab.files.raw import RawTable

ALIKE = 0.8  # of a file's columns that the main file must have too, for both to be read together
# share of a file's texts in another file at which the two look like editions of one dataset
SAME = 0.5
DISTINCT = 0.7  # of the ids of records that have no text, which must differ
LINES = "one text per line"
MARKS = ("__label__", "::", "|||", "\u0001")
LAYOUTS = 3  # that a message names
ROOM = 340  # characters for them
LEAST = 5  # a file with fewer texts is not compared
MAPPED = 0.9  # of the labels that the map knows, at which they are labels beyond doubt
CHOICES, EXAMPLES, LONGEST = 6, 3, 40  # columns in a question; values of each; characters of one


def refuse_doubts(plan: Plan, seen: Profiled) -> None:
    key = plan.column("text") or plan.column("tweet_id") or plan.column("url")
    if key is None:
        columns = ", ".join(map(repr, plan.gathered.frame.columns[:20]))
        raise UsageError(
            f"No column looks like the text of a record (there are {columns}).", "Name it: `text`."
        )
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


def _refuse_links(plan: Plan, key: str) -> None:
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
        raise DataError(
            f"There is no text, and each value of '{key}' occurs {ids.len() / ids.n_unique():.1f}"
            " times: it links records rather than holding them.",
            f"Name the column that identifies a record, such as `{role}='{key}'`, or give another"
            " file.",
        )


def _refuse_marked_lines(plan: Plan, key: str) -> None:
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
            raise DataError(
                f"Nearly every line contains '{mark}', which seems to separate a label from the"
                " text.",
                f"Save it as a table, with tabs for '{mark}'; or pass `text='{key}'` to take each"
                " line as a text.",
            )


def _refuse_folders(plan: Plan) -> None:
    """Folders such as `fake` and `fake-titles` say the same label of files that are not of the same
    kind.
    """
    if plan.column("label") != FOLDER or plan.gathered.chosen or plan.picks["label"].given:
        return
    leaves: dict[str | None, set[str]] = {}
    for place, word in plan.values["label"].items():
        leaves.setdefault(plan.verdicts.verdict(word) or word, set()).add(PurePosixPath(place).name)
    if alike := min((sorted(names) for names in leaves.values() if len(names) > 1), default=None):
        shortest = [f"{min(names, key=lambda n: (len(n), n))}/*" for names in leaves.values()]
        raise DataError(
            f"The folders {', '.join(map(repr, alike[:6]))} seem to stand for one label, but hold"
            " different files.",
            f"Say which hold the records, such as `only={sorted(shortest)!r}`.",
        )


def _ask_column(plan: Plan, seen: Profiled, role: str) -> None:
    """Which of several columns that look alike is the text, or the label, is asked rather than
    guessed.
    """
    pick = plan.picks.get(role)
    if pick is None or pick.given or pick.column not in seen.columns:
        return
    elsewhere = {other.column for name, other in plan.picks.items() if name != role and other.sure}
    rivals = [
        column
        for column in pick.close
        if column not in elsewhere and not seen.says_the_same(pick.column, column)
    ]
    columns = [pick.column, *rivals][:CHOICES]
    choices = [Choice(role, column, _examples(seen.columns[column])) for column in columns]
    if rivals:
        raise Question(
            f"Several columns may be the {role}: {', '.join(map(repr, columns))}.", choices
        )
    if role == "label" and not pick.sure and seen.columns[pick.column].verdicts < MAPPED:
        raise Question(
            f"The column '{pick.column}' may be the label, or there is none.",
            [*choices, Choice(role, NONE, "no labels")],
        )


def _examples(seen: Profile) -> str:
    values = list(dict.fromkeys(seen.values))[:EXAMPLES]
    return ", ".join(repr(shown(value, LONGEST)) for value in values)


def _refuse_unclear_label(plan: Plan, seen: Profiled) -> None:
    """Whether "true" means a true claim is asked rather than guessed."""
    pick = plan.picks.get("label")
    if pick is None or pick.given or pick.column not in seen.columns:
        return
    label = seen.columns[pick.column]
    unclear = label.booleans and (label.nameless or label.name in UNCLEAR)
    if unclear and seen.verdicts.name == GENERAL:
        values = ", ".join(f"'{value}'" for value in sorted(set(label.values))[:4])
        raise Question(
            f"The column '{pick.column}' holds {values}, and its name does not say whether 'true'"
            " means a true claim.",
            [
                Choice("label", pick.column, "true means a true claim"),
                Choice("map", "True=false,False=true", "true means a false claim"),
            ],
        )


def _refuse_unlabelled(plan: Plan, seen: Profiled) -> None:
    """No labels, although a column may hold them: that is said before anything is written."""
    if plan.label_given or plan.picks.keys() & {"label", "veracity"}:
        return
    visible = set(seen.visible)
    likely = [
        name for name in plan.meta_and_topic if name in visible and seen.columns[name].may_be_label
    ]
    if likely:
        options = " or ".join(
            f"`label='{name}'` ({_examples(seen.columns[name])})" for name in likely[:CHOICES]
        )
        raise DataError(
            "No column looks like the label, but some have few values.",
            f"Name it: {options}. Or import without labels: `label='none'`.",
        )


def _refuse_mixture(plan: Plan, key: str) -> None:
    layouts = by_columns(plan.gathered.tables)
    parent = key.split(".")[0] if key in plan.gathered.inner else key
    lacking = any(parent not in columns for columns, _ in layouts)
    if not lacking and (plan.gathered.chosen or _all_alike(plan, layouts)):
        return
    names = [table.name for table in plan.gathered.tables]
    why = f"Not every file has a column '{key}'" if lacking else "The files hold different tables"
    raise DataError(
        f"{why}: the {len(names)} files have {len(layouts)} layouts.",
        _one_layout(layouts_of(plan.gathered, plan.verdicts), names),
    )


def _one_layout(ranked: Sequence[Layout], names: Sequence[str]) -> str:
    """The options that read the files of one layout, and the one that joins another table to it."""
    options = [(offered(layout, names), layout) for layout in ranked]
    shown = [f"{option} ({layout.describe()})" for option, layout in options if option][:LAYOUTS]
    while len("; ".join(shown)) > ROOM and len(shown) > 1:
        shown.pop()
    more = f"; and {len(ranked) - len(shown)} more" if len(ranked) > len(shown) else ""
    apart = (
        f"mport the files of one layout at a time, the likeliest first: {'; '.join(shown)}{more}."
    )
    link, labels = _linked(ranked)
    if link is None or len(link) + len(apart) > ROOM:
        return f"I{apart}"
    if labels:
        return f"The labels are in a table of their own; join it by its key: {link}. Or i{apart}"
    return f"I{apart} Or join a table to it by a key: {link}."


def offered(layout: Layout, names: Sequence[str]) -> str | None:
    """The option that reads a layout, or its first file where its files have too little in
    common.
    """
    return only(layout.names, names) or only(layout.names[:1], names)


def _linked(ranked: Sequence[Layout]) -> tuple[str | None, bool]:
    """The option that joins another table to the likeliest one by its key, and whether it brings
    the labels.
    """
    first, *others = ranked
    links = []
    for other in others if len(first.tables) == 1 else []:
        shared = [column for column in first.columns if column in other.columns]
        keys = [column for column in shared if fold_name(column).split()[-1:] == ["id"]]
        if len(other.tables) == 1 and keys:
            labels = "label" in other.picks and "label" not in first.picks and len(ranked) == 2
            links.append((f"`join='{other.tables[0].name}:{keys[0]}'`", labels))
    return max(links, key=lambda link: link[1], default=(None, False))


def _all_alike(plan: Plan, layouts: Sequence[tuple[list[str], list[RawTable]]]) -> bool:
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


def _refuse_editions(plan: Plan, key: str) -> None:
    """Files that hold the same texts are editions of one another: read together, every record
    counts twice.
    """
    rows = plan.gathered.frame.lazy().select(FILE, key).drop_nulls().unique()
    shared = rows.with_columns(pl.col(FILE).len().over(key).alias("files"))
    files = shared.group_by(FILE).agg(
        pl.len().alias("texts"), (pl.col("files") > 1).sum().alias("again")
    )
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
    raise DataError(
        f"{again:,} of the {texts:,} {texts_of} of '{name}' are in other files too, such as"
        f" '{other}': they look like editions of the same data.",
        f"{_each_once(plan, key, name, other)}; or read all of them: `only='*'`.",
    )


def _each_once(plan: Plan, key: str, name: str, other: str) -> str:
    """The options that read each text once: files with labels are preferred, then those that hold
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
    options = [only(sorted(choice), names) for choice in [first, *without] if choice]
    shown = list(dict.fromkeys(option for option in options if option))[:2]
    return f"Read each of them once: {' or '.join(shown or [str(only([first[0]], names))])}"
