"""Which of several tables are the records, where only one answer is left: the others are named, not
mixed in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import polars as pl

from claimlab.core.labels import LabelMap
from claimlab.core.words import several
from claimlab.exchange.guess.columns import pick_columns
from claimlab.exchange.guess.places import labels_in
from claimlab.exchange.guess.plan import Pick
from claimlab.exchange.read.gathered import FILE, PLACES, Gathered
from claimlab.files.raw import RawTable

LOOKED_AT = 12  # layouts
ALIKE = 0.8  # of the columns of one layout that another must have, for both to be offered together
SAME = 0.95  # of the texts of a file without labels, that files with labels hold too


@dataclass(frozen=True)
class Layout:
    """The files with one set of columns, and what these columns would be."""

    columns: list[str]
    tables: list[RawTable]
    rows: int
    picks: Mapping[str, Pick]
    named: bool = False  # whether the names of the files give the label

    @property
    def score(self) -> tuple[bool, bool, int]:
        return ("text" in self.picks, "label" in self.picks or self.named, self.rows)

    def holds(self, columns: Collection[str]) -> bool:
        """Whether files with these columns are to be read together with the files of this
        layout.
        """
        text = self.picks.get("text")
        shared = len(set(columns) & set(self.columns))
        alike = shared >= ALIKE * max(len(columns), len(self.columns))
        return alike and (text is None or text.column in columns)

    def describe(self) -> str:
        more = ", …" if len(self.columns) > 5 else ""
        return f"{several(self.rows, 'row')} with {', '.join(self.columns[:5])}{more}"


def layouts_of(gathered: Gathered, verdicts: LabelMap) -> list[Layout]:
    """The different sets of columns, those that look most like records (a text and a label)
    first.
    """
    plain = gathered.plain()
    out: list[Layout] = []
    for columns, tables in gathered.layouts()[:LOOKED_AT]:
        like = next((i for i, other in enumerate(out) if other.holds(columns)), None)
        if like is not None:
            columns = list(dict.fromkeys([*out[like].columns, *columns]))
            tables = [*out.pop(like).tables, *tables]
        rows = plain.filter(pl.col(FILE).is_in(stems(tables))).select(
            c for c in columns if c in plain.columns
        )
        named = len(tables) > 1 and labels_in(stems(tables), verdicts) is not None
        out.append(Layout(columns, tables, rows.height, pick_columns(rows, {}, verdicts), named))
    return sorted(out, key=lambda layout: layout.score, reverse=True)


def settle(gathered: Gathered, named: Mapping[str, str | None], verdicts: LabelMap) -> Gathered:
    """`gathered`, or only the part of it that can be the records."""
    names = stems(gathered.tables)
    if (
        gathered.chosen
        or len(names) < 2
        or len(set(names)) < len(names)
        or FILE not in gathered.frame.columns
    ):
        return gathered
    return _labelled_editions(_only_labelled(gathered, named, verdicts), named, verdicts)


def _only_labelled(
    gathered: Gathered, named: Mapping[str, str | None], verdicts: LabelMap
) -> Gathered:
    """The files with a text and a label, where no others have a label and they hold most of the
    rows with a text.
    """
    if any(named.get(role) for role in ("text", "label")) or len(gathered.layouts()) < 2:
        return gathered
    first, *others = layouts_of(gathered, verdicts)
    if len(gathered.layouts()) > LOOKED_AT or not {"text", "label"} <= set(first.picks):
        return gathered
    alike = {first.picks["text"].column, first.picks["label"].column}
    rivals = [o for o in others if "label" in o.picks or alike & set(o.columns)]
    prose = sum(o.rows for o in others if "text" in o.picks)
    return gathered if rivals or prose > first.rows else part(gathered, first.tables)


def _labelled_editions(
    gathered: Gathered, named: Mapping[str, str | None], verdicts: LabelMap
) -> Gathered:
    """All files but those without a label whose texts occur, labelled, in others: a test set before
    its labels.
    """
    places = [c for c in PLACES if c not in named.values()]
    picks = pick_columns(
        gathered.plain().drop(places, strict=False), named, verdicts, gathered.inner
    )
    text, label = (picks[role].column if role in picks else None for role in ("text", "label"))
    if text is None or label is None or len(gathered.tables) < 2:
        return gathered
    rows = gathered.frame.select(FILE, text, pl.col(label).is_not_null().alias("known")).drop_nulls(
        text
    )
    bare = rows.group_by(FILE).agg(pl.col("known").any()).filter(~pl.col("known")).select(FILE)
    if not bare.height:
        return gathered
    labelled = rows.filter("known").select(text).unique()
    held = rows.join(bare, on=FILE, how="semi").with_columns(
        pl.col(text).is_in(labelled[text].implode()).alias("held")
    )
    shares = held.group_by(FILE).agg(pl.col("held").mean()).filter(pl.col("held") >= SAME)
    left_out = set(shares[FILE].to_list())
    return (
        part(gathered, [t for t in gathered.tables if stem(t) not in left_out])
        if left_out
        else gathered
    )


def part(gathered: Gathered, tables: Sequence[RawTable]) -> Gathered:
    """The rows and columns of some of the tables; the others are reported as files that were not
    read.
    """
    frame = gathered.frame.filter(pl.col(FILE).is_in(stems(tables)))
    empty = [
        c
        for c in frame.columns
        if not frame[c].count() and all(c not in t.frame.columns for t in tables)
    ]
    others = [t.name for t in gathered.tables if t not in tables]
    return replace(
        gathered,
        frame=frame.drop(empty),
        literal=gathered.literal - set(empty),
        inner=gathered.inner - set(empty),
        tables=list(tables),
        ignored=[*others, *gathered.ignored],
    )


def stem(table: RawTable) -> str:
    return str(PurePosixPath(table.name).with_suffix(""))


def stems(tables: Sequence[RawTable]) -> list[str]:
    return [stem(table) for table in tables]
