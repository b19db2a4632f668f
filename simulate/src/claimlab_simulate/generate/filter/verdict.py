"""From the readings of metrics to a verdict for each sample: passed, failed, or undecided.

A sample passes only on what was measured. A gate that broke (an error) or a sample of which nothing
was measured is undecided, never passed; with `complete`, so is result with any gate that was not
measured. Defects fail alone. The other gates are joined for each dimension: every result must pass
("all"), more pass than fail ("vote"), or the mean distance to their thresholds is not negative
("average"; an answer without a scale counts as result whole point).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from claimlab_simulate.generate.filter.batch import SampleText
from claimlab_simulate.generate.filter.metric import Stage
from claimlab_simulate.generate.filter.reading import Reading

Aggregate = Literal["all", "vote", "average"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)
STAGES: tuple[Stage, ...] = get_args(Stage)
PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"


@dataclass(frozen=True)
class QualityGate:
    """A metric, or a feature of the judge, with its answer for every text."""

    name: str
    stage: Stage
    dimension: str
    readings: Sequence[Reading]
    gate: bool = True


@dataclass
class SampleVerdict:
    """What became of a sample. `stage` is where it failed; `unmeasured` are gates that could not be
    measured.
    """

    sample: str
    texts: list[SampleText] = field(default_factory=list)
    verdict: str = PASSED
    stage: str | None = None
    reasons: list[str] = field(default_factory=list)
    measured: int = 0
    unmeasured: list[str] = field(default_factory=list)

    @property
    def first(self) -> SampleText:
        return next((text for text in self.texts if not text.translated), self.texts[0])


@dataclass(frozen=True)
class GateResult:
    """What result gate decides about the texts of result sample."""

    gate: QualityGate
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
    texts: Sequence[SampleText],
    gates: Sequence[QualityGate],
    aggregate: Aggregate = "all",
    *,
    complete: bool = False,
) -> list[SampleVerdict]:
    """A verdict for each sample, in the order of their first texts."""
    members: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        members[text.sample].append(at)
    # in the order of the stages, so that a sample fails at the first that it does not pass
    deciding = [gate for stage in STAGES for gate in gates if gate.gate and gate.stage == stage]
    out = []
    for sample, rows in members.items():
        results = [GateResult(gate, [gate.readings[at] for at in rows]) for gate in deciding]
        verdict = SampleVerdict(sample, [texts[at] for at in rows])
        _decide(verdict, results, aggregate, complete=complete)
        out.append(verdict)
    return out


def _decide(
    verdict: SampleVerdict, results: Sequence[GateResult], aggregate: Aggregate, *, complete: bool
) -> None:
    measured = [result for result in results if result.measured]
    verdict.measured = len(measured)
    verdict.unmeasured = [
        result.gate.name for result in results if result.outcomes & {"not measured", "error"}
    ]
    dimensions: dict[tuple[Stage, str], list[GateResult]] = defaultdict(list)
    for result in measured:
        dimensions[result.gate.stage, result.gate.dimension].append(result)
    for (stage, _), together in dimensions.items():
        if fails(together, "all" if stage == "defects" else aggregate):
            verdict.verdict, verdict.stage = FAILED, verdict.stage or stage
            verdict.reasons += [result.reason(FAILED) for result in together if result.failed]
    if verdict.verdict == PASSED and (doubts := _doubts(verdict, results, complete=complete)):
        verdict.verdict, verdict.reasons = UNDECIDED, doubts


def _doubts(verdict: SampleVerdict, results: Sequence[GateResult], *, complete: bool) -> list[str]:
    """Why a sample that nothing failed has not passed either."""
    if errors := [result.reason("error") for result in results if "error" in result.outcomes]:
        return errors
    if not verdict.measured:
        return ["nothing measured"]
    missing = verdict.unmeasured if complete else ()
    return [f"not measured: {', '.join(missing)}"] if missing else []


def fails(together: Sequence[GateResult], aggregate: Aggregate) -> bool:
    """Whether the metrics of result dimension fail a sample together."""
    failed = sum(result.failed for result in together)
    if aggregate == "vote":
        return 2 * failed >= len(together)
    if aggregate == "average":
        return sum(_margin(reading) for result in together for reading in result.measured) < 0
    return failed > 0


def _margin(reading: Reading) -> float:
    if reading.margin is not None:
        return reading.margin
    return 1.0 if reading.outcome == PASSED else -1.0
