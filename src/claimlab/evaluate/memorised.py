"""What a language model may have known of the records of a run, and its scores without them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

import polars as pl

from claimlab.claims.contamination.result import CLEAN, KNOWN, Contamination, text_keys
from claimlab.core.errors import DataError
from claimlab.core.stats.interval import Resampling
from claimlab.detect.detector import DETECTORS
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.slices import SliceEstimate, contrast

STATUS_COLUMN = "contamination"


@dataclass(frozen=True)
class Beside:
    """`results` are the verdicts by measurement; the counts are of the records that were scored,
    and `difference` is the macro-F1 on contaminated records less that on clean ones."""

    results: dict[str, str]
    model: str | None  # that the report is about, where one was asked
    contaminated: int
    clean: int
    unmeasured: int
    difference: SliceEstimate | None

    def sentence(self) -> str:
        verdicts = ", ".join(
            f"{name} {verdict.replace('-', ' ')}" for name, verdict in self.results.items()
        )
        counts = (
            f"{self.contaminated:,} contaminated, {self.clean:,} clean, {self.unmeasured:,} not"
            " measured"
        )
        if self.difference is None:
            less = (
                "The scores on contaminated and clean records are not compared: too few of either"
            )
        else:
            ends = self.difference.interval
            span = f" (95% interval {100 * ends[0]:+.1f} to {100 * ends[1]:+.1f})" if ends else ""
            points = f"{100 * self.difference.value:+.1f} points{span}"
            less = f"Macro-F1 on contaminated records less that on clean ones: {points}"
        about = f" of {self.model}" if self.model else ""
        return f"Contamination{about} ({verdicts}): {counts}. {less}."


def asks_model(run: ScoredRun) -> bool:
    """Whether the answers come from a language model, or from elsewhere, where it may be one."""
    name = run.about.detector
    return name is None or name not in DETECTORS or "model" in DETECTORS.get(name).handles


def mark(run: ScoredRun, report: Contamination) -> ScoredRun:
    """The run with the status of its records in a column; a text that has changed since is not
    measured.
    """
    if not asks_model(run):
        return run
    keyed = run.table.with_columns(text_keys(run.table))
    status = report.records.select("id", "text_sha256", pl.col("status").alias(STATUS_COLUMN))
    table = keyed.join(status, on=["id", "text_sha256"], how="left", maintain_order="left").drop(
        "text_sha256"
    )
    if not run.table["id"].is_in(report.records["id"].implode()).any():
        raise DataError(
            f"The contamination report on '{report.dataset}' is about none of the records of the"
            f" run '{run.name}'.",
            "Give the report that was made on the dataset of the run.",
        )
    return replace(run, table=table)


def beside(run: ScoredRun, report: Contamination, **how: Unpack[Resampling]) -> Beside | None:
    """What to show next to the score of a run that was marked; null for one that asks no model."""
    if STATUS_COLUMN not in run.table.columns:
        return None
    status = run.table[STATUS_COLUMN]
    model = report.settings.get("model")
    return Beside(
        {f.check: f.verdict for f in report.findings},
        None if model is None else str(model),
        int((status == KNOWN).sum()),
        int((status == CLEAN).sum()),
        status.null_count(),
        contrast(run, STATUS_COLUMN, KNOWN, CLEAN, **how),
    )
