"""The record that each row of a file of predictions is about."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.words import several
from claimlab.detect.strict.asked import Asked
from claimlab.detect.strict.problems import Problems
from claimlab.files.predictions import GivenPredictions
from claimlab.text.normalise import normal_form


@dataclass(frozen=True)
class Place:
    """The rows of a file, each with the record that it is about: an id of the dataset, or what the
    file has instead."""

    given: GivenPredictions
    ids: pl.Series
    notes: list[str] = field(default_factory=list)


def placed(given: GivenPredictions, asked: Asked, problems: Problems) -> Place:
    """By id; else by the last part of the ids, where it tells the records apart; else by the text;
    else, in a file with neither, by the order of the records."""
    if given.ids is not None:
        ids = given.ids.fill_null("")
        if ids.is_in(asked.records["id"].implode()).any():
            return Place(given, ids, _of_others(given, ids, asked))
        if (by_tail := _by_tail(given, ids, asked)) is not None:
            return by_tail
        if given.texts is None or not _has_texts(given.texts, asked):
            raise DataError(
                f"No id in '{given.file}' is an id of '{asked.name}'.",
                f"Its ids look like {asked.records['id'][0]!r}: write the predictions with the"
                " dataset's own ids, or with its texts.",
            )
    if given.texts is not None:
        return _by_text(given, asked.records, asked.rows, problems)
    if given.height != asked.rows.height:
        raise DataError(
            f"'{given.file}' has no column 'id' or 'text', and {several(given.height, 'row')} for"
            f" {several(asked.rows.height, 'record')}.",
            "Give each row the id of its record, or its text.",
        )
    note = "Without ids and texts, the rows are taken in the order of the records."
    return Place(given, asked.rows["id"], [note])


def _by_tail(given: GivenPredictions, ids: pl.Series, asked: Asked) -> Place | None:
    """Rows by the last part of the ids; null where none is one, and where the texts of the file are
    of other records: some tasks number their rows from 0."""
    tails = asked.rows.select("id", tail=pl.col("id").str.extract(r"([^-:/_]+)$"))
    alone = tails.drop_nulls().filter(pl.col("tail").is_unique())
    short: dict[str, str] = dict(alone.select("tail", "id").iter_rows())
    example = next((tail for tail in ids if tail in short), None)
    if example is None:
        return None
    whole = pl.Series([short.get(tail, tail) for tail in ids])
    read = given.texts is not None and _has_texts(given.texts, asked)
    all_known = whole.is_in(asked.rows["id"].implode()).all()
    if read and (not all_known or _of_others(given, whole, asked)):
        return None
    note = f"Ids are matched by their last part: {example} is {short[example]}."
    return Place(given, whole, [note])


def _has_texts(texts: pl.Series, asked: Asked) -> bool:
    return bool(_keys(texts).is_in(_keys(asked.rows["text"]).implode()).any())


def _of_others(given: GivenPredictions, ids: pl.Series, asked: Asked) -> list[str]:
    """A note where rows have the id of one record and the text of another."""
    if given.texts is None:
        return []
    own = pl.DataFrame({"id": ids}).join(
        asked.rows.select("id", "text"), on="id", how="left", maintain_order="left"
    )
    there, text = _keys(given.texts), _keys(own["text"])
    other = (there != text) & there.is_in(_keys(asked.rows["text"]).implode()) & (text != "")
    if not other.any():
        return []
    rows = several(int(other.sum()), "row has", "rows have")
    return [f"{rows} the text of another record than the id says: ids are believed."]


def _keys(texts: pl.Series) -> pl.Series:
    return normal_form(texts.fill_null(""))


def _by_text(
    given: GivenPredictions, records: pl.DataFrame, wanted: pl.DataFrame, problems: Problems
) -> Place:
    """Rows by their text, exact after normalisation. A text of several records answers for all of
    them, where its rows agree."""
    assert given.texts is not None
    of_text: dict[str, list[str]] = {}
    for key, record in zip(_keys(wanted["text"]), wanted["id"], strict=True):
        of_text.setdefault(key, []).append(record)
    elsewhere = dict(zip(_keys(records["text"]), records["id"], strict=True))
    labels = [None] * given.height if given.labels is None else given.labels.to_list()
    rows_of: dict[tuple[str | None, str], list[int]] = {}
    keys = _keys(given.texts).to_list()
    for row, (run, key) in enumerate(zip(given.runs, keys, strict=True)):
        rows_of.setdefault((run, key), []).append(row)
    rows: list[int] = []
    ids: list[str] = []
    shared = 0
    for (_, key), same in rows_of.items():
        here = of_text.get(key, [elsewhere.get(key, given.texts[same[0]] or "")[:60]])
        if len({labels[row] for row in same}) > 1 and len(here) > 1:
            problems.add("text of several records with different answers", here)
        shared += len(here) > 1
        for number in range(max(len(same), len(here))):
            rows.append(same[min(number, len(same) - 1)])
            ids.append(here[min(number, len(here) - 1)])
    notes = ["Rows are matched by their text."]
    if shared:
        several_records = several(shared, "text belongs", "texts belong")
        notes.append(f"{several_records} to several records: each got the answer of its text.")
    return Place(given.take(rows), pl.Series(ids, dtype=pl.String), notes)
