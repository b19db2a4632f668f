"""From the readings of metrics to a verdict for each sample: passed, failed, or undecided.

A sample passes only on what was measured. A gate that broke (an error) or a sample of which nothing
was measured is undecided, never passed; with `complete`, so is one with any gate that was not
measured. Defects fail alone. The other gates are joined for each dimension: every one must pass
("all"), more pass than fail ("vote"), or the mean distance to their thresholds is not negative
("average"; an answer without a scale counts as one whole point).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from claimlab.generate.filter.metric import Reading, Stage
from claimlab.generate.filter.texts import Text

Aggregate = Literal["all", "vote", "average"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)
STAGES: tuple[Stage, ...] = get_args(Stage)
PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"


@dataclass(frozen=True)
class Gate:
    """A metric, or a feature of the judge, with what it said of every text."""

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


def verdicts(
    texts: Sequence[Text],
    gates: Sequence[Gate],
    aggregate: Aggregate = "all",
    *,
    complete: bool = False,
) -> list[Verdict]:
    """A verdict for each sample, in the order of their first texts."""
    members: dict[str, list[int]] = defaultdict(list)
    for i, text in enumerate(texts):
        members[text.sample].append(i)
    deciding = [gate for gate in gates if gate.gate]
    return [
        _verdict(sample, rows, texts, deciding, aggregate, complete)
        for sample, rows in members.items()
    ]


def _verdict(
    sample: str,
    rows: Sequence[int],
    texts: Sequence[Text],
    gates: Sequence[Gate],
    aggregate: Aggregate,
    complete: bool,
) -> Verdict:
    out = Verdict(sample, [texts[i] for i in rows])
    errors = []
    for stage in STAGES:
        dimensions: dict[str, dict[str, list[Reading]]] = defaultdict(dict)
        for gate in gates:
            if gate.stage != stage:
                continue
            readings = [gate.readings[i] for i in rows]
            outcomes = {reading.outcome for reading in readings}
            errors += [f"{gate.name}: {r.reason}" for r in readings if r.outcome == "error"][:1]
            measured = [r for r in readings if r.outcome in ("passed", "failed")]
            if measured:
                out.measured += 1
                dimensions[gate.dimension][gate.name] = measured
            if outcomes & {"not measured", "error"}:
                out.unmeasured.append(gate.name)
        for named in dimensions.values():
            if fails(named, "all" if stage == "defects" else aggregate):
                out.verdict, out.stage = FAILED, out.stage or stage
                out.reasons += [
                    _reason(name, readings) for name, readings in named.items() if _failed(readings)
                ]
    if out.verdict == PASSED and (errors or not out.measured or (complete and out.unmeasured)):
        out.verdict = UNDECIDED
        out.reasons = errors or [
            f"not measured: {', '.join(out.unmeasured)}" if out.measured else "nothing measured"
        ]
    return out


def fails(named: Mapping[str, Sequence[Reading]], aggregate: Aggregate) -> bool:
    """Whether the metrics of one dimension fail a sample together."""
    failed = [name for name, readings in named.items() if _failed(readings)]
    if aggregate == "vote":
        return 2 * len(failed) >= len(named)
    if aggregate == "average":
        margins = [margin for readings in named.values() for margin in map(_margin, readings)]
        return sum(margins) < 0
    return bool(failed)


def _failed(readings: Sequence[Reading]) -> bool:
    return any(reading.outcome == "failed" for reading in readings)


def _margin(reading: Reading) -> float:
    if reading.margin is not None:
        return reading.margin
    return 1.0 if reading.outcome == "passed" else -1.0


def _reason(name: str, readings: Sequence[Reading]) -> str:
    return f"{name}: {next(r.reason for r in readings if r.outcome == 'failed')}"
