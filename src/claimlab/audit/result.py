"""What an audit found, as data: what its pages show and its files hold.

Audits read back from a report folder: `audit.json` holds the findings, everything else there is
a view of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from pydantic import BaseModel, ConfigDict

from claimlab.audit.advice import Conclusion, conclude, next_step
from claimlab.audit.ladder import Grounds
from claimlab.audit.remedy import RemedyCase, SuggestedCall
from claimlab.core.errors import DataError
from claimlab.core.finding import VERDICTS, Baselines, Finding
from claimlab.core.shown import Shown
from claimlab.core.stats.interval import ends_of
from claimlab.core.toml_file import read_saved
from claimlab.core.types import JsonObject

WRITTEN = (
    *("dataset", "digest", "card", "protocol", "target", "seed", "records", "labelled"),
    *("folder", "split", "rule"),
)  # the fields of an audit that its file holds as they are
MEASURED = ("difference", "p", "p_adjusted", "permutations", "n", "why")
DERIVED = ("counts", "conclusion", "findings", "examples")
FILE = "audit.json"
TODO = "Make one with: claimlab audit DIR -o FOLDER"
PER_FINDING = 12


class Example(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    label: str | None = None
    split: str | None = None
    text: str | None = None


@dataclass(repr=False)
class Audit(Shown):
    """The findings on one dataset, with what is needed to say what they are about."""

    dataset: str
    digest: str
    protocol: str
    target: str
    seed: int
    records: int
    labelled: int
    findings: list[Finding] = field(default_factory=list)
    card: str | None = None
    # the rows that findings point at, cut short
    examples: list[Example] = field(default_factory=list)
    rule: str = ""  # how scores became verdicts, in words
    # the name of the dataset's folder, never its path: for commands that are run beside it
    folder: str = ""
    split: bool = False  # whether the dataset has a train and a test part
    # what was tried beside the checks; null where nothing was
    grounds: Grounds | None = None

    def counts(self) -> dict[str, int]:
        return {v: sum(f.verdict == v for f in self.findings) for v in VERDICTS}

    @property
    def conclusion(self) -> Conclusion:
        """What it comes to, and what to do about it."""
        return self.concluded()

    def concluded(self, folder: str | None = None) -> Conclusion:
        """The conclusion, with commands for the dataset at `folder`; by default, where its folder
        is beside.
        """
        return conclude(self.findings, self._case(folder), self.grounds)

    def next_step(self, folder: str | None = None) -> SuggestedCall:
        """What comes after this audit: no step helps where the label is a column."""
        case = self._case(folder)
        column = None if self.grounds is None else self.grounds.label_column
        return next_step(self.findings, case) if column is None else case.look_at(column.column)

    def _case(self, folder: str | None) -> RemedyCase:
        trials = () if self.grounds is None else self.grounds.splits
        where = folder or self.folder or self.dataset
        return RemedyCase((), where, self.split, self.target, trials)

    def headline(self) -> str:
        counts = ", ".join(f"{n} {verdict}" for verdict, n in self.counts().items() if n)
        return f"of '{self.dataset}': {counts or 'no findings'}"

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self.conclusion._repr_html_()

    @property
    def table(self) -> pl.DataFrame:
        """A row for each finding; scores are shares of 1."""
        rows = [
            {
                **{name: getattr(f, name) for name in ("check", "feature", "verdict", "score")},
                **ends_of(f.interval, "low", "high"),
                **f.baselines.model_dump(),
                **{name: getattr(f, name) for name in MEASURED},
            }
            for f in self.findings
        ]
        numbers = ("score", "low", "high", *Baselines.model_fields, "difference", "p", "p_adjusted")
        types = {
            "feature": pl.String,
            "permutations": pl.Int64,
            **dict.fromkeys(numbers, pl.Float64),
        }
        return pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)

    def worst(self, check: str) -> Finding | None:
        """The most severe finding of a check, which a matrix shows."""
        findings = (f for finding in self.findings for f in finding.every if f.check == check)
        return min(findings, key=lambda f: f.severity, default=None)

    def to_json(self) -> JsonObject:
        return {
            **{name: getattr(self, name) for name in WRITTEN},
            "grounds": self.grounds and self.grounds.model_dump(mode="json"),
            "counts": self.counts(),
            "conclusion": self.concluded().to_json(),
            "findings": [f.model_dump(mode="json") for f in self.findings],
            "examples": [e.model_dump(mode="json") for e in self.examples],
        }

    @classmethod
    def from_json(cls, raw: JsonObject) -> Audit:
        fields = {name: value for name, value in raw.items() if name not in DERIVED}
        findings = [Finding.model_validate(f) for f in raw["findings"]]
        examples = [Example.model_validate(e) for e in raw.get("examples", [])]
        if fields.get("grounds") is not None:
            fields["grounds"] = Grounds.model_validate(fields["grounds"])
        return cls(**fields, findings=findings, examples=examples)


def read_audits(folder: Path) -> list[Audit]:
    """The audits saved in a report folder, or in an `audit.json` itself."""
    file = folder / FILE if folder.is_dir() else folder
    try:
        raw = read_saved(file, "is not a saved audit", TODO)
        return [Audit.from_json(a) for a in raw["audits"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"'{file}' is not a saved audit: {error}.",
            TODO,
        ) from None


def pointed_at(finding: Finding, limit: int = PER_FINDING) -> list[str]:
    """The ids a finding shows first: both sides of its pairs, then the records it names."""
    pairs = [
        i for pair in finding.details.get("pairs", []) for i in (pair["record"], pair["other"])
    ]
    return list(dict.fromkeys([*pairs, *finding.records]))[:limit]
