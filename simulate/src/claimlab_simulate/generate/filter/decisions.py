"""How far the filter and its judge agree with annotators who reviewed the same samples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.errors import DataError
from claimlab.core.stats.agreement import kappa_figure
from claimlab.core.types import JsonObject
from claimlab.files.read import user_table
from claimlab_simulate.generate.filter.batch import SampleText
from claimlab_simulate.generate.filter.verdict import (
    FAILED,
    PASSED,
    UNDECIDED,
    QualityGate,
    SampleVerdict,
    verdicts,
)

DECISION_WORDS = {"keep": PASSED, "remove": FAILED, "drop": FAILED, "yes": PASSED, "no": FAILED}


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
        if value in DECISION_WORDS:
            votes[record][DECISION_WORDS[value]] += 1
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
    texts: Sequence[SampleText], gates: Sequence[QualityGate], decided: Mapping[str, str]
) -> list[JsonObject]:
    """Percent and Cohen's kappa of the whole filter, and of the judge alone, with annotators, over
    samples.
    """
    parts = {"filter": gates, "judge": [gate for gate in gates if gate.stage == "judge"]}
    return [_agreed(name, verdicts(texts, part), decided) for name, part in parts.items() if part]


def _agreed(name: str, results: Sequence[SampleVerdict], decided: Mapping[str, str]) -> JsonObject:
    ours, theirs = [], []
    for result in results:
        votes = {decided[text.id] for text in result.texts if text.id in decided}
        if votes and result.verdict != UNDECIDED:
            ours.append(result.verdict)
            theirs.append(FAILED if FAILED in votes else PASSED)
    kappa = kappa_figure(ours, theirs)
    same = sum(our == their for our, their in zip(ours, theirs, strict=True))
    return {
        "who": name,
        "samples": len(ours),
        "agree": same / len(ours) if ours else None,
        "kappa": kappa.value,
        "interval": kappa.interval,
    }
