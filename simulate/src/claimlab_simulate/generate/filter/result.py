"""What the filter found: the samples with their verdicts, and the dataset of those that passed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.shown import Shown
from claimlab.core.stats.interval import wilson
from claimlab.core.types import JsonObject
from claimlab_simulate.generate.filter.batch import SampleText
from claimlab_simulate.generate.filter.verdict import (
    FAILED,
    PASSED,
    UNDECIDED,
    QualityGate,
    SampleVerdict,
)

SAMPLE_FACTS = ("veracity", "language", "model", "degree")  # facts of its first text
SAMPLES_SCHEMA = {
    **dict.fromkeys(("sample", "record_id", "verdict", "stage", "reason"), pl.String),
    "measured": pl.Int32,
    **dict.fromkeys(("not_measured", *SAMPLE_FACTS), pl.String),
}
QUALITY_SCHEMA = {
    **dict.fromkeys(("record_id", "sample", "metric", "outcome"), pl.String),
    "value": pl.Float64,
    "reason": pl.String,
}


@dataclass(frozen=True, repr=False)
class Filtered(Shown):
    """The dataset of the samples that passed, every verdict, and the figures of the report."""

    dataset: Dataset
    texts: Sequence[SampleText]
    gates: Sequence[QualityGate]
    verdicts: Sequence[SampleVerdict]
    agreement: list[JsonObject] = field(default_factory=list)
    judge: JsonObject | None = None

    @property
    def table(self) -> pl.DataFrame:
        """A row for each sample."""
        rows = [
            {
                "sample": verdict.sample,
                "record_id": verdict.first.id,
                "verdict": verdict.verdict,
                "stage": verdict.stage,
                "reason": "; ".join(verdict.reasons) or None,
                "measured": verdict.measured,
                "not_measured": ", ".join(verdict.unmeasured) or None,
                **{name: getattr(verdict.first, name) for name in SAMPLE_FACTS},
            }
            for verdict in self.verdicts
        ]
        return pl.DataFrame(rows, schema=SAMPLES_SCHEMA)

    def readings(self) -> pl.DataFrame:
        """A row for each text and metric that applies to it."""
        rows = [
            (text.id, text.sample, gate.name, reading.outcome, reading.value, reading.reason)
            for gate in self.gates
            for text, reading in zip(self.texts, gate.readings, strict=True)
            if reading.outcome != "does not apply"
        ]
        return pl.DataFrame(rows, schema=QUALITY_SCHEMA, orient="row")

    def count(self, verdict: str) -> int:
        return sum(v.verdict == verdict for v in self.verdicts)

    def headline(self) -> str:
        counts = ", ".join(f"{self.count(v):,} {v}" for v in (PASSED, FAILED, UNDECIDED))
        return f"'{self.dataset.name}': {len(self.verdicts):,} samples: {counts}"

    def funnel(self) -> list[tuple[str, int]]:
        """How many samples were left after each stage. What was not measured does not narrow it:
        see `unmeasured`.
        """
        left = len(self.verdicts)
        rows = [("generated", left)]
        stages = {
            "defects": "free of defects",
            "judge": "passed the judge",
            "automatic": "passed the metrics",
        }
        for stage, words in stages.items():
            if any(gate.stage == stage for gate in self.gates):
                left -= sum(v.verdict == FAILED and v.stage == stage for v in self.verdicts)
                rows.append((words, left))
        return [*rows, ("passed", self.count(PASSED))]

    def by_metric(self) -> list[JsonObject]:
        """For each gate and veracity: samples that passed and failed, and those of which it could
        say nothing.
        """
        out = []
        for gate in self.gates:
            votes: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
            for text, reading in zip(self.texts, gate.readings, strict=True):
                votes[text.veracity or "unknown"][reading.outcome].add(text.sample)
            for veracity, outcomes in sorted(votes.items()):
                failed = outcomes["failed"]
                passed = outcomes["passed"] - failed
                blank = (outcomes["not measured"] | outcomes["error"]) - failed - passed
                others = outcomes["does not apply"] - failed - passed - blank
                out.append(
                    {
                        "metric": gate.name,
                        "stage": gate.stage,
                        "dimension": gate.dimension,
                        "veracity": veracity,
                        "passed": len(passed),
                        "failed": len(failed),
                        "not_measured": len(blank),
                        "does_not_apply": len(others),
                        "errors": len(outcomes["error"]),
                        "gate": gate.gate,
                        **share(len(passed), len(passed | failed)),
                    }
                )
        return out

    def by_dimension(self) -> list[JsonObject]:
        """For each dimension and veracity: samples of which it was measured, and how many had no
        gate fail in it.
        """
        samples: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
        for gate in self.gates:
            for text, reading in zip(self.texts, gate.readings, strict=True):
                if gate.gate and reading.outcome in ("passed", "failed"):
                    passes = samples[gate.dimension, text.veracity or "unknown"]
                    passes[text.sample] = (
                        passes.get(text.sample, True) and reading.outcome == "passed"
                    )
        return [
            {
                "dimension": d,
                "veracity": v,
                "measured": len(passes),
                "passed": sum(passes.values()),
                **share(sum(passes.values()), len(passes)),
            }
            for (d, v), passes in sorted(samples.items())
        ]

    def retention(self, of: str) -> list[JsonObject]:
        """Share of samples that passed, by a fact of theirs: language, model, degree or
        veracity.
        """
        every: Counter[str] = Counter()
        passed: Counter[str] = Counter()
        for verdict in self.verdicts:
            name = str(getattr(verdict.first, of) or "not stated")
            every[name] += 1
            passed[name] += verdict.verdict == PASSED
        counts = sorted(every.items())
        return [
            {of: name, "samples": n, "passed": passed[name], **share(passed[name], n)}
            for name, n in counts
        ]

    def unmeasured(self) -> dict[str, int]:
        """Among samples that passed: by gate, how many passed without its word."""
        passed = [verdict for verdict in self.verdicts if verdict.verdict == PASSED]
        names = Counter(name for verdict in passed for name in verdict.unmeasured)
        return dict(names.most_common())

    def reasons(self) -> dict[str, int]:
        """Samples by the metric that failed them; a sample may be failed by several."""
        failed = [verdict for verdict in self.verdicts if verdict.verdict == FAILED]
        names = Counter(reason.split(":", 1)[0] for verdict in failed for reason in verdict.reasons)
        return dict(names.most_common())

    def to_json(self) -> JsonObject:
        return {
            "samples": {v: self.count(v) for v in (PASSED, FAILED, UNDECIDED)},
            "funnel": dict(self.funnel()),
            "metrics": self.by_metric(),
            "dimensions": self.by_dimension(),
            "retention": {
                of: self.retention(of) for of in ("veracity", "degree", "language", "model")
            },
            "passed_without": self.unmeasured(),
            "reasons": self.reasons(),
            "agreement": self.agreement,
            "judge": self.judge,
        }


def share(hits: int, n: int) -> JsonObject:
    return {"share": hits / n if n else None, "interval": wilson(hits, n)}
