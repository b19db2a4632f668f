"""What there is to judge: each prediction of a run beside the fact-checking article on its record.

The article is from the run's own evidence, or from a table that the user passes in. A search finds
fact-checks of other claims too. An article on something else says nothing about a rationale, so
only one that corresponds to the record's claim is read. Records that have none, or only such
others, are counted apart.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.types import JsonObject
from claimlab.enrich.correspondence import corresponds, matches
from claimlab.files.read import user_table
from claimlab.tasks import Task

IDS = ("record_id", "id")
TEXTS = ("article", "text", "article_text")


@dataclass(frozen=True)
class Articles:
    """By record id. `unrelated` are the records for which fact-checks were found, but none of their
    own claim.
    """

    texts: dict[str, str] = field(default_factory=dict)
    unrelated: frozenset[str] = frozenset()


def articles_in(run: Dataset) -> Articles:
    """The first fact-check in the evidence of each record that corresponds to its claim."""
    table = run.tables.get("evidence")
    if table is None:
        return Articles()
    checked = pl.col("rating").is_not_null() | pl.col("verdict").is_not_null()
    if "guard_factcheck" in table.columns:
        checked |= pl.col("guard_factcheck").fill_null(False)
    claims = _claims(run)
    texts: dict[str, str] = {}
    seen: set[str] = set()
    for piece in (
        table.filter(checked)
        .sort("rank", maintain_order=True, nulls_last=True)
        .iter_rows(named=True)
    ):
        record, words = piece["record_id"], [str(piece[c]) for c in ("title", "text") if piece[c]]
        if not words or record in texts:
            continue
        seen.add(record)
        # as `enrich` marked it; evidence that came with the dataset belongs to its record, and what
        # a detector found by searching is compared with what the record claims
        answers_claim = piece.get("corresponds")
        if answers_claim is None:
            answers_claim = piece["query"] is None or any(
                corresponds(matches(claim, [" ".join(words)], language)[0])
                for claim, language in claims.get(record, ())
            )
        if answers_claim:
            words += [f"The fact-check rates it: {piece['rating']}."] if piece["rating"] else []
            texts[record] = "\n".join(words)
    return Articles(texts, frozenset(seen - set(texts)))


def read_articles(file: Path) -> Articles:
    """Articles from a table (CSV, JSON lines, Parquet, Excel) with the columns record_id and
    article: its author says that they correspond."""
    frame = user_table(file, *IDS, *TEXTS)
    ids, texts = column(frame, IDS, file), column(frame, TEXTS, file)
    rows = frame.select(ids, texts).drop_nulls().unique(ids, keep="first", maintain_order=True)
    return Articles(dict(rows.iter_rows()))


def column(frame: pl.DataFrame, names: Sequence[str], file: Path) -> str:
    """The first of `names` that the table has."""
    for name in names:
        if name in frame.columns:
            return name
    raise DataError(
        f"'{file.name}' has no column '{names[0]}' (it has: {', '.join(frame.columns)}).",
        "Name it so in the file.",
    )


def _claims(run: Dataset) -> dict[str, list[tuple[str, str | None]]]:
    """What each record claims, in its own words and as it was extracted, with the language."""
    rows = run.records.select("id", "text", "language").drop_nulls("text")
    claims = {i: [(text, language)] for i, text, language in rows.iter_rows()}
    extracted = run.tables.get("claims")
    if extracted is not None:
        for record, text in extracted.select("record_id", "text").drop_nulls().iter_rows():
            if record in claims:
                claims[record].append((text, claims[record][0][1]))
    return claims


@dataclass(frozen=True)
class RationaleCase:
    """One prediction. `left_out` says why it cannot be judged: failed, an abstention, no-rationale,
    no-article, or other-articles (fact-checks were found, but of other claims)."""

    record_id: str
    statement: str
    label: str | None
    truth: str | None
    rationale: str | None
    article: str | None
    left_out: str | None

    @property
    def correct(self) -> bool | None:
        """By the label alone; null where there is no label or no truth to compare."""
        return None if self.label is None or self.truth is None else self.label == self.truth


def read_cases(run: Dataset, task: Task, articles: Articles) -> list[RationaleCase]:
    """A case for every prediction of `run`, in its order."""
    table = run.tables.get("predictions")
    if table is None:
        raise DataError(
            f"'{run.name}' holds no predictions.", "Make a run first: claimlab detect DIR -o RUN"
        )
    truths = run.records.select("id", "text", truth=task.labels(run.records))
    joined = table.join(
        truths, left_on="record_id", right_on="id", how="left", maintain_order="left"
    )
    return [_case(row, articles) for row in joined.iter_rows(named=True)]


def _case(row: JsonObject, articles: Articles) -> RationaleCase:
    article = articles.texts.get(row["record_id"])
    notes = json.loads(row["meta"]) if row["meta"] else {}
    label, rationale = row["label"], row["rationale"]
    left_out = None
    if notes.get("abstained"):
        left_out = str(notes["abstained"])
    elif label is None:
        left_out = "failed"
    elif not (rationale or "").strip():
        left_out = "no-rationale"
    elif not (article or "").strip():
        left_out = "other-articles" if row["record_id"] in articles.unrelated else "no-article"
    return RationaleCase(
        row["record_id"], row["text"] or "", label, row["truth"], rationale, article, left_out
    )


def left_out(cases: Sequence[RationaleCase]) -> dict[str, int]:
    """How many cases cannot be judged, by reason."""
    return dict(sorted(Counter(c.left_out for c in cases if c.left_out).items()))
