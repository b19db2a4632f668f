"""Samples of lm-evaluation-harness: `samples_TASK_DATE.jsonl` in a folder named after the model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from claimlab.evaluate.items import Item, ItemFormat, as_score, lines_of

USUAL = ("acc", "exact_match", "acc_norm", "f1", "em", "pass@1")


class LmEvalSamples(ItemFormat):
    summary = "samples of lm-evaluation-harness (samples_*.jsonl)"

    def fits(self, file: Path) -> bool:
        if file.suffix.lower() != ".jsonl":
            return False
        first = next(lines_of(file), {})
        return {"doc_id", "doc"} <= set(first)

    def read(self, file: Path) -> Iterator[Item]:
        """By the first metric, after the first filter."""
        system = file.resolve().parent.name
        first = None
        for row in lines_of(file):
            first = row.get("filter") if first is None else first
            metrics = [*(row.get("metrics") or ()), *USUAL]
            name = next((name for name in metrics if as_score(row.get(name)) is not None), None)
            if row.get("filter") == first and name is not None:
                yield Item(f"{row['doc_id']}", system, as_score(row[name]) or 0.0)


FORMAT = LmEvalSamples()
