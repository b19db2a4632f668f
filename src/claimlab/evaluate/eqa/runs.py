"""An evaluation run as the report needs it: predictions beside the truth, a score, and random examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from claimlab.audit.scores import confusion, macro_f1, majority_f1, stratified_f1
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, DataError
from claimlab.core.record import to_side_table
from claimlab.report.excerpt import excerpt
from claimlab.tasks.task import open_task

EXAMPLES = 25  # correct ones, and as many wrong ones
INPUT, RATIONALE = 600, 300  # characters shown


@dataclass(frozen=True)
class Run:
    """`table` has one row per labelled record of the part that was scored: its text, truth, and what the run said."""

    name: str
    dataset: str
    digest: str
    split: str | None
    table: pl.DataFrame
    strangers: int  # predictions for records that the dataset does not hold
    unlabelled: int  # records of the part without a usable label
    repeated: int  # predictions beyond the first for one record
    untouched: int  # labelled records without a prediction, left out because no split was named
    classes: tuple[str, ...]
    correct: list[dict[str, Any]] = field(default_factory=list)
    wrong: list[dict[str, Any]] = field(default_factory=list)

    @property
    def answered(self) -> int:
        return int(self.table["said"].is_not_null().sum())

    @property
    def hits(self) -> int:
        return int((self.table["said"] == self.table["truth"]).fill_null(False).sum())

    def scores(self) -> dict[str, float]:
        """Accuracy and macro-F1 over every labelled record, one without an answer counted as wrong; and baselines.
        Nothing when no record is labelled."""
        if not self.table.height:
            return {}
        truth = self.table["truth"].replace_strict({c: i for i, c in enumerate(self.classes)}, return_dtype=pl.Int64)
        said = self.table["said"].replace_strict(
            {c: i for i, c in enumerate(self.classes)}, default=len(self.classes), return_dtype=pl.Int64
        )
        k = len(self.classes)
        other = said.fill_null(k).to_numpy()
        counts = confusion(truth.to_numpy(), other, k + 1)
        per_class = np.bincount(truth.to_numpy(), minlength=k)
        # The column of other answers costs recall; it is no class of its own.
        hits = np.diagonal(counts)[:k]
        size = counts.sum(axis=1)[:k] + counts.sum(axis=0)[:k]
        f1 = float(np.mean(2 * hits / np.maximum(size, 1)))
        return {
            "accuracy": self.hits / max(1, self.table.height),
            "macro_f1": f1 if (other == k).any() else float(macro_f1(counts[:k, :k])),
            "majority_f1": majority_f1(per_class),
            "stratified_f1": stratified_f1(per_class),
        }


@dataclass(frozen=True)
class Scoring:
    """What a study says of its runs: what is predicted, in which part, and the seed of the drawn examples."""

    target: str
    split: str | None
    seed: int


def read_runs(
    name: str, path: Path, dataset: Dataset | None, scoring: Scoring, known: Sequence[Dataset] = ()
) -> list[Run]:
    """The runs in a dataset folder or a Parquet file: one for each value of the column `run`.

    `known` are the study's datasets: a run on a part of one of them is a run on it.
    """
    predictions, records = _open(name, path, dataset)
    digest = home_of(records, known)
    names = predictions["run"].fill_null("").unique().sort().to_list()
    out = []
    for run in names:
        mine = predictions.filter(pl.col("run").fill_null("") == run)
        title = name if len(names) == 1 else f"{name}: {run or 'without a name'}"
        out.append(_run(title, mine, records, digest, scoring))
    return out


def home_of(part: Dataset, known: Sequence[Dataset]) -> str:
    """The digest of the dataset that `part` is, or is a part of (same ids, texts and verdicts); else its own."""
    same = ["id", "text", "veracity"]
    for whole in known:
        if part.digest() == whole.digest():
            break
        if not part.records.join(whole.records, on=same, how="anti", nulls_equal=True).height:
            return whole.digest()
    return part.digest()


def _open(name: str, path: Path, dataset: Dataset | None) -> tuple[pl.DataFrame, Dataset]:
    if path.is_dir():
        folder = Dataset.open(path)
        if "predictions" not in folder.tables:
            raise DataError(
                f"The run '{name}' at '{path}' has no table of predictions.", "Point at a folder that has one."
            )
        return to_side_table("predictions", folder.tables["predictions"]), dataset or folder
    if dataset is None:
        raise DataError(
            f"The run '{name}' is a file without records.", 'Say whose predictions they are: dataset = "DIR"'
        )
    try:
        return to_side_table("predictions", pl.read_parquet(path)), dataset
    except ClaimlabError:
        raise
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"The predictions '{path}' cannot be read: {error}.", "Check the path and the format."
        ) from None


def _run(name: str, predictions: pl.DataFrame, dataset: Dataset, digest: str, scoring: Scoring) -> Run:
    part = _part(dataset, scoring)
    first = predictions.drop_nulls("record_id").unique("record_id", keep="first", maintain_order=True)
    classes = tuple(sorted(part["truth"].drop_nulls().unique().to_list()))
    plain = {c.strip().lower(): c for c in classes}
    said = pl.col("label").str.strip_chars().str.to_lowercase().replace(plain).alias("said")
    answers = first.select(pl.col("record_id").alias("id"), said, "scores", "rationale")
    labelled = part.drop_nulls("truth")
    # Without a named split, what was predicted for says what was meant; with one, a missing answer is a wrong one.
    table = labelled.join(answers, on="id", how="left" if scoring.split is not None else "inner", maintain_order="left")
    run = Run(
        name=name,
        dataset=dataset.name,
        digest=digest,
        split=scoring.split,
        table=table,
        strangers=first.join(dataset.records.select(record_id="id"), on="record_id", how="anti").height,
        unlabelled=int(part["truth"].null_count()),
        repeated=predictions.height - first.height,
        untouched=labelled.height - table.height,
        classes=classes,
    )
    run.correct.extend(_draw(table.filter(pl.col("said") == pl.col("truth")), scoring.seed))
    run.wrong.extend(_draw(table.filter(pl.col("said") != pl.col("truth")), scoring.seed))
    return run


def _part(dataset: Dataset, scoring: Scoring) -> pl.DataFrame:
    """The records of the part in question with their truth: null where they have none of the target's labels."""
    truth = open_task(scoring.target).labels(dataset.records)
    part = dataset.records.select("id", "split", "text").with_columns(truth.alias("truth"))
    if scoring.split is None:
        return part
    part = part.filter(pl.col("split") == scoring.split)
    if not part.height:
        raise DataError(
            f"'{dataset.name}' has no records in the split '{scoring.split}'.", "Check split in the study file."
        )
    return part


def _draw(rows: pl.DataFrame, seed: int) -> list[dict[str, Any]]:
    """`EXAMPLES` rows by lot: input, output and truth."""
    order = np.random.default_rng(seed).permutation(rows.height)[:EXAMPLES]
    drawn = rows.sort("id")[order.tolist()]
    return [
        {
            "id": row["id"],
            "input": None if row["text"] is None else excerpt(row["text"], INPUT),
            "output": row["said"],
            "truth": row["truth"],
            "scores": None if row["scores"] is None else excerpt(row["scores"], 200),
            "rationale": None if row["rationale"] is None else excerpt(row["rationale"], RATIONALE),
        }
        for row in drawn.iter_rows(named=True)
    ]
