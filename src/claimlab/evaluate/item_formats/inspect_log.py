"""Logs of Inspect: the score of each sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from claimlab.core.types import JsonObject
from claimlab.evaluate.items import MOST_BYTES, ItemFormat, ItemScore, as_score
from claimlab.files.harness_logs import inspect_log


class InspectLog(ItemFormat):
    summary = "an Inspect log (.eval, or .json)"

    def fits(self, file: Path) -> bool:
        too_large = file.suffix.lower() == ".json" and file.stat().st_size > MOST_BYTES
        return not too_large and inspect_log(file) is not None

    def read(self, file: Path) -> Iterator[ItemScore]:
        if (log := inspect_log(file)) is not None:
            for sample in log.samples:
                yield _item(sample, log.model or "model")


FORMAT = InspectLog()


def _item(sample: JsonObject, system: str) -> ItemScore:
    """By the first scorer; a sample that failed has no score, and counts as wrong."""
    scores = sample.get("scores") or {}
    first: JsonObject = next(iter(scores.values()), {})
    value = first.get("value")
    if isinstance(value, dict):
        value = next(iter(value.values()), None)
    return ItemScore(str(sample.get("id")), system, as_score(value) or 0.0)
