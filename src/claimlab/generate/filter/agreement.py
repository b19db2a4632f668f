"""How far the filter and its judge agree with annotators who decided on the same samples in a
review.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.errors import DataError
from claimlab.core.stats.agreement import kappa_figure
from claimlab.core.types import JsonObject
from claimlab.files.read import user_table
from claimlab.generate.filter.decide import FAILED, PASSED, Gate, Verdict, verdicts
from claimlab.generate.filter.texts import Text

WORDS = {"keep": PASSED, "remove": FAILED, "drop": FAILED, "yes": PASSED, "no": FAILED}


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
    decided = {record: _commonest(count) for record, count in votes.items()}
    out = {record: value for record, value in decided.items() if value is not None}
    if not out:
        raise DataError(
            f"'{decisions}' holds no decision to keep or remove a record.",
            "Pass a reviewed dataset.",
        )
    return out


def _commonest(count: Counter[str]) -> str | None:
    first, *rest = count.most_common()
    return None if rest and rest[0][1] == first[1] else first[0]


def agreement(
    texts: Sequence[Text], gates: Sequence[Gate], decided: dict[str, str]
) -> list[JsonObject]:
    """Percent and Cohen's kappa of the whole filter, and of the judge alone, with annotators, over
    samples.
    """
    parts = {"filter": gates, "judge": [gate for gate in gates if gate.stage == "judge"]}
    return [_row(name, verdicts(texts, part), decided) for name, part in parts.items() if part]


def _row(name: str, results: Sequence[Verdict], decided: dict[str, str]) -> JsonObject:
    pairs = []
    for result in results:
        votes = {decided[text.id] for text in result.texts if text.id in decided}
        if votes and result.verdict in (PASSED, FAILED):
            pairs.append((result.verdict, FAILED if FAILED in votes else PASSED))
    kappa = kappa_figure([a for a, _ in pairs], [b for _, b in pairs])
    same = sum(a == b for a, b in pairs)
    return {
        "who": name,
        "samples": len(pairs),
        "agree": same / len(pairs) if pairs else None,
        "kappa": kappa.value,
        "interval": kappa.interval,
    }
