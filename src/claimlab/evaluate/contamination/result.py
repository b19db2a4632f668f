"""What is known of a model and a test set, and the same read back from a saved report."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several

FILE, TABLE, KIND = "contamination.json", "contamination.parquet", "contamination report"
KNOWN, CLEAN = "contaminated", "clean"
TITLES = {
    "overlap": "Word sequences in corpora",
    "cutoff": "Dates and the cut-off",
    "completion": "Completion by the model",
}


@dataclass(frozen=True, repr=False)
class Contamination(Shown):
    """`findings` has one for each measurement, `records` a row for each record of the test set,
    with `status`.
    """

    dataset: str
    digest: str
    split: str | None
    findings: list[Finding]
    records: pl.DataFrame
    settings: JsonObject = field(default_factory=dict)

    @property
    def table(self) -> pl.DataFrame:
        return self.records

    def __getitem__(self, check: str) -> Finding:
        """The finding of one measurement: "overlap", "cutoff" or "completion"."""
        return next(f for f in self.findings if f.check == check)

    def headline(self) -> str:
        results = ", ".join(f"{f.check} {f.verdict}" for f in self.findings)
        return f"of '{self.dataset}', {several(len(self.records), 'record')}: {results}"

    def counts(self) -> dict[str, int]:
        """Records by status; "not measured" are those that nothing was measured of."""
        status = self.records["status"]
        named = {name: int((status == name).sum()) for name in (KNOWN, CLEAN)}
        return {**named, "not measured": status.null_count()}

    @property
    def worst(self) -> Finding:
        return min(self.findings, key=lambda f: VERDICTS.index(f.verdict))

    def to_json(self) -> JsonObject:
        return {
            "tool": f"claimlab {__version__}",
            "dataset": self.dataset,
            "digest": self.digest,
            "split": self.split,
            "settings": self.settings,
            "counts": self.counts(),
            "findings": [f.model_dump(mode="json") for f in self.findings],
        }


def with_status(records: pl.DataFrame) -> pl.DataFrame:
    """A record is contaminated if a measurement says so, clean if one was made and none says so,
    else null.
    """
    measured = [pl.col(c) for c in ("contaminated", "completed") if c in records.columns]
    if not measured:
        return records.with_columns(pl.lit(None, pl.String).alias("status"))
    known, any_measured = (
        pl.any_horizontal(c.fill_null(False) for c in measured),
        pl.any_horizontal(c.is_not_null() for c in measured),
    )
    status = pl.when(known).then(pl.lit(KNOWN)).when(any_measured).then(pl.lit(CLEAN))
    return records.with_columns(status.alias("status"))


def text_keys(records: pl.DataFrame) -> pl.Series:
    """A short digest of each text: a record is the one that was measured only if it still says the
    same.
    """
    texts = records["text"].to_list()
    keys = [
        None if text is None else hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts
    ]
    return pl.Series("text_sha256", keys, dtype=pl.String)


def read_contamination(folder: str | Path) -> Contamination:
    """A report that `contamination` wrote."""
    place = Path(folder)
    try:
        content = json.loads((place / FILE).read_text(encoding="utf-8"))
        records = pl.read_parquet(place / TABLE)
        findings = [Finding(**finding) for finding in content["findings"]]
        return Contamination(
            content["dataset"],
            content["digest"],
            content["split"],
            findings,
            records,
            content["settings"],
        )
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        todo = "Give a folder that claimlab contamination wrote."
        raise DataError(
            f"'{place}' cannot be read as a contamination report: {error}.", todo
        ) from None
