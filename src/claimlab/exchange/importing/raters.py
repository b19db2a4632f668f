"""Several annotators of one item: a row for each of them, or a column for each, becomes one record
with the majority as its label, and a table of what each of them said.

A file with a row per annotator is known by a column that names them, or by one that differs in all
rows of an item. Where items come back equally often and nothing tells the rows apart, that may have
other reasons: it is said, with the option that reads them as annotators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

import polars as pl

from claimlab.core.errors import Choice, Question, UnknownName
from claimlab.core.labels import LabelMap
from claimlab.core.record import meta_column
from claimlab.core.words import several
from claimlab.exchange.importing.ladder import EVIDENCE, SHARES, close
from claimlab.exchange.importing.layouts import PLACES, Gathered
from claimlab.exchange.importing.meanings import verdict_word
from claimlab.exchange.importing.profile import ANSWERS, Profiled, profile
from claimlab.exchange.importing.propose import Pick, column_of, propose
from claimlab.exchange.importing.ratings import Ratings
from claimlab.exchange.vocabulary import ANNOTATORS, MARKS, PEOPLE, YES, fold_name

# instead of a column: no annotators; each row of an item is one
NO_RATERS, ROWS_ARE_RATERS = "none", "rows"
_END = re.compile(r" ?(?:\d{1,2}|[a-h])$")
# user1_stance, annotator 2 label: the number comes after the person
_NUMBERED_PERSON = re.compile(
    rf"\b({'|'.join(sorted(map(re.escape, ANNOTATORS | PEOPLE)))}) ?(?:\d{{1,2}}|[a-h])\b(?=.* )"
)
# of the rows, that are different items: with more, hardly any was rated twice
DISTINCT_ITEMS_SHARE = SHARES["rated_items"]
USUAL_COUNT_SHARE = SHARES["usual_count"]  # of the items, that have the commonest number of rows
LEAST_ITEMS = 10
DIVIDED = SHARES["divided"]  # of the items that come back, whose labels differ
ONCE_SHARE = SHARES["once"]  # of the rows of an annotator, that are of different items
RATERS_OFFERED = 4  # columns
LABEL_COLUMN = "label"  # the column that is made of several
MOST_RATERS, MOST_VALUES = 200, 12
ITEM, VOTE, WHO = "item of a rating", "vote of a rating", "rater of a rating"


class RaterColumn(NamedTuple):
    """A column that may name the annotator of each row."""

    column: str
    score: float
    why: str


def gather_classes(gathered: Gathered, verdicts: LabelMap, named: Mapping[str, str]) -> Gathered:
    """One label instead of a column of yes and no for each, where these are named after labels and
    no row has two of them.
    """
    words = {column: verdict_word(column, verdicts) for column in gathered.frame.columns}
    classes = [name for name, word in words.items() if word and _answers(gathered.text(name))]
    known = {verdicts.verdict(words[column]) for column in classes}
    if LABEL_COLUMN in {*named, *words} or not {"true", "false"} <= known:
        return gathered
    plain = gathered.plain()
    yes = [pl.col(column).str.to_lowercase().is_in(YES | MARKS) for column in classes]
    count = plain.select(pl.sum_horizontal(yes)).to_series()
    if count.max() != 1 or count.sum() < USUAL_COUNT_SHARE * count.len():
        return gathered
    shortest = [words[name] for name in classes]
    labels = shortest if len(set(shortest)) == len(classes) else classes
    chosen = [pl.when(one).then(pl.lit(name)) for one, name in zip(yes, labels, strict=True)]
    frame = plain.with_columns(pl.coalesce(chosen).alias(LABEL_COLUMN)).drop(classes)
    listed = ", ".join(map(repr, classes))
    gathered.tables[0].notes.append(f"The columns {listed} are one label: no row has two of them.")
    return replace(gathered, frame=frame, literal=frozenset(), classes=True)


def _answers(values: pl.Series) -> bool:
    known = values.drop_nulls().unique()
    return 0 < known.len() <= len(ANSWERS) and set(known.str.to_lowercase()) <= ANSWERS | MARKS


def gather_ratings(
    gathered: Gathered,
    seen: Profiled,
    picks: Mapping[str, Pick],
    named: Mapping[str, str],
    rater: str | None,
    *,
    ask: bool = True,
) -> Gathered:
    """One row for each item, and the ratings apart; `gathered` itself where there are none."""
    if rater == NO_RATERS:
        return gathered
    plain = seen.frame
    beside = _side_by_side(plain, rater)
    if beside and named.get("label") not in beside:
        return _from_columns(gathered, plain, beside, seen.verdicts)
    label = column_of(picks, "label")
    keys = (column_of(picks, role) for role in ("text", "tweet_id", "id", "url"))
    item = next(filter(None, keys), None)
    if item is None or label is None or item == label:
        return gathered
    if rater is None and not _repeats(plain[item].drop_nulls()):
        return gathered
    who = _rater_column(plain, item, label, rater, ask=ask)
    if who is not None:
        return _from_rows(gathered, plain, item, label, who)
    if rater is None and _comes_back_equally(plain, item, label):
        times = plain.height / plain[item].n_unique()
        gathered.tables[0].notes.append(
            f"Each value of '{item}' occurs {times:.0f} times, with different labels. If each row"
            f" is an annotator's, `rater='{ROWS_ARE_RATERS}'` makes one record of them."
        )
    return gathered


def _side_by_side(plain: pl.DataFrame, rater: str | None) -> list[str]:
    """The columns of annotators: those that the user named, or those called so and numbered."""
    if rater is not None:
        wanted = [pattern.strip() for pattern in rater.split(",")]
        columns = [c for c in plain.columns if any(fnmatchcase(c, one) for one in wanted)]
        return columns if len(columns) > 1 else []
    groups: dict[str, list[str]] = {}
    for column in plain.columns:
        folded = fold_name(column)
        stem = _END.sub("", folded)
        if stem != folded and ANNOTATORS.intersection(stem.split()):
            groups.setdefault(stem, []).append(column)
        elif (numbered := _NUMBERED_PERSON.sub(r"\1 #", folded)) != folded and " #" in numbered:
            groups.setdefault(numbered, []).append(column)
    for columns in groups.values():
        values = pl.concat([plain[column] for column in columns]).drop_nulls().n_unique()
        if len(columns) > 1 and 2 <= values <= MOST_VALUES:
            return columns
    return []


def _rater_column(
    plain: pl.DataFrame, item: str, label: str, rater: str | None, *, ask: bool
) -> str | None:
    """The column that names the annotator of each row; `ROWS` where the user says that each row is
    one's.
    """
    if rater is not None:
        if rater != ROWS_ARE_RATERS and rater not in plain.columns:
            raise UnknownName("column", rater, [c for c in plain.columns if c not in PLACES])
        return rater
    candidates = close(list(_raters(plain, item, label)), "rater")
    if not candidates:
        return None
    best, *others = candidates
    rivals = [one for one in others if not _one_to_one(plain, best.column, one.column)]
    if rivals and ask:
        raise Question(
            f"Each value of '{item}' comes back with labels that differ, and several columns may"
            " say who gave them.",
            [
                *(Choice("rater", one.column, one.why) for one in [best, *rivals][:RATERS_OFFERED]),
                Choice("rater", NO_RATERS, "every row is a record"),
            ],
        )
    return best.column


def _raters(plain: pl.DataFrame, item: str, label: str) -> Iterator[RaterColumn]:
    """The columns that may name the annotator of each row, with what speaks for them."""
    constant = _comes_back_equally(plain, item, label)
    differ = _labels_differ(plain, item, label)
    for column in plain.columns:
        if column in (item, label, *PLACES):
            continue
        words = set(fold_name(column).split())
        annotator, person = bool(words & ANNOTATORS), differ and bool(words & PEOPLE)
        named = annotator or person
        if (named or constant) and _tells_apart(plain, item, column, named=named):
            kind = "named" if annotator else "person" if person else "apart"
            values = several(plain[column].n_unique(), "annotator")
            yield RaterColumn(column, EVIDENCE["rater"][kind], values)


def _one_to_one(plain: pl.DataFrame, column: str, other: str) -> bool:
    """Whether two columns say the same in other words: the number and the name of a person."""
    pairs = plain.select(column, other).unique().height
    return pairs == plain[column].n_unique() == plain[other].n_unique()


def _repeats(items: pl.Series) -> bool:
    """Whether there are enough items, with more rows than one each: looked at first, as it is cheap
    where a file of a million rows has no annotators."""
    distinct = items.hash().n_unique()  # numbers are counted faster than texts
    return LEAST_ITEMS <= distinct <= DISTINCT_ITEMS_SHARE * items.len()


def _labels_differ(plain: pl.DataFrame, item: str, label: str) -> bool:
    """Whether several of the items that come back have more than one label."""
    counts = (
        plain.drop_nulls([item, label])
        .group_by(item)
        .agg(rows=pl.len(), labels=pl.col(label).n_unique())
    )
    again = counts.filter(pl.col("rows") > 1)
    return again.height >= LEAST_ITEMS and again["labels"].gt(1).sum() >= DIVIDED * again.height


def _tells_apart(plain: pl.DataFrame, item: str, column: str, *, named: bool) -> bool:
    """Whether a column has few values, each of which occurs in many items and once in each."""
    rows = plain.select(item, column).drop_nulls()
    values = rows[column].n_unique()
    if rows.height < USUAL_COUNT_SHARE * plain.height or not 2 <= values <= MOST_RATERS:
        return False
    once = rows.unique().height >= ONCE_SHARE * rows.height
    return once and (named or values * LEAST_ITEMS <= rows.height)


def _comes_back_equally(plain: pl.DataFrame, item: str, label: str) -> bool:
    """Whether nearly all items have the same number of rows, more than one, and labels differ
    within them.
    """
    counts = (
        plain.drop_nulls([item, label])
        .group_by(item)
        .agg(rows=pl.len(), labels=pl.col(label).n_unique())
    )
    if counts.height < LEAST_ITEMS:
        return False
    usual = counts["rows"].mode()[0]
    same = (counts["rows"] == usual).mean()
    return bool(
        usual > 1
        and same is not None
        and same >= USUAL_COUNT_SHARE
        and (counts["labels"] > 1).any()
    )


def _from_rows(
    gathered: Gathered, plain: pl.DataFrame, item: str, label: str, who: str
) -> Gathered:
    """One row for each item; what differs within an item stays with the ratings."""
    rows = plain.with_columns(
        pl.col(item).rank("dense").fill_null(0).alias(ITEM), pl.col(label).alias(VOTE)
    )
    order = rows.select(ITEM).unique(maintain_order=True).with_row_index("record")
    rows = rows.join(order, on=ITEM, how="left", maintain_order="left")
    place = pl.int_range(1, pl.len() + 1).over("record").cast(pl.String)
    rows = rows.with_columns((place if who == ROWS_ARE_RATERS else pl.col(who)).alias(WHO))
    columns = [c for c in plain.columns if c not in (who, label)]
    same = rows.group_by("record").agg(pl.col(c).n_unique() for c in columns)
    varying = [c for c in columns if (same[c] > 1).any()]
    votes = _majorities(rows)
    items = (
        rows.group_by("record", maintain_order=True)
        .agg(pl.when(pl.col(c).n_unique() == 1).then(pl.col(c).first()).alias(c) for c in columns)
        .join(votes.rename({VOTE: label}), on="record", how="left", maintain_order="left")
    )
    table = rows.select(
        pl.col("record").cast(pl.Int64), annotator=pl.col(WHO), value=pl.col(VOTE)
    ).with_columns(meta=meta_column(rows, varying))
    merged = plain.height - items.height
    ratings = Ratings(table, label, _ties(items, label, table), merged=merged)
    frame = items.sort("record").select(c for c in plain.columns if c != who)
    return replace(gathered, frame=frame, literal=frozenset(), ratings=ratings)


def _from_columns(
    gathered: Gathered, plain: pl.DataFrame, columns: Sequence[str], verdicts: LabelMap
) -> Gathered:
    """The columns of annotators as ratings, and their majority as the label where there is no other
    label.
    """
    rest = plain.drop(columns)
    long = (
        plain.select(columns)
        .with_row_index("record")
        .unpivot(index="record", variable_name=WHO, value_name=VOTE)
        .drop_nulls(VOTE)
        .sort("record", maintain_order=True)
    )
    table = long.select(
        pl.col("record").cast(pl.Int64),
        annotator=pl.col(WHO),
        value=pl.col(VOTE),
        meta=pl.lit(None, pl.String),
    )
    own = propose(profile(rest, verdicts, gathered.hidden({})), {}, gathered.inner).get("label")
    if own is not None:
        ratings = Ratings(table, "label", frozenset(), majority=False)
        return replace(gathered, frame=rest, literal=frozenset(), ratings=ratings)
    label = "label" if "label" not in rest.columns else "majority label"
    votes = _majorities(long).rename({VOTE: label})
    frame = (
        rest.with_row_index("record")
        .join(votes, on="record", how="left", maintain_order="left")
        .drop("record")
    )
    ratings = Ratings(table, label, _ties(frame.with_row_index("record"), label, table))
    return replace(gathered, frame=frame, literal=frozenset(), ratings=ratings)


def _majorities(rows: pl.DataFrame) -> pl.DataFrame:
    """The value that most gave to each record; null on a tie."""
    counts = rows.drop_nulls(VOTE).group_by("record", VOTE).len()
    most = counts.filter(pl.col("len") == pl.col("len").max().over("record"))
    return most.filter(pl.len().over("record") == 1).select("record", VOTE)


def _ties(items: pl.DataFrame, label: str, table: pl.DataFrame) -> frozenset[int]:
    rated = table.drop_nulls("value")["record"].unique()
    undecided = items.filter(pl.col(label).is_null())["record"].cast(pl.Int64)
    return frozenset(undecided.filter(undecided.is_in(rated.implode())).to_list())
