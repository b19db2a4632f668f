"""Run the metrics one after another: what each said is kept, so that a run that was stopped goes on
behind it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from claimlab.core.digest import digest_json, digest_table
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.run import run_stage
from claimlab.core.errors import ClaimlabError
from claimlab.core.journal import Journal
from claimlab.core.progress import progress
from claimlab.core.types import JsonObject
from claimlab_simulate.generate.filter.batch import Batch, open_batch, write_batch
from claimlab_simulate.generate.filter.metric import METRICS, QualityMetric
from claimlab_simulate.generate.filter.panel import Panel
from claimlab_simulate.generate.filter.reading import Reading, broken, unmeasured
from claimlab_simulate.generate.filter.scores import score_gates
from claimlab_simulate.generate.filter.verdict import QualityGate


@dataclass(frozen=True)
class FilterPlan:
    """Which metrics run, with which thresholds, and the model that judges beside them."""

    table: JsonObject
    metrics: Mapping[str, QualityMetric]
    panel: Panel | None = None
    scores: pl.DataFrame | None = None  # figures that were computed elsewhere, by id

    def describe(self) -> JsonObject:
        """All that decides the readings."""
        settings = {
            "metrics": list(self.metrics),
            "thresholds": digest_json(self.table),
            "version": self.table["version"],
        }
        if self.scores is not None:
            settings["scores"] = digest_table(self.scores)
        if self.panel is not None:
            settings["judge"] = {**self.panel.parameters(), "reading": self.panel.reading}
        return settings


def measure(batch: Batch, plan: FilterPlan, journal: Journal) -> list[QualityGate]:
    """What every metric says, stage by stage; the gates of the judge are between the defects and
    the automatic metrics.
    """
    order = sorted(plan.metrics.items(), key=lambda item: (item[1].stage != "defects", item[0]))
    saved = {name: _saved(journal, name, len(batch.texts)) for name in plan.metrics}
    shared = shared_readings([name for name, _ in order if saved[name] is None], batch)
    gates: dict[str, list[QualityGate]] = {"defects": [], "automatic": []}
    for number, (name, metric) in enumerate(order):
        progress(f"metric: {name}", number, len(order))
        readings = saved[name] or shared.get(name) or readings_of(metric, batch)
        journal.write(f"metrics/{name}", [asdict(reading) for reading in readings])
        gates[metric.stage].append(
            QualityGate(name, metric.stage, metric.dimension, readings, metric.gate)
        )
    judged = [] if plan.panel is None else plan.panel.gates(batch)
    progress("metrics", len(order), len(order))
    elsewhere = [] if plan.scores is None else list(score_gates(batch, plan.scores))
    return [*gates["defects"], *judged, *gates["automatic"], *elsewhere]


def readings_of(metric: QualityMetric, batch: Batch) -> list[Reading]:
    """What a metric says; one that breaks, or that answers for fewer texts than there are, is an
    error throughout.
    """
    try:
        readings = metric.measure(batch)
    except ClaimlabError as error:  # such as an extra that is not installed
        return [unmeasured(error.problem)] * len(batch.texts)
    except Exception as error:
        return [broken(error)] * len(batch.texts)
    if len(readings) != len(batch.texts):
        problem = Reading("error", None, "the metric did not answer for every text")
        return [problem] * len(batch.texts)
    return readings


def shared_readings(names: Sequence[str], batch: Batch) -> dict[str, list[Reading]]:
    """What the metrics say, each a shard, where the run shares its work. None of them asks a
    model.
    """
    if not shares() or len(names) < 2:
        return {}
    with place() as here:
        material = write_batch(batch, here)
        shards = [{"metric": name, "batch": material} for name in names]
        outputs = run_stage(do_metric, shards, folder=here, name="metrics")
        rows = [json.loads(output.read_bytes()) for output in outputs]
    return {
        name: [Reading(**row) for row in readings]
        for name, readings in zip(names, rows, strict=True)
    }


def do_metric(shard: JsonObject, output: Path) -> None:
    """One metric on the whole batch."""
    readings = readings_of(METRICS.get(shard["metric"]), open_batch(Path(shard["batch"])))
    output.write_text(
        json.dumps([asdict(reading) for reading in readings], ensure_ascii=False), encoding="utf-8"
    )


def _saved(journal: Journal, name: str, texts: int) -> list[Reading] | None:
    rows = journal.read(f"metrics/{name}")
    return [Reading(**row) for row in rows] if rows is not None and len(rows) == texts else None


def chosen_metrics(names: Sequence[str]) -> dict[str, QualityMetric]:
    return {name: METRICS.get(name) for name in names} if names else METRICS.all()
