"""Does another text of the record (a title, an explanation, the evidence) give the label away?

A text model reads each free-text key of `meta` alone. What it finds counts only beyond what the
same model finds in the record's own text: a title that says what its article says is no shortcut,
an explanation of the verdict is one. How much such a text, or the evidence, shares with the
record's own ("begins with the claim") is tested like other features.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl

from claimlab.audit import fair
from claimlab.audit.check import FairCheck, Findings, sampled
from claimlab.audit.checks.table import MIN_SHARE
from claimlab.audit.features import Numbers
from claimlab.audit.judge import stored
from claimlab.audit.subject import Subject
from claimlab.audit.text_model import CHARACTERS_READ, against_baselines, change, text_score
from claimlab.core.columns import OWN_KEYS, meta_values
from claimlab.core.finding import Finding
from claimlab.core.stats.scores import Floats32
from claimlab.text.tokens import spaced

MAX_ROWS = 2_000
SHARED = "what it shares with the text"
COLUMNS = 5  # the most often filled; the others are named
WORDS, DISTINCT = (
    4,
    100,
)  # words of a usual value, and different values: fewer are names and categories
_WORD = re.compile(r"\w+")


class TextColumns(FairCheck):
    name = "text-columns"
    title = "Other texts of the records"
    question = (
        "Does another text of the records, or what it shares with the claim, give the label away?"
    )
    rule = (
        "Fail, warn or pass by the rule of shortcuts; for a text, the same model on the record's"
        " own text is a fourth baseline."
    )

    def measure(self, subject: Subject) -> list[Finding]:
        texts = free_texts(subject.rows)
        often = sorted(texts, key=lambda name: (texts[name].null_count(), name))
        findings = [
            f for name in sorted(often[:COLUMNS]) for f in self._both(subject, name, texts[name])
        ]
        if pieces := stored(subject):
            joined = [
                " ".join(pieces[record]) if record in pieces else None for record in subject.ids
            ]
            findings += self._overlap(subject, "evidence", pl.Series(joined, dtype=pl.String))
        if others := often[COLUMNS:]:
            why = f"Beyond the first {COLUMNS} text columns: {', '.join(others)}."
            findings.append(self.unmeasured(subject, why))
        why = "No record has evidence with a text, or free text in `meta`."
        return findings or [self.absent(subject, why)]

    def _both(self, subject: Subject, name: str, values: pl.Series) -> Findings:
        part = sampled(subject.where(values.is_not_null()), MAX_ROWS)
        reason = fair.unmeasurable(part)
        if reason is not None:
            yield self.unmeasured(part, reason, name)
            return
        yield self._reading(part, name, part.aligned(subject, values))
        yield from self._overlap(subject, name, values)

    def _reading(self, part: Subject, name: str, values: pl.Series) -> Finding:
        column, own = text_score(part, values), text_score(part, part.rows["text"])
        gap, ends = change(part, own, column)
        # Where no alarm is possible, a few permutations will do.
        measured = against_baselines(part, column, close=ends[0] > 0)
        why = f"A text model that reads '{name}' alone"
        if own.score > (measured.baselines.best() or 0.0):
            baselines = measured.baselines.model_copy(update={"own_text": own.score})
            measured = replace(
                measured, baselines=baselines, difference=gap, difference_interval=ends
            )
            why += " (the best baseline is the same model on the record's own text)"
        return self.judged(part, measured, why, feature=name, fact=f"text {name}")

    def _overlap(self, subject: Subject, name: str, values: pl.Series) -> Findings:
        both = (values.is_not_null() & subject.rows["text"].is_not_null()).to_numpy()
        if both.mean() < MIN_SHARE:
            return
        part = sampled(subject.take(np.flatnonzero(both)))
        names, matrix = overlap(part.rows["text"], part.aligned(subject, values))
        means = [
            {
                "feature": feature,
                **part.per_class(matrix[:, i], lambda column: float(column.mean())),
            }
            for i, feature in enumerate(names)
        ]
        yield self.shortcut(
            part,
            Numbers(matrix),
            f"A small tree on how much '{name}' shares with the record's text (begins with it,"
            " contains it, words)",
            f"{name}, {SHARED}",
            fact=f"text {name}",
            details={"means": means},
        )


CHECK = TextColumns()


def free_texts(rows: pl.DataFrame) -> dict[str, pl.Series]:
    """Keys of `meta` that hold free text: several words each, and too many different ones for
    categories.
    """
    columns = {}
    for key, values in meta_values(rows).items():
        filled = values.drop_nulls()
        if (
            key in OWN_KEYS
            or values.dtype != pl.String
            or filled.len() < max(1, MIN_SHARE * rows.height)
        ):
            continue
        words = spaced(filled).str.count_matches(r"\S+").median()
        if (
            isinstance(words, float)
            and words >= WORDS
            and filled.n_unique() > min(DISTINCT, filled.len() / 2)
        ):
            columns[f"meta.{key}"] = values
    return columns


def overlap(texts: pl.Series, others: pl.Series) -> tuple[tuple[str, ...], Floats32]:
    """Whether the longer of the two begins with the shorter, whether it contains it, and which
    share of the words of the shorter it has."""
    rows = []
    for text, other in zip(texts, others, strict=True):
        words = (_WORD.findall(t[:CHARACTERS_READ].lower()) for t in (text, other))
        short, long = sorted(words, key=len)
        shared = len(set(short) & set(long)) / max(1, len(set(short)))
        inside = bool(short) and f" {' '.join(short)} " in f" {' '.join(long)} "
        rows.append((float(bool(short) and long[: len(short)] == short), float(inside), shared))
    return ("begins with it", "contains it", "words shared"), np.array(rows, np.float32).reshape(
        -1, 3
    )
