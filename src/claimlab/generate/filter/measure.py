"""Run the metrics one after another: what each said is kept, so that a run that was stopped goes on
behind it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import BaseModel, Field, create_model

from claimlab.core import packaged
from claimlab.core.digest import digest_json, digest_table
from claimlab.core.engine import run_stage
from claimlab.core.engine.names import place, shares
from claimlab.core.errors import ClaimlabError, DataError
from claimlab.core.journal import Journal
from claimlab.core.progress import progress
from claimlab.core.settings import read_raw_toml
from claimlab.core.types import JsonObject
from claimlab.files.read import user_table
from claimlab.generate.filter.metric import (
    DOES_NOT_APPLY,
    METRICS,
    Batch,
    Metric,
    Reading,
    Text,
    broken,
    open_batch,
    unmeasured,
    within,
    write_batch,
)
from claimlab.generate.filter.result import Gate
from claimlab.llm.judge import Case, ModelJudge, Opinion, Reasoned, fenced
from claimlab.llm.messages import Request
from claimlab.llm.prompts import Prompt
from claimlab.llm.provider import Provider

# The stage of the model judge: features rated from 1 to 5, each held against a threshold by
# veracity.
#
# Features and thresholds are rows of data/quality.toml. Where the published thresholds contradict
# each other, `reading` names which of the two is applied. An answer that was refused or cannot be
# read is "not measured", and counted.

PROMPT = "quality"
Rating = Annotated[int, Field(ge=1, le=5)]


@dataclass(frozen=True)
class Panel:
    """A judge for samples with a translation and one for those without: what is not there is not
    asked about.
    """

    provider: Provider
    prompt: Prompt
    features: dict[str, JsonObject]
    runs: int = 1
    reading: str = "table"

    def parameters(self) -> JsonObject:
        """For lineages and run keys."""
        return self.judge(translated=True).parameters()

    def judge(self, *, translated: bool) -> ModelJudge[Reasoned]:
        ratings: JsonObject = dict.fromkeys(self._asked(translated), (Rating, ...))
        schema = create_model("Quality", __base__=Reasoned, **ratings)
        return ModelJudge(self.provider, self.prompt, schema, value=_mean, runs=self.runs)

    def requests(self, batch: Batch) -> Iterator[Request[BaseModel]]:
        """What `gates` would ask, for an estimate."""
        for translated in (False, True):
            yield from self.judge(translated=translated).requests(self._cases(batch, translated))

    def gates(self, batch: Batch) -> list[Gate]:
        """For every feature a reading of each text: the article or claim of a sample answers for
        all its texts.
        """
        out = {name: [DOES_NOT_APPLY] * len(batch.texts) for name in self.features}
        place = {text.id: at for at, text in enumerate(batch.texts)}
        for translated in (False, True):
            judge, cases = self.judge(translated=translated), self._cases(batch, translated)
            for opinion in judge.judge(cases, label="judging quality"):
                at = place[opinion.case]
                for name in self._asked(translated):
                    out[name][at] = self._reading(opinion, name, batch.texts[at])
        return [
            Gate(f"judge {name.replace('_', ' ')}", "judge", self.features[name]["dimension"], rows)
            for name, rows in out.items()
        ]

    def _asked(self, translated: bool) -> list[str]:
        """The features that a judge rates."""
        return [
            name
            for name, feature in self.features.items()
            if translated or feature["dimension"] != "translation"
        ]

    def _cases(self, batch: Batch, translated: bool) -> list[Case]:
        lines = [f"- {name}: {self.features[name]['question']}" for name in self._asked(translated)]
        system = self.prompt.text("system", features="\n".join(lines))
        return [
            Case(text.id, system, _data(text))
            for text in batch.texts
            if text.comparable and text.text and text.source and bool(text.pair) == translated
        ]

    def _reading(self, opinion: Opinion[Reasoned], name: str, text: Text) -> Reading:
        scores = [getattr(reply, name) for reply in opinion.replies if reply is not None]
        if not scores:
            return unmeasured(f"the judge gave no answer: {opinion.failures[0]}")
        value = sum(scores) / len(scores)
        bounds = self.features[name].get(text.veracity or "")
        if bounds is None:
            return unmeasured("neither real nor altered", value)
        bounds = bounds.get(self.reading, bounds)
        return within(
            value, bounds.get("at_least"), bounds.get("at_most"), f"rated {name.replace('_', ' ')}"
        )


def _data(text: Text) -> str:
    log = [
        f"- {change.get('before')!r} became {change.get('after')!r}" for change in text.log or ()
    ]
    about = f"Labelled: {text.veracity or 'unknown'}. Degree asked for: {text.degree or 'none'}."
    parts = {
        "source": text.source or "",
        "text": text.text or "",
        "log": "\n".join(log) or "(nothing is logged)",
    }
    if text.pair:
        parts["translation"] = text.pair
    return f"{about}\n\n{fenced(parts)}"


def _mean(reply: BaseModel) -> float:
    scores = [value for value in reply.model_dump().values() if isinstance(value, int)]
    return sum(scores) / len(scores)


@dataclass(frozen=True)
class FilterPlan:
    """Which metrics run, with which thresholds, and the model that judges beside them."""

    table: JsonObject
    metrics: Mapping[str, Metric]
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


def measure(batch: Batch, plan: FilterPlan, journal: Journal) -> list[Gate]:
    """What every metric says, stage by stage; the gates of the judge are between the defects and
    the automatic metrics.
    """
    order = sorted(plan.metrics.items(), key=lambda item: (item[1].stage != "defects", item[0]))
    saved = {name: _saved(journal, name, len(batch.texts)) for name in plan.metrics}
    shared = shared_readings([name for name, _ in order if saved[name] is None], batch)
    gates: dict[str, list[Gate]] = {"defects": [], "automatic": []}
    for number, (name, metric) in enumerate(order):
        progress(f"metric: {name}", number, len(order))
        readings = saved[name] or shared.get(name) or readings_of(metric, batch)
        journal.write(f"metrics/{name}", [asdict(reading) for reading in readings])
        gates[metric.stage].append(
            Gate(name, metric.stage, metric.dimension, readings, metric.gate)
        )
    judged = [] if plan.panel is None else plan.panel.gates(batch)
    progress("metrics", len(order), len(order))
    elsewhere = [] if plan.scores is None else list(score_gates(batch, plan.scores))
    return [*gates["defects"], *judged, *gates["automatic"], *elsewhere]


IDS = ("id", "record_id")


def read_scores(file: str | Path) -> pl.DataFrame:
    """Figures of texts by id, a column for each metric; an empty cell is not measured."""
    table = user_table(Path(file), *IDS)
    key = next((name for name in IDS if name in table.columns), None)
    if key is None or table.width < 2:
        raise DataError(
            f"'{file}' has no figures by id.", "Give the column id and one for each metric."
        )
    if table[key].is_duplicated().any():
        raise DataError(f"'{file}' has several rows of one id.", "Keep one row for each text.")
    figures = table.drop(key)
    numbers = figures.select(pl.all().cast(pl.Float64, strict=False))
    for name in figures.columns:
        wrong = table.filter(numbers[name].is_null() & figures[name].is_not_null())
        if wrong.height:
            raise DataError(
                f"'{file}' has no number in column '{name}' of id '{wrong[key][0]}', but"
                f" '{wrong[name][0]}'.",
                "Write a number there, or leave the cell empty where it was not measured.",
            )
    return numbers.insert_column(0, table[key].alias("id"))


def score_gates(batch: Batch, scores: pl.DataFrame) -> Iterator[Gate]:
    """A gate for each column; one without limits is information."""
    ids = scores["id"].to_list()
    for name in scores.columns[1:]:
        about = batch.table["scores"].get(name, {})
        values = dict(zip(ids, scores[name], strict=True))
        readings = []
        for text in batch.texts:
            value, limits = values.get(text.id), about.get(text.veracity or "", {})
            readings.append(
                unmeasured("the file of scores has no figure for it")
                if value is None
                else within(value, limits.get("at_least"), limits.get("at_most"), name)
            )
        gated = any(isinstance(limits, dict) for limits in about.values())
        yield Gate(name, "automatic", about.get("dimension", "scores"), readings, gated)


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


def read_table(thresholds: str | Path | None) -> JsonObject:
    """The packaged thresholds, with those of a user's file in the place of what it names."""
    table: JsonObject = dict(packaged.toml("claimlab.generate.filter", "quality.toml"))
    own = {} if thresholds is None else read_raw_toml(Path(thresholds))
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
