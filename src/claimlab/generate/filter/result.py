"""What the filter found: the samples with their verdicts, and the dataset of those that passed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.errors import DataError
from claimlab.core.shown import Shown
from claimlab.core.stats.agreement import kappa_figure
from claimlab.core.stats.interval import wilson
from claimlab.core.types import JsonObject
from claimlab.files.read import user_table
from claimlab.generate.filter.metric import Reading, Stage, Text

# From the readings of metrics to a verdict for each sample: passed, failed, or undecided; and how
# far the filter and its judge agree with annotators who decided on the same samples in a review.
#
# A sample passes only on what was measured. A gate that broke (an error) or a sample of which
# nothing was measured is undecided, never passed; with `complete`, so is one with any gate that was
# not measured. Defects fail alone. The other gates are joined for each dimension: every one must
# pass ("all"), more pass than fail ("vote"), or the mean distance to their thresholds is not
# negative ("average"; an answer without a scale counts as one whole point).

Aggregate = Literal["all", "vote", "average"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)
STAGES: tuple[Stage, ...] = get_args(Stage)
PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"
WORDS = {"keep": PASSED, "remove": FAILED, "drop": FAILED, "yes": PASSED, "no": FAILED}


@dataclass(frozen=True)
class Gate:
    """A metric, or a feature of the judge, with what it results of every text."""

    name: str
    stage: Stage
    dimension: str
    readings: Sequence[Reading]
    gate: bool = True


@dataclass
class Verdict:
    """What became of a sample. `stage` is where it failed; `unmeasured` are gates that could not be
    measured.
    """

    sample: str
    texts: list[Text] = field(default_factory=list)
    verdict: str = PASSED
    stage: str | None = None
    reasons: list[str] = field(default_factory=list)
    measured: int = 0
    unmeasured: list[str] = field(default_factory=list)

    @property
    def first(self) -> Text:
        return next((text for text in self.texts if not text.translated), self.texts[0])


@dataclass(frozen=True)
class Said:
    """What one gate results of the texts of one sample."""

    gate: Gate
    readings: Sequence[Reading]

    @property
    def measured(self) -> list[Reading]:
        return [reading for reading in self.readings if reading.outcome in (PASSED, FAILED)]

    @property
    def failed(self) -> bool:
        return FAILED in self.outcomes

    @property
    def outcomes(self) -> set[str]:
        return {reading.outcome for reading in self.readings}

    def reason(self, outcome: str) -> str:
        why = next(reading.reason for reading in self.readings if reading.outcome == outcome)
        return f"{self.gate.name}: {why}"


def verdicts(
    texts: Sequence[Text],
    gates: Sequence[Gate],
    aggregate: Aggregate = "all",
    *,
    complete: bool = False,
) -> list[Verdict]:
    """A verdict for each sample, in the order of their first texts."""
    members: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        members[text.sample].append(at)
    # in the order of the stages, so that a sample fails at the first that it does not pass
    deciding = [gate for stage in STAGES for gate in gates if gate.gate and gate.stage == stage]
    out = []
    for sample, rows in members.items():
        results = [Said(gate, [gate.readings[at] for at in rows]) for gate in deciding]
        verdict = Verdict(sample, [texts[at] for at in rows])
        _decide(verdict, results, aggregate, complete=complete)
        out.append(verdict)
    return out


def _decide(
    verdict: Verdict, results: Sequence[Said], aggregate: Aggregate, *, complete: bool
) -> None:
    measured = [one for one in results if one.measured]
    verdict.measured = len(measured)
    verdict.unmeasured = [
        one.gate.name for one in results if one.outcomes & {"not measured", "error"}
    ]
    dimensions: dict[tuple[Stage, str], list[Said]] = defaultdict(list)
    for one in measured:
        dimensions[one.gate.stage, one.gate.dimension].append(one)
    for (stage, _), together in dimensions.items():
        if fails(together, "all" if stage == "defects" else aggregate):
            verdict.verdict, verdict.stage = FAILED, verdict.stage or stage
            verdict.reasons += [one.reason(FAILED) for one in together if one.failed]
    if verdict.verdict == PASSED and (doubts := _doubts(verdict, results, complete=complete)):
        verdict.verdict, verdict.reasons = UNDECIDED, doubts


def _doubts(verdict: Verdict, results: Sequence[Said], *, complete: bool) -> list[str]:
    """Why a sample that nothing failed has not passed either."""
    if errors := [one.reason("error") for one in results if "error" in one.outcomes]:
        return errors
    if not verdict.measured:
        return ["nothing measured"]
    missing = verdict.unmeasured if complete else ()
    return [f"not measured: {', '.join(missing)}"] if missing else []


def fails(together: Sequence[Said], aggregate: Aggregate) -> bool:
    """Whether the metrics of one dimension fail a sample together."""
    failed = sum(one.failed for one in together)
    if aggregate == "vote":
        return 2 * failed >= len(together)
    if aggregate == "average":
        return sum(_margin(reading) for one in together for reading in one.measured) < 0
    return failed > 0


def _margin(reading: Reading) -> float:
    if reading.margin is not None:
        return reading.margin
    return 1.0 if reading.outcome == PASSED else -1.0


def read_decisions(decisions: str | Path) -> dict[str, str]:
    """By record id, what annotators decided: from a dataset that `review apply` wrote, or a table
    of id and decision. Where annotators differ the commoner decision counts, and none where two are
    as common."""
    if (Path(decisions) / MANIFEST).is_file():
        table = Dataset.open(decisions).tables.get("decisions", pl.DataFrame())
        rows = table.select("id", "value").iter_rows() if table.height else iter(())
    else:
        rows = user_table(Path(decisions), "id", "decision").select("id", "decision").iter_rows()
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for record, value in rows:
        if value in WORDS:
            votes[record][WORDS[value]] += 1
    decided = {}
    for record, count in votes.items():
        first, *rest = count.most_common()
        if not rest or rest[0][1] != first[1]:
            decided[record] = first[0]
    if not decided:
        raise DataError(
            f"'{decisions}' holds no decision to keep or remove a record.",
            "Pass a reviewed dataset.",
        )
    return decided


def agreement(
    texts: Sequence[Text], gates: Sequence[Gate], decided: Mapping[str, str]
) -> list[JsonObject]:
    """Percent and Cohen's kappa of the whole filter, and of the judge alone, with annotators, over
    samples.
    """
    parts = {"filter": gates, "judge": [gate for gate in gates if gate.stage == "judge"]}
    return [_agreed(name, verdicts(texts, part), decided) for name, part in parts.items() if part]


def _agreed(name: str, results: Sequence[Verdict], decided: Mapping[str, str]) -> JsonObject:
    ours, theirs = [], []
    for result in results:
        votes = {decided[text.id] for text in result.texts if text.id in decided}
        if votes and result.verdict != UNDECIDED:
            ours.append(result.verdict)
            theirs.append(FAILED if FAILED in votes else PASSED)
    kappa = kappa_figure(ours, theirs)
    same = sum(one == other for one, other in zip(ours, theirs, strict=True))
    return {
        "who": name,
        "samples": len(ours),
        "agree": same / len(ours) if ours else None,
        "kappa": kappa.value,
        "interval": kappa.interval,
    }


OF_SAMPLE = ("veracity", "language", "model", "degree")  # facts of its first text
SAMPLES = {
    **dict.fromkeys(("sample", "record_id", "verdict", "stage", "reason"), pl.String),
    "measured": pl.Int32,
    **dict.fromkeys(("not_measured", *OF_SAMPLE), pl.String),
}
QUALITY = {
    **dict.fromkeys(("record_id", "sample", "metric", "outcome"), pl.String),
    "value": pl.Float64,
    "reason": pl.String,
}


@dataclass(frozen=True, repr=False)
class Filtered(Shown):
    """The dataset of the samples that passed, every verdict, and the figures of the report."""

    dataset: Dataset
    texts: Sequence[Text]
    gates: Sequence[Gate]
    verdicts: Sequence[Verdict]
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
                **{name: getattr(verdict.first, name) for name in OF_SAMPLE},
            }
            for verdict in self.verdicts
        ]
        return pl.DataFrame(rows, schema=SAMPLES)

    def readings(self) -> pl.DataFrame:
        """A row for each text and metric that applies to it."""
        rows = [
            (text.id, text.sample, gate.name, reading.outcome, reading.value, reading.reason)
            for gate in self.gates
            for text, reading in zip(self.texts, gate.readings, strict=True)
            if reading.outcome != "does not apply"
        ]
        return pl.DataFrame(rows, schema=QUALITY, orient="row")

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
                    held = samples[gate.dimension, text.veracity or "unknown"]
                    held[text.sample] = held.get(text.sample, True) and reading.outcome == "passed"
        return [
            {
                "dimension": d,
                "veracity": v,
                "measured": len(held),
                "passed": sum(held.values()),
                **share(sum(held.values()), len(held)),
            }
            for (d, v), held in sorted(samples.items())
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
        """Samples by the metric that failed them; one may be failed by several."""
        failed = [verdict for verdict in self.verdicts if verdict.verdict == FAILED]
        names = Counter(reason.split(":", 1)[0] for one in failed for reason in one.reasons)
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
