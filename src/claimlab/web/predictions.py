"""Predictions beside the truth, as the evaluation puts them, read once for as long as the run stays
the same.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from urllib.parse import urlencode

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import NotFound
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.scored_run import ScoredRun, open_runs
from claimlab.evaluate.traits import USUAL, trait
from claimlab.web.rows import as_text
from claimlab.web.workspace import Memo, Place

SUBGROUPS = USUAL
MOST_CALLS = 20
_runs, _groups = Memo(8), Memo(32)


@dataclass(frozen=True)
class Scored:
    """`table` has a row per labelled record: id, text, truth, said, answer ("other" and "none"
    beyond the classes), right, confidence (the greatest score), scores, rationale, subgroup."""

    table: pl.DataFrame
    classes: tuple[str, ...]
    answers: frozenset[str]
    detector: str | None
    task: str
    accuracy: float | None
    macro_f1: float | None


def runs_in(place: Place) -> list[ScoredRun]:
    """The runs of the folder: predictions may be of several seeds or systems."""
    return _runs.get(_key(place), lambda: open_runs(Dataset.open(place.folder)))


def run_of(place: Place, part: int = 0) -> ScoredRun:
    runs = runs_in(place)
    if part >= len(runs):
        problem = (
            f"'{place.entry.name}' has no run {part}: it holds {several(len(runs), 'run')},"
            " numbered from 0."
        )
        raise NotFound(problem, "Choose one from its page.")
    return runs[part]


def scored(place: Place, subgroup: str, part: int = 0) -> Scored:
    return _groups.get(
        (_key(place), subgroup, part), lambda: _scored(run_of(place, part), subgroup)
    )


def _key(place: Place) -> tuple[str, ...]:
    files = place.manifest.files if place.manifest else {}
    return (
        place.entry.id,
        *(files.get(f"{name}.parquet", "") for name in ("records", "predictions", "annotations")),
    )


def _scored(run: ScoredRun, subgroup: str) -> Scored:
    from claimlab.evaluate.metric import accuracy_of, macro_f1_of

    table = run.table
    answered = pl.col("said").is_not_null() | pl.col("abstained").is_not_null()
    answer = (
        pl.when(pl.col("said").is_in(run.classes)).then("said").when(answered).then(pl.lit("other"))
    )
    shown = table.select(
        "id",
        "text",
        "truth",
        "said",
        "rationale",
        "scores",
        answer.otherwise(pl.lit("none")).alias("answer"),
        (pl.col("said") == pl.col("truth")).fill_null(False).alias("right"),
    )
    shown = shown.with_columns(
        pl.Series(
            "confidence", [_greatest(s) for s in table["scores"].to_list()], dtype=pl.Float64
        ),
    )
    values = (
        trait(table, subgroup)
        .group_by("row", maintain_order=True)
        .agg(pl.col("value").alias("subgroup"))
    )
    shown = (
        shown.with_row_index("row")
        .join(values, on="row", how="left", maintain_order="left")
        .drop("row")
    )
    shown = shown.with_columns(pl.col("subgroup").fill_null([]))
    return Scored(
        shown,
        run.classes,
        frozenset(shown["answer"].unique().to_list()),
        run.about.detector,
        run.task.name,
        *((accuracy_of(run.answers), macro_f1_of(run.answers)) if table.height else (None, None)),
    )


def tally(values: pl.Series) -> list[tuple[str | None, int | None]]:
    """The most frequent values."""
    counts = (
        values.value_counts()
        .rename({values.name: "value"})
        .sort(["count", "value"], descending=[True, False])
    )
    return [(value, n) for value, n in counts.head(50).iter_rows()]


def prediction_link(base: str, id: str, part: int) -> str:
    return f"{base}/prediction?{urlencode({'id': id, **({'part': part} if part else {})})}"


def prediction_of(
    place: Place, id: str, part: int
) -> tuple[JsonObject, dict[str, float | None], list[JsonObject]]:
    """A labelled record with its answer, the scores, and the evidence that the run kept for it."""
    rows = as_text(run_of(place, part).table.lazy().filter(pl.col("id") == id)).collect().to_dicts()
    if not rows:
        raise NotFound(
            f"The run '{place.entry.name}' has no prediction for '{id[:100]}'.",
            "Choose one from its list.",
        )
    evidence: list[JsonObject] = []
    if place.manifest and "evidence.parquet" in place.manifest.files:
        scan = as_text(
            pl.scan_parquet(place.folder / "evidence.parquet").filter(pl.col("record_id") == id)
        )
        evidence = [
            {k: v for k, v in e.items() if v is not None}
            for e in scan.head(50).collect().to_dicts()
        ]
    return rows[0], _scores(rows[0]["scores"]), evidence


def call_rows(place: Place, text: str | None) -> tuple[list[dict[str, str]], str]:
    """Recorded calls of models that hold the text of the record: what was asked, and what was
    answered.
    """
    file = place.folder.parent / f"{place.folder.name}.cache"
    files = sorted(file.glob("*.sqlite")) if file.is_dir() else []
    if not files or not text:
        return [], "No calls of a model are recorded beside this run."
    needle = json.dumps(text)[1:-1]  # as the recording writes it
    calls: list[dict[str, str]] = []
    for one in files:
        try:
            with sqlite3.connect(f"file:{one}?mode=ro", uri=True, timeout=5) as db:
                rows = db.execute(
                    "SELECT kind, question, answer FROM calls WHERE instr(question, ?) LIMIT ?",
                    (needle, MOST_CALLS),
                ).fetchall()
        except sqlite3.DatabaseError as error:
            return calls, f"The recording '{one.name}' cannot be read: {error}."
        calls += [
            {"kind": kind, "prompt": _readable(question), "reply": _readable(answer)}
            for kind, question, answer in rows
        ]
    return calls, "" if calls else "No recorded call holds the text of this record."


def _readable(text: str) -> str:
    """A recorded question or answer: the messages of a model call as they were written, anything
    else as JSON.
    """
    try:
        content = json.loads(text)
    except ValueError:
        return text
    if isinstance(content, dict) and isinstance(content.get("messages"), list):
        messages = [m for m in content["messages"] if isinstance(m, dict)]
        return "\n\n".join(f"[{m.get('role')}]\n{m.get('content')}" for m in messages)
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        return str(content["text"])
    return json.dumps(content, ensure_ascii=False, indent=1)


def _scores(text: str | None) -> dict[str, float | None]:
    try:
        scores = json.loads(text) if text else {}
        return {str(k): None if v is None else float(v) for k, v in scores.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def _greatest(text: str | None) -> float | None:
    return max((v for v in _scores(text).values() if v is not None), default=None)
