"""From the readings of metrics to a verdict for each sample: passed, failed, or undecided; and how
far the filter and its judge agree with annotators who decided on the same samples in a review.

A sample passes only on what was measured. A gate that broke (an error) or a sample of which nothing
was measured is undecided, never passed; with `complete`, so is one with any gate that was not
measured. Defects fail alone. The other gates are joined for each dimension: every one must pass
("all"), more pass than fail ("vote"), or the mean distance to their thresholds is not negative
("average"; an answer without a scale counts as one whole point).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.errors import DataError
from claimlab.core.stats.agreement import kappa_figure
from claimlab.core.types import JsonObject
from claimlab.files.read import user_table
from claimlab.generate.filter.metric import Reading, Stage
from claimlab.generate.filter.texts import Text

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
