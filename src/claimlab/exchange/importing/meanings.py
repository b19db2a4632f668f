"""What labels mean where the map does not say: several labels in one cell, codes that go with words
in another column, and the known word that an unknown one is nearest to.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import polars as pl

from claimlab.core.labels import LabelMap, fold
from claimlab.core.words import several_of
from claimlab.exchange.vocabulary import fold_name

DECIDED = ("true", "false", "mixed")
FEW = 0.25  # of the labelled rows, whose unknown labels may stay null
NEAR = 0.85  # likeness at which a known word is suggested
MOST_WORDS, MOST_PARTS = 60, 30  # values of a column of words; different parts of cells
SURE = 0.95  # of the rows of a code that go with one verdict
LEAST = 5  # rows of a code
SAMPLE = 20_000  # rows that are compared
_MARKS = re.compile(r"[,;|]")


@dataclass(frozen=True)
class Cell:
    """A cell with several labels: its veracity, where one part says it, and the other parts."""

    verdict: str | None
    tags: tuple[str, ...]


def cells_of(values: Collection[str], verdicts: LabelMap) -> dict[str, Cell]:
    """The cells of a column of several labels each ("fake,hate"); nothing where it is none.

    Each part must be one word that comes again, so that "true, but old" is not read as true.
    """
    parts = {value: _parts(value) for value in values if value.strip()}
    words = {part for words_in in parts.values() for part in words_in}
    if len(words) > MOST_PARTS or any(len(word.split()) > 1 or len(word) > 30 for word in words):
        return {}
    if len(parts) <= len(words) or max(map(len, parts.values()), default=0) < 2:
        return {}
    cells = {value: _cell(words_in, verdicts) for value, words_in in parts.items()}
    known = [cell for cell in cells.values() if cell.verdict is not None]
    return cells if {"true", "false"} & {cell.verdict for cell in known} else {}


def _parts(value: str) -> list[str]:
    if value.lstrip().startswith("["):
        value = value.strip().strip("[]").replace('"', "").replace("'", "")
    return [part.strip() for part in _MARKS.split(value) if part.strip()]


def _cell(parts: Sequence[str], verdicts: LabelMap) -> Cell:
    known = {part: verdicts.verdict(part) for part in parts}
    decided = {verdict for verdict in known.values() if verdict in DECIDED}
    tags = tuple(part for part in parts if known[part] not in DECIDED)
    return Cell(decided.pop() if len(decided) == 1 else None, tags)


def tags_column(raw: pl.Series, cells: Mapping[str, Cell]) -> pl.Series:
    """The parts of each cell that say nothing of veracity, as JSON lists."""
    tags = {
        value: json.dumps(list(cell.tags), ensure_ascii=False)
        for value, cell in cells.items()
        if cell.tags
    }
    return raw.replace_strict(tags, default=None, return_dtype=pl.String).alias("tags")


def nearest(value: str, verdicts: LabelMap) -> tuple[str, str] | None:
    """The known word that a label is most like, and its verdict. "not supported" is not like
    "supported": a word more may turn the meaning round.
    """
    folded = fold(value)
    known = {fold(word): (word, verdict) for word, verdict in verdicts.verdicts.items()}
    joined = {word.replace(" ", ""): word for word in known}
    if (same := joined.get(folded.replace(" ", ""))) is not None:
        return known[same]
    alike = [word for word in known if len(word.split()) == len(folded.split())]
    near = difflib.get_close_matches(folded, alike, n=1, cutoff=NEAR)
    return known[near[0]] if near and len(folded) > 3 else None


def verdict_word(name: str, verdicts: LabelMap) -> str | None:
    """The word for a verdict in the name of a file or in an id, its innermost part first:
    news/fake-12 -> fake.
    """
    for part in reversed(PurePosixPath(name).parts):
        if verdicts.verdict(part) is not None:
            return part
        words = [w for w in fold_name(part).split() if verdicts.verdict(w) is not None]
        if len({verdicts.verdict(w) for w in words}) == 1:
            return words[0]
    return None


def codes_by_words(
    frame: pl.DataFrame, label: str, columns: Sequence[str], verdicts: LabelMap
) -> LabelMap | None:
    """The map of codes that go with words for verdicts in another column: in ids, in the names of
    files, or in a column of ratings. The name of the map is the evidence.
    """
    rows = frame.drop_nulls(label)
    rows = rows.gather_every(max(1, rows.height // SAMPLE))
    codes = rows[label]
    if any(verdicts.verdict(code) is not None for code in codes.unique()):
        return None
    for column in columns:
        values = rows[column].drop_nulls().unique()
        words = {value: verdict_word(value, verdicts) for value in values.head(SAMPLE).to_list()}
        meaning = {value: verdicts.verdict(word) for value, word in words.items() if word}
        if len({v for v in meaning.values() if v in DECIDED}) < 2:
            continue
        beside = rows[column].replace_strict(meaning, default=None, return_dtype=pl.String)
        table = _meanings(codes, beside)
        if table is not None:
            evidence = ", ".join(
                f"{code} is {verdict} ({several_of(n, of, 'row')})"
                for code, (verdict, n, of) in sorted(table.items())
            )
            return replace(
                verdicts,
                name=f"{label}: by the words in '{column}', {evidence}",
                verdicts={code: verdict for code, (verdict, _, _) in table.items()},
                version=1,
                exact=True,
            )
    return None


def _meanings(codes: pl.Series, beside: pl.Series) -> dict[str, tuple[str, int, int]] | None:
    """For each code its verdict, and in how many of its rows it goes with it; null unless each goes
    with one and they differ.
    """
    table: dict[str, tuple[str, int, int]] = {}
    for code in codes.unique().to_list():
        mine = beside.filter(codes == code)
        counts = mine.drop_nulls().value_counts(sort=True)
        if not counts.height or mine.len() < LEAST:
            return None
        verdict, n = counts.row(0)
        if n < SURE * mine.len():
            return None
        table[code] = (verdict, n, mine.len())
    verdicts = [verdict for verdict, _, _ in table.values()]
    return table if {"true", "false"} <= set(verdicts) else None
