"""Run the metrics one after another: what each said is kept, so that a run that was stopped goes on
behind it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from claimlab.core import packaged
from claimlab.core.digest import digest_json
from claimlab.core.engine import run_stage
from claimlab.core.engine.names import place, shares
from claimlab.core.errors import ClaimlabError, DataError, UsageError
from claimlab.core.journal import Journal
from claimlab.core.progress import Progress
from claimlab.core.types import JsonObject
from claimlab.generate.filter.decide import Gate
from claimlab.generate.filter.judge import Panel
from claimlab.generate.filter.live import Live
from claimlab.generate.filter.metric import METRICS, Metric, Reading, broken
from claimlab.generate.filter.texts import Batch, open_batch, write_batch


@dataclass(frozen=True)
class Plan:
    """Which metrics run, with which thresholds, and the model that judges beside them."""

    table: JsonObject
    metrics: Mapping[str, Metric]
    panel: Panel | None = None

    def describe(self) -> JsonObject:
        """All that decides the readings."""
        settings = {
            "metrics": list(self.metrics),
            "thresholds": digest_json(self.table),
            "version": self.table["version"],
        }
        if self.panel is not None:
            settings["judge"] = {
                **self.panel.judge(translated=True).parameters(),
                "reading": self.panel.reading,
            }
        return settings


def measure(
    batch: Batch, plan: Plan, journal: Journal, progress: Progress, live: Live
) -> list[Gate]:
    """What every metric says, stage by stage; the judge is asked between the defects and the
    automatic metrics.
    """
    gates = []
    order = sorted(plan.metrics.items(), key=lambda item: (item[1].stage != "defects", item[0]))
    judged = plan.panel is None
    shared = shared_readings(
        [name for name, _ in order if _saved(journal, name, len(batch.texts)) is None], batch
    )
    for number, (name, metric) in enumerate(order):
        if metric.stage != "defects" and not judged:
            gates += _judged(batch, plan, progress, live)
            judged = True
        progress(f"metric: {name}", number, len(order))
        live.show(name, "running")
        begun = time.monotonic()
        readings = (
            _saved(journal, name, len(batch.texts))
            or shared.get(name)
            or readings_of(metric, batch)
        )
        journal.write(f"metrics/{name}", [asdict(reading) for reading in readings])
        live.show(name, "done", readings, round(time.monotonic() - begun, 1))
        gates.append(Gate(name, metric.stage, metric.dimension, readings, metric.gate))
    gates += [] if judged else _judged(batch, plan, progress, live)
    progress("metrics", len(order), len(order))
    live.write(reload=False)
    return gates


def readings_of(metric: Metric, batch: Batch) -> list[Reading]:
    """What a metric says; one that breaks, or that answers for fewer texts than there are, is an
    error throughout.
    """
    try:
        readings = metric.measure(batch)
    except Exception as error:
        if isinstance(error, ClaimlabError):  # such as an extra that is not installed
            return [Reading("not measured", None, error.problem)] * len(batch.texts)
        return [broken(error)] * len(batch.texts)
    if len(readings) != len(batch.texts):
        return [Reading("error", None, "the metric did not answer for every text")] * len(
            batch.texts
        )
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
        rows = [json.loads(output.read_text(encoding="utf-8")) for output in outputs]
    return {
        name: [Reading(**row) for row in readings]
        for name, readings in zip(names, rows, strict=True)
    }


def do_metric(shard: Any, output: Path) -> None:
    """One metric on the whole batch."""
    readings = readings_of(METRICS.get(shard["metric"]), open_batch(Path(shard["batch"])))
    output.write_text(
        json.dumps([asdict(reading) for reading in readings], ensure_ascii=False), encoding="utf-8"
    )


def _judged(batch: Batch, plan: Plan, progress: Progress, live: Live) -> list[Gate]:
    assert plan.panel is not None

    def report(label: str, done: int, total: int | None) -> None:
        progress(label, done, total)
        live.show("judge", f"{done:,} of {total or 0:,}")

    readings = plan.panel.readings(batch, progress=report)
    live.show("judge", "done", [r for rows in readings.values() for r in rows])
    return [
        Gate(
            f"judge {name.replace('_', ' ')}", "judge", plan.panel.features[name]["dimension"], rows
        )
        for name, rows in readings.items()
    ]


def _saved(journal: Journal, name: str, texts: int) -> list[Reading] | None:
    rows = journal.read(f"metrics/{name}")
    return [Reading(**row) for row in rows] if rows is not None and len(rows) == texts else None


def read_table(thresholds: str | Path | None) -> JsonObject:
    """The packaged thresholds, with those of a user's file in the place of what it names."""
    import tomllib

    table: JsonObject = json.loads(
        json.dumps(packaged.toml("claimlab.generate.filter", "quality.toml"))
    )
    if thresholds is None:
        return table
    try:
        own = tomllib.loads(Path(thresholds).read_text(encoding="utf-8"))
    except OSError:
        raise UsageError(
            f"There is no file '{thresholds}'.", "Correct the path of `thresholds`."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"'{thresholds}' is not valid TOML: {error}.", "Fix the file.") from None
    for name, value in own.items():
        if name not in table:
            raise DataError(
                f"'{thresholds}' has thresholds for '{name}', which is not a metric.",
                "Remove them.",
            )
        table[name] = {**table[name], **value} if isinstance(value, dict) else value
    return table


def chosen_metrics(names: Sequence[str]) -> dict[str, Metric]:
    return {name: METRICS.get(name) for name in names} if names else METRICS.all()
