"""Coverage: how much of its context a claim still carries, and at what length.

The context (the abstract that a seed was drawn from) is cut into units: sentences, or clauses. A
unit is contained when at least half of its content words, numbers and names are in the claim. That
asks for words, not for meaning: a unit said in other words is missed, one denied is found.
`entailed` asks a model instead (judged.py), and is the published way with another model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.evolve.drift.features import Reader

CONTAINED = 0.5
LEAST = 3  # pieces of information; a shorter clause does not count as a unit
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"“(]?[A-Z0-9])")
_CLAUSE = re.compile(
    r"(?<=[,;:])\s+(?=(?:and|but|or|while|which|who|as|with|because|although|so)\b)|[;:]\s+|(?<!\s)\s+[–—]\s+"
)


def units(context: str, *, cut: str = "clauses") -> list[str]:
    """The sentences of a context, or their clauses."""
    sentences = [
        s.strip() for line in context.splitlines() for s in _SENTENCE.split(line) if s.strip()
    ]
    if cut == "sentences":
        return sentences
    return [c.strip(" ,;:") for s in sentences for c in _CLAUSE.split(s) if c.strip(" ,;:")]


def contexts(dataset: Dataset) -> dict[str, str]:
    """Record id to the text of its context: the first piece of evidence that has one."""
    table = dataset.tables.get("evidence")
    if table is None:
        return {}
    rows = table.drop_nulls("text").sort("record_id", "rank", maintain_order=True)
    return dict(
        rows.unique("record_id", keep="first", maintain_order=True)
        .select("record_id", "text")
        .iter_rows()
    )


class Contained:
    """Coverage by words; contexts are cut and read once."""

    def __init__(
        self, reader: Reader | None = None, *, cut: str = "clauses", share: float = CONTAINED
    ) -> None:
        self.reader, self.cut, self.share = reader or Reader(), cut, share
        self._units: dict[str, list[frozenset[str]]] = {}

    def of(self, claim: str, context: str) -> float | None:
        """Share of the context's units that the claim contains; null when the context has none."""
        if context not in self._units:
            each = [self.reader.read(u).units for u in units(context, cut=self.cut)]
            self._units[context] = [u for u in each if len(u) >= LEAST]
        pieces = self._units[context]
        stated = self.reader.read(claim).units
        return (
            sum(len(p & stated) >= self.share * len(p) for p in pieces) / len(pieces)
            if pieces
            else None
        )


def coverage(
    hops: pl.DataFrame, sources: Mapping[str, str], reader: Reader | None = None
) -> pl.DataFrame:
    """Per trace: coverage and length in words of its seed and of its last text; coverage is null
    without a context.
    """
    reader = reader or Reader()
    contained = Contained(reader)
    last = hops.filter(pl.col("hop") == pl.col("hops"))
    rows = []
    for row in last.iter_rows(named=True):
        context = sources.get(row["record_id"])
        texts: Sequence[str | None] = (row["base"], row["output"])
        covered = [contained.of(t, context) if t and context else None for t in texts]
        lengths = [len(reader.read(t).words) if t else None for t in texts]
        rows.append(
            (row["run"], row["trace_id"], row["topic"], row["dimension"], *covered, *lengths)
        )
    named = dict.fromkeys(("run", "trace_id", "topic", "dimension"), pl.String())
    shares = dict.fromkeys(("seed_coverage", "coverage"), pl.Float64())
    schema: dict[str, pl.DataType] = {
        **named,
        **shares,
        **dict.fromkeys(("seed_length", "length"), pl.Int64()),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
