"""Coverage: how much of its context a claim still carries, and at what length.

The context (the abstract that a seed was drawn from) is cut into units, its clauses. A unit is
contained when at least half of its content words, numbers and names are in the claim. That asks for
words, not for meaning: a unit said in other words is missed, one denied is found. `entailed` asks a
model instead, and is the published way with another model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab_simulate.evolve.drift.features import read
from claimlab_simulate.evolve.hop import evidence_texts

CONTAINED = 0.5
FEWEST_PIECES = 3  # pieces of information; a shorter clause does not count as a unit
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"“(]?[A-Z0-9])")
_CLAUSE = re.compile(
    r"(?<=[,;:])\s+(?=(?:and|but|or|while|which|who|as|with|because|although|so)\b)|[;:]\s+|(?<!\s)\s+[–—]\s+"
)


def units(context: str) -> list[str]:
    """The clauses of a context."""
    sentences = [sentence for line in context.splitlines() for sentence in _SENTENCE.split(line)]
    clauses = [
        clause.strip(" ,;:") for sentence in sentences for clause in _CLAUSE.split(sentence.strip())
    ]
    return [clause for clause in clauses if clause]


def contexts(dataset: Dataset) -> dict[str, str]:
    """Record id to the text of its context: the first piece of evidence that has one."""
    return {record: texts[0] for record, texts in evidence_texts(dataset).items()}


def contained(claim: str, context: str) -> float | None:
    """Share of the context's units that the claim contains; null when the context has none."""
    each = [read(unit).units for unit in units(context)]
    pieces = [unit for unit in each if len(unit) >= FEWEST_PIECES]
    stated = read(claim).units
    found = sum(len(piece & stated) >= CONTAINED * len(piece) for piece in pieces)
    return found / len(pieces) if pieces else None


def coverage(hops: pl.DataFrame, sources: Mapping[str, str]) -> pl.DataFrame:
    """Per trace: coverage and length in words of its seed and of its last text; coverage is null
    without a context.
    """
    last = hops.filter(pl.col("hop") == pl.col("hops"))
    names = ("run", "trace_id", "topic", "dimension")
    rows = []
    for *about, record, base, end in last.select(*names, "record_id", "base", "output").iter_rows():
        context, texts = sources.get(record), (base, end)
        covered = [contained(t, context) if t and context else None for t in texts]
        lengths = [len(read(t).words) if t else None for t in texts]
        rows.append((*about, *covered, *lengths))
    schema: dict[str, pl.DataType] = {
        **dict.fromkeys(names, pl.String()),
        **dict.fromkeys(("seed_coverage", "coverage"), pl.Float64()),
        **dict.fromkeys(("seed_length", "length"), pl.Int64()),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
