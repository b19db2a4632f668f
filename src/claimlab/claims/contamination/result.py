"""What is known of a model and a test set, and the same read back from a saved report.

A rate is shown beside its control on the same records: the difference with its interval, and the
verdict that follows (`paired`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.finding import VERDICTS, Finding, Verdict
from claimlab.core.shown import Shown
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.interval import Interval, intervals, wilson
from claimlab.core.stats.rule import Rule
from claimlab.core.stats.scores import Floats
from claimlab.core.tables import read_parquet
from claimlab.core.toml_file import read_saved
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several

RULE = Rule()
PROTOCOL = "contamination"
FILE, TABLE = "contamination.json", "contamination.parquet"
KNOWN, CLEAN, UNKNOWN = "contaminated", "clean", "not measured"
TITLES = {
    "overlap": "Word sequences in corpora",
    "cutoff": "Dates and the cut-off",
    "completion": "Completion by the model",
}


@dataclass(frozen=True)
class Paired:
    """Means over records, each with a 95% interval over whole groups; `p` is of a sign test over
    groups.
    """

    rate: float
    interval: Interval
    control: float
    difference: float
    difference_interval: Interval
    p: float
    verdict: Verdict
    groups: int

    def finding(
        self, check: str, why: str, n: int, details: JsonObject, records: pl.Series
    ) -> Finding:
        """What follows from it; `records` are the ids of those that were found."""
        own = {name: value for name, value in vars(self).items() if name in Finding.model_fields}
        more = {"score": self.rate, "margin": RULE.margin, "records": records.to_list()}
        about = {"check": check, "protocol": PROTOCOL, "why": why, "n": n, "details": details}
        return Finding.model_validate(own | more | about)


def not_measured(check: str, why: str, n: int, details: JsonObject | None = None) -> Finding:
    about = {"check": check, "why": why, "n": n, "details": details or {}}
    return Finding.model_validate({**about, "protocol": PROTOCOL, "verdict": "not-measured"})


def paired(own: Floats, control: Floats, groups: pl.Series, *, seed: int = 0) -> Paired | None:
    """`own` and `control` are values from 0 to 1 of the same records; null with fewer than 20
    groups.
    """
    cluster = codes_of(groups)
    units = len(np.unique(cluster))
    if units < RULE.min_units:
        return None
    pairs, cell = np.unique(np.stack([own, own - control]), axis=1, return_inverse=True)
    rate, difference = intervals(
        cluster,
        np.ravel(cell),
        pairs.shape[1],
        lambda n: n @ pairs.T / n.sum(axis=1)[:, None],
        seed=seed,
    )
    mean, less = float(own.mean()), float((own - control).mean())
    rate, difference = rate or (mean, mean), difference or (less, less)
    if own.min() == own.max():  # resampling equal values says nothing of how sure they are
        rate = wilson(round(mean * units), units) or rate
        shift = mean - less
        difference = (min(difference[0], rate[0] - shift), max(difference[1], rate[1] - shift))
    p = _sign_test(np.bincount(cluster, weights=own - control).astype(np.float64))
    return Paired(
        mean, rate, float(control.mean()), less, difference, p, RULE.verdict(difference, p), units
    )


def _sign_test(differences: Floats) -> float:
    """How likely so many groups above their control would be, if either were as likely."""
    from scipy.special import betainc  # scipy.stats has the test, and takes a second to import

    above, below = int((differences > 1e-12).sum()), int((differences < -1e-12).sum())
    return float(betainc(above, below + 1, 0.5)) if above else 1.0


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
        return {**named, UNKNOWN: status.null_count()}

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
    nothing = pl.lit(False)
    is_contaminated = pl.any_horizontal(nothing, *(c.fill_null(False) for c in measured))
    any_measured = pl.any_horizontal(nothing, *(c.is_not_null() for c in measured))
    status = pl.when(is_contaminated).then(pl.lit(KNOWN)).when(any_measured).then(pl.lit(CLEAN))
    return records.with_columns(status=status)


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
    """What `overlap` wrote of a model and a test set."""
    place = Path(folder)
    todo = "Give a folder that claimlab overlap wrote with a corpus, a cut-off or a model."
    try:
        content = read_saved(place / FILE, "cannot be read as a contamination report", todo)
        records = read_parquet(place / TABLE)
        about = {name: content[name] for name in ("dataset", "digest", "split", "settings")}
        findings = [Finding(**finding) for finding in content["findings"]]
        return Contamination(**about, findings=findings, records=records)
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"'{place}' cannot be read as a contamination report: {error}.", todo
        ) from None
