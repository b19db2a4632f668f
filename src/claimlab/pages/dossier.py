"""All that is known of one record, as a page to print: the claim, its evidence with stance and
dates, earlier fact-checks, verdicts, and what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import (
    Block,
    Blocks,
    Column,
    Columns,
    Items,
    Quote,
    Report,
    Section,
    Table,
    Text,
    short,
)

TITLE = "Dossier"
PASSAGE_CHARACTERS = 300  # characters of a passage
COMPLETE = "Nothing of what is looked for: label, date, source, evidence, fact-checks, their dates."
_ABOUT = ("date", "source", "author", "url", "language", "topic", "split")
VERDICTS: Columns[JsonObject] = (
    Column("who"),
    Column("says"),
    Column("why", "why", short(PASSAGE_CHARACTERS), ""),
)
_LEVEL: Column[JsonObject] = Column("site", lambda row: row.get("site_level") or "not rated")


def address(row: JsonObject) -> str | None:
    """Where a piece of evidence is, if that is a place on the web."""
    url = row.get("url")
    return url if url and url.startswith(("http://", "https://")) else None


def _publisher(row: JsonObject) -> str | None:
    return row.get("publisher") or row.get("domain")


_WHERE: Columns[JsonObject] = (
    Column("date", lambda row: _day(row.get("published"))),
    Column("publisher", _publisher),
)
EVIDENCE: Columns[JsonObject] = (
    *_WHERE,
    Column("stance", lambda row: row.get("stance") or "not measured"),
    Column("corresponds", lambda row: _answer(row.get("corresponds"))),
    Column(
        "says",
        lambda row: row.get("text") or row.get("title"),
        short(PASSAGE_CHARACTERS),
        link=address,
    ),
)
FACT_CHECKS: Columns[JsonObject] = (
    *_WHERE,
    Column("rating", "rating"),
    Column("verdict", "verdict"),
    Column("corresponds", lambda row: _answer(row.get("corresponds"))),
    Column(
        "about",
        lambda row: row.get("title") or row.get("text"),
        short(PASSAGE_CHARACTERS),
        link=address,
    ),
)


def dossier(record: JsonObject, sides: Mapping[str, pl.DataFrame]) -> Report:
    """The dossier of `record`, from its rows of the side tables."""
    evidence = sides.get("evidence", pl.DataFrame()).to_dicts()
    evidence.sort(key=lambda row: (not row.get("corresponds"), row.get("rank") or 0))
    checks = [row for row in evidence if row.get("rating") is not None]
    texts = [row for row in evidence if row.get("rating") is None]
    claims = sides.get("claims", pl.DataFrame({"text": []}))["text"].to_list()
    dated_record = {
        **record,
        "date": str(record.get("date") or "").removesuffix(" 00:00:00") or None,
    }
    about = [
        f"{name}: {dated_record[name]}" for name in _ABOUT if dated_record.get(name) is not None
    ]
    blocks: Blocks = [
        Section("Claim", [Quote(record["text"] or "(no text)"), Items(about)]),
        Section("Verdicts", [Table.of(VERDICTS, _verdicts(record, sides), sortable=False)]),
        Section("Fact-checks", [_listed(FACT_CHECKS, checks)]),
        Section("Evidence", [_listed(EVIDENCE, texts)]),
        Section("What is missing", [Items(list(_missing(record, texts, checks)) or [COMPLETE])]),
    ]
    if claims:
        blocks.insert(1, Section("Claims in the text", [Items(claims)]))
    return Report(f"{TITLE} of {record['id']}", str(record.get("dataset") or ""), blocks)


def _listed(columns: Columns[JsonObject], rows: list[JsonObject]) -> Block:
    if any(row.get("site_level") for row in rows):  # the user's list of sites
        columns = (*columns[:2], _LEVEL, *columns[2:])
    return Table.of(columns, rows, sortable=False) if rows else Text("None is known.")


def _day(when: object) -> str:
    return str(when)[:10] if when is not None else "undated"


def _answer(value: object) -> str:
    return "not measured" if value is None else "yes" if value else "no"


def _verdicts(record: JsonObject, sides: Mapping[str, pl.DataFrame]) -> Iterator[JsonObject]:
    stated = record.get("label_raw")
    words = record.get("veracity") or "no label"
    yield {
        "who": "the dataset",
        "says": words if stated in (None, words) else f"{words} (as written: {stated})",
        "why": "",
    }
    for row in sides.get("evidence", pl.DataFrame()).to_dicts():
        if row.get("corresponds") and row.get("rating") is not None:
            who = f"fact-check by {_publisher(row) or 'unknown'}, {_day(row.get('published'))}"
            says = f"{row.get('verdict') or 'no verdict'} (as written: {row['rating']})"
            yield {"who": who, "says": says, "why": ""}
    for row in sides.get("annotations", pl.DataFrame()).to_dicts():
        who = f"{row['annotator']} ({row.get('annotator_kind') or 'annotator'})"
        yield {"who": who, "says": f"{row['question']}: {row['value']}", "why": row["rationale"]}
    for row in sides.get("predictions", pl.DataFrame()).to_dicts():
        words = row.get("label") or f"no answer ({row.get('abstained') or 'unknown why'})"
        yield {"who": f"detector {row['detector']}", "says": words, "why": row.get("rationale")}


def _missing(
    record: JsonObject, texts: list[JsonObject], checks: list[JsonObject]
) -> Iterator[str]:
    for name, word in {"veracity": "label", "date": "date", "source": "source"}.items():
        if record.get(name) is None:
            yield f"The record has no {word}."
    if not texts and not checks:
        yield "No evidence: `claimlab enrich` looks for it."
    else:
        yield from _missing_evidence(texts, checks)


def _missing_evidence(texts: list[JsonObject], checks: list[JsonObject]) -> Iterator[str]:
    pieces = texts + checks
    signed = list(map(_publisher, checks))
    counts = {
        "The stance of {} of evidence is not measured.": [row.get("stance") for row in texts],
        "{} of evidence without a date.": [row.get("published") for row in pieces],
        "{} without a publisher.": signed,
    }
    if not any(row.get("corresponds") for row in pieces):
        yield f"None of {several(len(pieces), 'piece')} of evidence corresponds to the claim."
    if not checks:
        yield "No fact-check: `claimlab match` looks for earlier ones in an archive."
    if not texts:
        yield "No evidence but fact-checks."
    for sentence, values in counts.items():
        if unknown := values.count(None):
            yield sentence.format(several(unknown, "fact-check" if values is signed else "piece"))
