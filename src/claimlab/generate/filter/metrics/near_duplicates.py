"""Samples that are nearly the same as an earlier one, or as a seed that is not their own."""

from __future__ import annotations

from claimlab.generate.filter.metric import DOES_NOT_APPLY, Metric, Reading
from claimlab.generate.filter.texts import Batch
from claimlab.text.neardup import find_across, find_pairs


def measure(batch: Batch) -> list[Reading]:
    threshold = batch.table["near-duplicates"]["jaccard"]
    texts = [text.text for text in batch.texts]
    readings: dict[int, Reading] = {}
    for a, b, value in find_pairs(texts, threshold=threshold):
        first, second = batch.texts[a], batch.texts[b]
        if first.sample != second.sample and not _same_source(first.source, second.source):
            readings.setdefault(
                b, Reading("failed", value, f"nearly the same as {first.id}", threshold - value)
            )
    seeds = [text.text for text in batch.originals]
    for a, b, value in find_across(texts, seeds, threshold=threshold) if seeds else ():
        text, seed = batch.texts[a], batch.originals[b]
        if seed.id != text.source_id and seed.text != text.source and seed.sample != text.sample:
            reason = f"nearly the same as {seed.id}, which is not its seed"
            readings.setdefault(a, Reading("failed", value, reason, threshold - value))
    clear = Reading("passed")
    return [
        readings.get(i, clear) if text.text else DOES_NOT_APPLY
        for i, text in enumerate(batch.texts)
    ]


def _same_source(one: str | None, other: str | None) -> bool:
    """Versions of one source are alike by design; a generation that uses each seed once has
    none.
    """
    return one is not None and one == other


METRIC = Metric(
    "defects", "no near-duplicate of another sample or seed", "nothing", measure, stage="defects"
)
