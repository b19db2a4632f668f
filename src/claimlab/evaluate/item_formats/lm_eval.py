"""Samples of lm-evaluation-harness: `samples_TASK_DATE.jsonl` in a folder named after the model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from claimlab.evaluate.items import ItemFormat, ItemScore, as_score
from claimlab.files.harness_logs import lm_eval_samples

USUAL = ("acc", "exact_match", "acc_norm", "f1", "em", "pass@1")


class LmEvalSamples(ItemFormat):
    summary = "samples of lm-evaluation-harness (samples_*.jsonl)"

    def fits(self, file: Path) -> bool:
        return lm_eval_samples(file, "doc_id") is not None

    def read(self, file: Path) -> Iterator[ItemScore]:
        """By the first metric, after the first filter."""
        system = file.resolve().parent.name
        first = None
        for row in lm_eval_samples(file, "doc_id") or ():
            first = row.get("filter") if first is None else first
            metrics = [*(row.get("metrics") or ()), *USUAL]
            name = next((name for name in metrics if as_score(row.get(name)) is not None), None)
            if row.get("filter") == first and name is not None:
                yield ItemScore(f"{row['doc_id']}", system, as_score(row[name]) or 0.0)


FORMAT = LmEvalSamples()
