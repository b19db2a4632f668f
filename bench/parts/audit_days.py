"""How many records the check `time-bound` reports for want of a date, and some of them to read:
a text may say "today" and hold on any day all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from harness import shared

from claimlab.audit.run import audit
from claimlab.catalog.load import load
from claimlab.core import packaged
from parts.shares import share

SETS = (
    "liar",
    "covid19-fake-news",
    "coaid",
    "covid-fact",
    "climate-fever",
    "check-covid",
    "ct-fan",
    "covid19-br",
    "fake-br",
    "factck-br",
)
AROUND = 140  # characters of a text on each side of the first word that points at a day


def days(data: Path, seed: int, examples: int) -> Iterator[list[dict[str, Any]]]:
    """What the check says of each dataset. Examples are printed for reading and kept nowhere."""
    for name in SETS:
        dataset = load(name, shared(f"{name}.zip", data))
        [finding] = audit(dataset, checks=["time-bound"], debug=True).findings
        texts = dataset.records.filter(pl.col("id").is_in(finding.records)).sort("id")
        chosen = np.random.default_rng(seed).permutation(texts.height)[:examples]
        for at in sorted(chosen.tolist()):
            row = texts.row(at, named=True)
            print(f"{name} {row['id']}: {_around(row['text'], row['language'])}")
        found = finding.details
        yield [
            {"key": name, "set": name, "verdict": finding.verdict, "n": finding.n}
            | {part: found[part] for part in ("time_bound", "undated")}
        ]


def _around(text: str, language: str | None) -> str:
    words = packaged.toml("claimlab.audit", "ambiguity.toml")["missing-time"]
    found = re.search("|".join(words.get(language or "eng", words["eng"])), text, re.IGNORECASE)
    start, end = found.span() if found else (0, 0)
    marked = f"{text[max(0, start - AROUND) : start]}[{text[start:end]}]{text[end : end + AROUND]}"
    return " ".join(marked.split())


def show_days(rows: list[dict[str, Any]]) -> None:
    print("| dataset | records | point at a day | of them without any date | verdict |")
    print("|---|---|---|---|---|")
    for row in rows:
        undated = share(row["undated"], row["n"])
        counts = f"{row['n']:,} | {row['time_bound']:,} | {undated}"
        print(f"| {row['set']} | {counts} | {row['verdict']} |")
