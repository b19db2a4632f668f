"""Questions that several files raise and that only the user can answer: which of them are the records?

A refusal names the option that answers it. Whoever passes `only` has answered: then files are read together as long as
each of them has the text.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from pathlib import PurePosixPath

import polars as pl

from claimlab.core.errors import DataError, UsageError
from claimlab.exchange.guess.columns import pick_columns, refuse_unclear_label
from claimlab.exchange.guess.plan import Plan
from claimlab.exchange.read.gather import FILE
from claimlab.exchange.read.texts import FOLDER
from claimlab.files.raw import RawTable

ALIKE = 0.8  # of a file's columns that the main file must have too, for both to be read together
SAME = 0.5  # of a file's texts that another file holds too, from which on they look like two editions
DISTINCT = 0.7  # of the ids of records that have no text, which must differ
LEAST = 5  # texts of a file, below which nothing is said of that


def refuse_doubts(plan: Plan) -> None:
    key = plan.column("text") or plan.column("tweet_id") or plan.column("url")
    if key is None:
        shown = ", ".join(map(repr, plan.gathered.frame.columns[:20]))
        raise UsageError(f"No column looks like the text of a record (there are {shown}).", "Name it: `text`.")
    _refuse_links(plan, key)
    if len(plan.gathered.tables) > 1:
        _refuse_mixture(plan, key)
        if not plan.gathered.chosen:
            _refuse_editions(plan, key)
    _refuse_folders(plan)
    refuse_unclear_label(plan.gathered.plain(), plan.picks.get("label"), plan.verdicts)


def _refuse_links(plan: Plan, key: str) -> None:
    """Without a text, ids that come back again and again belong to a table that links records (replies to posts)."""
    pick = plan.picks.get("tweet_id") or plan.picks.get("url")
    ids = plan.gathered.frame[key].drop_nulls()
    if plan.column("text") is None and pick is not None and not pick.given and ids.n_unique() < DISTINCT * ids.len():
        raise DataError(
            f"There is no text, and each value of '{key}' occurs {ids.len() / ids.n_unique():.1f} times: it links "
            "records rather than holding them.",
            f"Name the column that identifies a record, such as `tweet_id='{key}'`, or give another file.",
        )


def _refuse_folders(plan: Plan) -> None:
    """Folders such as `fake` and `fake-titles` say the same label of files that are not of the same kind."""
    if plan.column("label") != FOLDER or plan.gathered.chosen or plan.picks["label"].given:
        return
    leaves: dict[str | None, set[str]] = {}
    for place, word in plan.values["label"].items():
        leaves.setdefault(plan.verdicts.verdict(word) or word, set()).add(PurePosixPath(place).name)
    if alike := min((sorted(names) for names in leaves.values() if len(names) > 1), default=None):
        raise DataError(
            f"The folders {', '.join(map(repr, alike[:6]))} seem to stand for one label, but hold different files.",
            f"Say which hold the records, such as `only='{alike[0]}/*'`.",
        )


def _refuse_mixture(plan: Plan, key: str) -> None:
    layouts = plan.gathered.layouts()
    lacking = any(key not in columns for columns, _ in layouts)
    if not lacking and (plan.gathered.chosen or _all_alike(plan, layouts)):
        return
    shown = [
        f"{len(tables)} like '{tables[0].name}' with {', '.join(columns[:5])}{', …' if len(columns) > 5 else ''}"
        for columns, tables in layouts[:4]
    ]
    more = f"; and {len(layouts) - 4} more" if len(layouts) > 4 else ""
    why = f"Not every file has a column '{key}'" if lacking else "The files hold different tables"
    raise DataError(
        f"{why}. The {len(plan.gathered.tables)} files have {len(layouts)} layouts: {'; '.join(shown)}{more}.",
        f"Import the files of one layout at a time: {_advice(plan, layouts)}.",
    )


def _all_alike(plan: Plan, layouts: Sequence[tuple[list[str], list[RawTable]]]) -> bool:
    """Whether every file has nearly the columns of the main one; one without labels (a test set) may have fewer."""
    label = plan.column("label")
    labelled = [(set(columns), tables) for columns, tables in layouts if label is None or label in columns]
    main = max(labelled or [(set(c), t) for c, t in layouts], key=lambda layout: len(layout[0]))[0]
    kinds = {table.layout.format for table in plan.gathered.tables}
    if len(kinds) > 1 and len(layouts) > 1:
        return False
    return all(len(main & set(columns)) >= ALIKE * len(columns) for columns, _ in layouts)


def _advice(plan: Plan, layouts: Sequence[tuple[list[str], list[RawTable]]]) -> str:
    """The files that look most like records: those with a text and a label."""
    gathered = plan.gathered
    names = [t.name for t in gathered.tables]
    best: tuple[tuple[bool, bool, int], str] | None = None
    for columns, tables in layouts[:12]:
        stems = [str(PurePosixPath(t.name).with_suffix("")) for t in tables]
        rows = gathered.plain().lazy().filter(pl.col(FILE).is_in(stems)).select(columns).collect()
        picks = pick_columns(rows, {}, plan.verdicts)
        score = ("text" in picks, "label" in picks, rows.height)
        pattern = pattern_for([t.name for t in tables], names)
        if best is None or score > best[0]:
            best = (score, f"pass `only='{pattern}'` for {rows.height:,} rows with {', '.join(columns[:4])}")
    return best[1] if best else "pass `only`"


def pattern_for(names: Sequence[str], others: Sequence[str]) -> str:
    """A glob that matches these names and no other; the first name where there is none."""
    start, end = _shared_start(names), _shared_start([n[::-1] for n in names])[::-1]
    pattern = names[0] if len(names) == 1 else f"{start}*{end}"
    wrong = [n for n in others if n not in names and fnmatch.fnmatchcase(n.lower(), pattern.lower())]
    return pattern if not wrong else names[0]


def _shared_start(words: Sequence[str]) -> str:
    first, last = min(words), max(words)
    length = next((i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:length]


def _refuse_editions(plan: Plan, key: str) -> None:
    """Files that hold the same texts are editions of one another: read together, every record counts twice."""
    rows = plan.gathered.frame.lazy().select(FILE, key).drop_nulls().unique()
    shared = rows.with_columns(pl.col(FILE).len().over(key).alias("files"))
    files = shared.group_by(FILE).agg(pl.len().alias("texts"), (pl.col("files") > 1).sum().alias("again"))
    doubtful = files.filter(pl.col("texts") >= LEAST, pl.col("again") >= SAME * pl.col("texts"))
    table = doubtful.sort(["again", FILE], descending=[True, False]).collect()
    if not table.height:
        return
    name, texts, again = table.row(0)
    held = rows.filter(pl.col(FILE) == name).select(key)
    other = (
        rows.filter(pl.col(FILE) != name).join(held, on=key, how="semi").group_by(FILE).len()
        .sort(["len", FILE], descending=[True, False]).collect()
    )[FILE][0]  # fmt: skip
    raise DataError(
        f"{again:,} of the {texts:,} texts of '{name}' are in other files too, such as '{other}': they look like "
        "editions of the same data.",
        f"Pass `only='{name}.*'` or `only='{other}.*'` to choose one, or `only='*'` to read all of them.",
    )
