"""Fake.br: fake news in Portuguese, each paired with a true article on the same subject."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import PurePosixPath

from claimlab.catalog.kit import Bundle, Loaded, lists_of, meta_json, moment, record_rows
from claimlab.core.types import JsonObject
from claimlab.core.words import several

FIELDS: list[str] = lists_of("fake-br")["fields"]
MONTHS: list[str] = lists_of("fake-br")["months"]


def load(bundle: Bundle, folder: str = "full_texts") -> Loaded:
    """One file per text; texts of one number are a pair. Fake ones first, then true ones, each by
    number.
    """
    facts = {
        key: PurePosixPath(name) for key, name in members(bundle, "full_texts", "-meta-information")
    }
    rows = []
    for (label, number), name in members(bundle, folder, ""):
        about = facts.get((label, number))
        rows.append(
            record(label, number, bundle.text(name), bundle.text(str(about)) if about else "")
        )
    if not rows:
        bundle.one(f"{folder}/fake/*.txt")  # raises, and says what is there
    bare = sum(row["meta"] is None for row in rows)
    notes = (
        [f"{several(bare, 'text')} without a file of meta information: no author, address or date."]
        if bare
        else []
    )
    return Loaded(record_rows(rows), notes=notes)


def members(bundle: Bundle, folder: str, suffix: str) -> Iterator[tuple[tuple[str, int], str]]:
    for label in ("fake", "true"):
        for name in bundle.match(f"{folder}/{label}{suffix}/*.txt"):
            number = re.match(r"\d+", PurePosixPath(name).name)
            if number:
                yield (label, int(number[0])), name


def record(label: str, number: int, text: str, facts: str) -> JsonObject:
    values = [line.strip() for line in facts.splitlines()]
    stated = {f: v for f, v in zip(FIELDS, values, strict=False) if v not in ("", "None")}
    host = re.match(r"https?://(?:www\.)?([^/?#:]+)", stated.get("link", ""))
    when = day(stated.get("date", ""))
    return {
        "id": f"fake-br-{label}-{number}",
        "text": text.strip(),
        "label_raw": label,
        "language": "por",
        "date": when,
        "date_source": "meta file" if when else None,
        "date_raw": None if when else stated.get("date"),
        "author": stated.get("author"),
        "source": host[1] if host else None,
        "url": stated.get("link"),
        "topic": stated.get("category"),
        "group": f"pair-{number}",
        "meta": meta_json({f: stated.get(f) for f in ("date", *FIELDS[4:])}),
    }


@cache
def day(written: str) -> datetime | None:
    """The day, from 2017-11-30, 13/12/2017, 28/2/18, 06/02/2017 18h43 or 24 de julho de 2017.

    The hour is left out: only true articles have one, so it would tell the classes apart. A year
    such as 0201 is a slip of the source and gives no date.
    """
    worded = re.match(r"(\d{1,2}) de (\w+) de (\d{4})$", written)
    if worded and worded[2].lower() in MONTHS:
        written = f"{worded[1]}/{MONTHS.index(worded[2].lower()) + 1}/{worded[3]}"
    match = re.match(r"\d{4}-\d\d-\d\d$|\d{1,2}/\d{1,2}/(\d{4}|\d\d)\b", written)
    when = moment(match[0], "%d/%m/%Y", "%d/%m/%y") if match else None
    return when if when is not None and when.year > 1990 else None
