"""Run the metrics one after another: what each said is kept, so that a run that was stopped goes on
behind it. A page shows it meanwhile: a row for each metric, with what it has said so far.
"""

from __future__ import annotations

import json
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from claimlab.core import packaged
from claimlab.core.atomic import atomic_text
from claimlab.core.digest import digest_json
from claimlab.core.engine import run_stage
from claimlab.core.engine.names import place, shares
from claimlab.core.errors import ClaimlabError, DataError, UsageError
from claimlab.core.guard import refuse_file
from claimlab.core.journal import Journal
from claimlab.core.progress import Progress
from claimlab.core.types import JsonObject
from claimlab.generate.filter.decide import Gate
from claimlab.generate.filter.judge import Panel
from claimlab.generate.filter.metric import METRICS, Metric, Outcome, Reading, broken, unmeasured
from claimlab.generate.filter.texts import Batch, open_batch, write_batch
from claimlab.pages.blocks import Report, Table
from claimlab.pages.html import to_html

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
TITLE = "Quality filter at work"
SECONDS = 1.0  # between two versions of the page


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
            settings["judge"] = {**self.panel.parameters(), "reading": self.panel.reading}
        return settings


class Live:
    """A page that a browser reloads while the filter runs. Without a `file`, nothing is written."""

    def __init__(self, file: Path | None, names: Sequence[str], *, force: bool = False) -> None:
        self.file = file
        self.rows: dict[str, list[str | int | float | None]] = {}
        self._last = 0.0
        if file is not None:
            refuse_file(file, force=force, kind="live page", sign=TITLE)
        for name in names:
            self._set(name, "waiting")

    def show(
        self, name: str, state: str, readings: Sequence[Reading] = (), seconds: float | None = None
    ) -> None:
        self._set(name, state, readings, seconds)
        now = time.monotonic()
        if state == "done" or now - self._last >= SECONDS:
            self._last = now
            self.write(reload=True)

    def write(self, *, reload: bool) -> None:
        if self.file is None:
            return
        rows = [[name, *row] for name, row in self.rows.items()]
        heads = ["Metric", "State", *(outcome.capitalize() for outcome in OUTCOMES), "Seconds"]
        words = "Reloads every 2 seconds." if reload else "The filter is done."
        page = to_html(
            Report(TITLE, words, [Table(heads, rows, "Texts by what each metric says of them.")])
        )
        again = '<meta http-equiv="refresh" content="2">\n<title>'
        atomic_text(self.file, page.replace("<title>", again, 1) if reload else page)

    def _set(
        self, name: str, state: str, readings: Sequence[Reading] = (), seconds: float | None = None
    ) -> None:
        counts = Counter(reading.outcome for reading in readings)
        tallies = [counts[outcome] if readings else None for outcome in OUTCOMES]
        self.rows[name] = [state, *tallies, seconds]


def measure(
    batch: Batch, plan: Plan, journal: Journal, progress: Progress, live: Live
) -> list[Gate]:
    """What every metric says, stage by stage; the judge is asked between the defects and the
    automatic metrics.
    """
    order = sorted(plan.metrics.items(), key=lambda item: (item[1].stage != "defects", item[0]))
    saved = {name: _saved(journal, name, len(batch.texts)) for name in plan.metrics}
    shared = shared_readings([name for name, _ in order if saved[name] is None], batch)
    gates: list[Gate] = []
    judged = plan.panel is None
    for number, (name, metric) in enumerate(order):
        if metric.stage != "defects" and not judged:
            gates += _judged(batch, plan, progress, live)
            judged = True
        progress(f"metric: {name}", number, len(order))
        live.show(name, "running")
        begun = time.monotonic()
        readings = saved[name] or shared.get(name) or readings_of(metric, batch)
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
        rows = [json.loads(output.read_text(encoding="utf-8")) for output in outputs]
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


def _judged(batch: Batch, plan: Plan, progress: Progress, live: Live) -> list[Gate]:
    assert plan.panel is not None

    def report(label: str, done: int, total: int | None) -> None:
        progress(label, done, total)
        live.show("judge", f"{done:,} of {total or 0:,}")

    features = plan.panel.features
    readings = plan.panel.readings(batch, progress=report)
    live.show("judge", "done", [reading for rows in readings.values() for reading in rows])
    return [
        Gate(f"judge {name.replace('_', ' ')}", "judge", features[name]["dimension"], rows)
        for name, rows in readings.items()
    ]


def _saved(journal: Journal, name: str, texts: int) -> list[Reading] | None:
    rows = journal.read(f"metrics/{name}")
    return [Reading(**row) for row in rows] if rows is not None and len(rows) == texts else None


def read_table(thresholds: str | Path | None) -> JsonObject:
    """The packaged thresholds, with those of a user's file in the place of what it names."""
    table: JsonObject = dict(packaged.toml("claimlab.generate.filter", "quality.toml"))
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
