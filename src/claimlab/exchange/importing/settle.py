"""Which of several files are the records, where one answer is far ahead: the others are named, not
mixed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.labels import LabelMap
from claimlab.core.words import several
from claimlab.exchange.importing.layouts import (
    FILE,
    LEAST,
    Gathered,
    Layout,
    layouts_of,
    part,
    stem,
    stems,
)
from claimlab.exchange.importing.links import join_labels
from claimlab.exchange.importing.profile import profile
from claimlab.exchange.importing.propose import propose
from claimlab.exchange.importing.texts import MANY

SAME = 0.95  # of the texts of a file, that others hold too, at which it is a copy of them
AHEAD = 3.0  # times the worth of the next layout, at which the first is taken without asking


def settle(
    gathered: Gathered, named: Mapping[str, str], verdicts: LabelMap, *, joins: bool = True
) -> Gathered:
    """`gathered`, or only the part of it that can be the records: a table in two formats is read
    once, labels in a table of their own are joined by their key, and of several layouts the one
    that gives by far the most records with a text and a label is taken.
    """
    names = stems(gathered.tables)
    several_files = len(names) > 1 and len(set(names)) == len(names)
    if gathered.chosen or not several_files or FILE not in gathered.frame.columns:
        return gathered
    layouts = layouts_of(gathered, verdicts)
    gathered, layouts = _read_once(gathered, layouts)
    together = join_labels(gathered, layouts) if joins and len(layouts) > 1 else None
    if together is not None:
        return together
    if not {"text", "label"} & named.keys() and len(layouts) > 1:
        gathered = _far_ahead(gathered, layouts)
    _refuse_texts_beside_tables(gathered)
    return _labelled_editions(gathered, named, verdicts)


def _refuse_texts_beside_tables(gathered: Gathered) -> None:
    """A table beside hundreds of texts may be about them; which of the two are the records is not
    ours to say.
    """
    names = [table.name for table in gathered.tables]
    if MANY not in names or len(names) < 2:
        return
    tables = [name for name in names if name != MANY]
    texts = gathered.frame.filter(pl.col(FILE) == MANY).height
    beside = f"{several(len(tables), 'table')} ({_some(tables)})"
    raise DataError(
        f"There are {several(texts, 'text')} and {beside}.",
        f"Say which are the records: `only='*.txt'`, or `only='{tables[0]}'`.",
    )


def _read_once(gathered: Gathered, layouts: list[Layout]) -> tuple[Gathered, list[Layout]]:
    """Leave out the files with the texts of others in another format, or of the same data before
    it was split.
    """
    originals: list[Layout] = []
    notes: list[str] = []
    by_contents = sorted(
        layouts,
        key=lambda one: (one.labelled, one.splits, len(one.columns), one.suffix),
        reverse=True,
    )
    for layout in by_contents:
        copied = next((one for one in originals if _is_copy(layout, one)), None)
        if copied is None:
            originals.append(layout)
        else:
            texts = several(len(layout.texts), "text")
            notes.append(
                f"{_some(layout.names)} not read: the {texts} are those of {_some(copied.names)}."
            )
    if not notes:
        return gathered, layouts
    rest = part(gathered, [table for one in originals for table in one.tables])
    rest.tables[0].notes += notes
    return rest, [one for one in layouts if one in originals]


def _is_copy(layout: Layout, other: Layout) -> bool:
    shared = len(layout.texts & other.texts)
    whole = shared >= SAME * max(len(layout.texts), len(other.texts), LEAST)
    split = other.splits and not layout.splits
    return whole and (layout.suffix != other.suffix or split)


def _some(names: Sequence[str]) -> str:
    return (
        f"'{names[0]}'"
        if len(names) == 1
        else f"'{names[0]}' and {several(len(names) - 1, 'more file')}"
    )


def _far_ahead(gathered: Gathered, layouts: Sequence[Layout]) -> Gathered:
    """The files of the layout that gives by far the most records with a text and a label, and those
    with more of the same.
    """
    first, *others = layouts
    if not first.labelled:
        return gathered
    rivals = [other for other in others if not other.belongs_to(first)]
    looked_at = sum(layout.rows for layout in layouts)
    unseen = (gathered.frame.height - looked_at) * first.weight
    if max([unseen, *(rival.worth[0] for rival in rivals)]) * AHEAD > first.worth[0]:
        return gathered
    left_out = {id(table) for rival in rivals for table in rival.tables}
    return (
        part(gathered, [t for t in gathered.tables if id(t) not in left_out])
        if rivals
        else gathered
    )


def _labelled_editions(
    gathered: Gathered, named: Mapping[str, str], verdicts: LabelMap
) -> Gathered:
    """All files but those without a label whose texts occur, labelled, in others: a test set before
    its labels.
    """
    seen = profile(gathered.plain(), verdicts, gathered.hidden(named))
    picks = propose(seen, named, gathered.inner)
    text, label = (picks[role].column if role in picks else None for role in ("text", "label"))
    if text is None or label is None or len(gathered.tables) < 2:
        return gathered
    known = pl.col(label).is_not_null().alias("known")
    rows = gathered.frame.select(FILE, text, known).drop_nulls(text)
    bare = rows.group_by(FILE).agg(pl.col("known").any()).filter(~pl.col("known")).select(FILE)
    if not bare.height:
        return gathered
    labelled = rows.filter("known").select(text).unique()
    held = pl.col(text).is_in(labelled[text].implode())
    shares = rows.join(bare, on=FILE, how="semi").group_by(FILE).agg(held.mean().alias("held"))
    left_out = set(shares.filter(pl.col("held") >= SAME)[FILE])
    others = [table for table in gathered.tables if stem(table) not in left_out]
    return part(gathered, others) if left_out else gathered
