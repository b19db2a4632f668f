"""Predictions beside the truth, as the evaluation puts them, read once for as long as the run stays
the same.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import NotFound
from claimlab.core.stats.interval import DRAWS, Interval
from claimlab.core.stats.scores import macro_f1
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.board import Board, by_metric
from claimlab.evaluate.common_draws import on_shared_records
from claimlab.evaluate.confusion import macro_f1_of, table_interval
from claimlab.evaluate.evaluation import named_apart
from claimlab.evaluate.metric import metrics
from claimlab.evaluate.scored_run import ScoredRun, last_step, open_runs
from claimlab.evaluate.traits import USUAL
from claimlab.evaluate.units import in_one_unit
from claimlab.tasks import open_task
from claimlab.web.memo import Memo
from claimlab.web.rows import about, as_text
from claimlab.web.workspace import Workspace, WorkspaceFolder

SUBGROUPS = USUAL
MOST_CALLS = 20
MOST_RUNS = 12  # that are ranked together
MOST_LEARNT = 50_000  # records that a detector learns from again while a page waits
_runs, _groups, _boards, _learnt = Memo(32), Memo(32), Memo(32), Memo(4)


def runs_in(place: WorkspaceFolder) -> list[ScoredRun]:
    """The runs of the folder: predictions may be of several seeds or systems."""
    return _runs.get(_key(place), lambda: open_runs(Dataset.open(place.folder)))


def run_of(place: WorkspaceFolder, part: int = 0) -> ScoredRun:
    runs = runs_in(place)
    if part >= len(runs):
        problem = (
            f"'{place.entry.name}' has no run {part}: it holds {several(len(runs), 'run')},"
            " numbered from 0."
        )
        raise NotFound(problem, "Choose one from its page.")
    return runs[part]


def usual_trait(run: ScoredRun) -> str:
    """What to tell subgroups apart by: the first trait that differs between records."""
    return next((name for name in SUBGROUPS if run.trait(name)["value"].n_unique() > 1), "language")


def scored(place: WorkspaceFolder, subgroup: str = "", part: int = 0) -> pl.DataFrame:
    """A row per labelled record: id, text, truth, said, answer ("other" and "none" beyond the
    classes), right, confidence (the greatest score), rationale, subgroup.
    """
    return _groups.get(
        (_key(place), subgroup, part), lambda: _scored(run_of(place, part), subgroup)
    )


def detected(place: WorkspaceFolder) -> Lineage:
    """The step that made the predictions; one without settings where it is not recorded."""
    return last_step(place.manifest.lineage, "detect") or Lineage(step="")


def title_of(place: WorkspaceFolder) -> str:
    """The name of a run; a step of a study is known by its detector and what it was set to."""
    step = detected(place)
    if place.entry.study is None or not step.step:
        return place.entry.name
    settings = step.parameters.get("settings") or {}
    chosen = [f"{name}={value}" for name, value in settings.items() if isinstance(value, str)]
    return " ".join([str(step.parameters.get("detector")), *chosen, f"seed {step.seed}"])


def name_of(place: WorkspaceFolder, part: int) -> str:
    """The name of a run, which may be one of several in its folder."""
    return title_of(place) if len(runs_in(place)) == 1 else run_of(place, part).name


def same_records(workspace: Workspace, place: WorkspaceFolder) -> list[WorkspaceFolder]:
    """The runs that answered exactly these records, this one first; those of other studies are on
    the pages of their studies.
    """
    others = [
        run
        for run in workspace.of("run")
        if run.digest == place.digest
        and run.entry.study in (None, place.entry.study)
        and run.entry.id != place.entry.id
    ]
    return [place, *others]


def score_of(place: WorkspaceFolder, part: int = 0) -> tuple[float | None, Interval | None]:
    """The macro-F1 of a run with its interval."""

    def work() -> tuple[float | None, Interval | None]:
        (run,) = in_one_unit([run_of(place, part)])
        answers = run.answers
        score = macro_f1_of(answers) if answers.answered else None
        return score, None if score is None else table_interval(answers, macro_f1)[0]

    return _boards.get((_key(place), part, "score"), work)


def two_best(workspace: Workspace, place: WorkspaceFolder) -> list[str]:
    """The ids of the two runs with the highest macro-F1 on these records."""
    runs = same_records(workspace, place)[:MOST_RUNS]
    runs.sort(key=lambda place: -(macro_f1_of(run_of(place).answers) or 0.0))
    if len(runs) < 2:
        problem = f"No other run answered the records of '{place.entry.name}'."
        raise NotFound(problem, "Run another detector on its dataset.")
    return [run.entry.id for run in runs[:2]]


def board_of(places: Sequence[WorkspaceFolder], parts: Sequence[int] | None = None) -> Board | None:
    """Runs on the same records, ranked by macro-F1; null where there is only one."""

    def work() -> Board | None:
        named = [replace(run_of(place, part), name=name_of(place, part)) for place, part in each]
        runs = [run for run in named_apart(named) if run.answers.answered]
        alike = [run for run in runs if run.task.name == runs[0].task.name]
        if len(alike) < 2:
            return None
        return by_metric(in_one_unit(on_shared_records(alike)), metrics()[0], seed=0, draws=DRAWS)[
            0
        ]

    each = sorted(
        zip(places[:MOST_RUNS], parts or [0] * len(places), strict=False),
        key=lambda pair: (pair[0].entry.id, pair[1]),
    )
    return _boards.get(tuple((_key(place), part) for place, part in each), work)


def source_of(workspace: Workspace, place: WorkspaceFolder) -> WorkspaceFolder | None:
    """The dataset that a run was made from, where it is in the workspace."""
    inputs = map(workspace.with_digest, detected(place).inputs.values())
    return next(filter(None, inputs), None)


def why_of(
    workspace: Workspace, place: WorkspaceFolder, text: str, answer: str | None
) -> tuple[list[tuple[str, float]], str]:
    """The words of a text, each with what it adds to the answer of a linear detector, or why they
    are not known. The detector learns again: with its seed, it learns the same.
    """
    from claimlab.detect.detectors.tfidf import Tfidf
    from claimlab.detect.prepare import prepare

    step = detected(place)
    if step.parameters.get("detector") != Tfidf.name or answer is None:
        return [], ""
    source = source_of(workspace, place)
    if source is None:
        return [], "The dataset that it learnt from is not in this workspace: words have no weight."
    if (source.entry.records or 0) > MOST_LEARNT:
        return [], f"Words are weighed with at most {MOST_LEARNT:,} records."
    settings = step.parameters.get("settings") or {}

    def learn() -> Tfidf:
        dataset, detector = Dataset.open(source.folder), Tfidf(**settings)
        task = open_task(str(step.parameters.get("task")), dataset.records)
        prepare(dataset, detector, task=task, seed=step.seed or 0, evidence="none", pieces=1)
        return detector

    return _learnt.get((source.digest, json.dumps(settings), step.seed), learn).weights(
        text, answer
    ), ""


def _key(place: WorkspaceFolder) -> tuple[str, ...]:
    files = ("records.parquet", "predictions.parquet", "annotations.parquet")
    return place.entry.id, *(place.manifest.files.get(file, "") for file in files)


def _scored(run: ScoredRun, subgroup: str) -> pl.DataFrame:
    table, subgroup = run.table, subgroup or usual_trait(run)
    answered = pl.col("said").is_not_null() | pl.col("abstained").is_not_null()
    answer = (
        pl.when(pl.col("said").is_in(run.classes)).then("said").when(answered).then(pl.lit("other"))
    )
    confidence = [max(scores_of(text).values(), default=None) for text in table["scores"]]
    columns = table.with_row_index("row").select(
        "row",
        *("id", "text", "truth", "said", "rationale"),
        answer=answer.otherwise(pl.lit("none")),
        right=pl.col("said").eq_missing(pl.col("truth")),
        confidence=pl.Series(confidence, dtype=pl.Float64),
    )
    values = run.trait(subgroup).group_by("row", maintain_order=True).agg(subgroup="value")
    return (
        columns.join(values, on="row", how="left", maintain_order="left")
        .drop("row")
        .with_columns(pl.col("text").fill_null(""), pl.col("subgroup").fill_null([]))
    )


def prediction_link(run: str, id: str, part: int = 0) -> str:
    return f"/runs/{run}/prediction?{urlencode({'id': id, **({'part': part} if part else {})})}"


def prediction_of(
    place: WorkspaceFolder, id: str, part: int
) -> tuple[JsonObject, dict[str, float], list[JsonObject]]:
    """A labelled record with its answer, the scores, and the evidence that the run kept for it."""
    rows = as_text(run_of(place, part).table.lazy().filter(id=id)).collect().to_dicts()
    if not rows:
        raise NotFound(
            f"The run '{place.entry.name}' has no prediction for '{id[:100]}'.",
            "Choose one from its list.",
        )
    file = place.table("evidence")
    return rows[0], scores_of(rows[0]["scores"]), [] if file is None else about(file, id)


def call_rows(place: WorkspaceFolder, text: str | None) -> tuple[list[dict[str, str]], str]:
    """Recorded calls of models that hold the text of the record: what was asked, and what was
    answered.
    """
    file = place.folder.parent / f"{place.folder.name}.cache"
    files = sorted(file.glob("*.sqlite")) if file.is_dir() else []
    if not files or not text:
        return [], "No calls of a model are recorded beside this run."
    needle = json.dumps(text)[1:-1]  # as the recording writes it
    calls: list[dict[str, str]] = []
    for path in files:
        try:
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5) as db:
                rows = db.execute(
                    "SELECT kind, question, answer FROM calls WHERE instr(question, ?) LIMIT ?",
                    (needle, MOST_CALLS),
                ).fetchall()
        except sqlite3.DatabaseError as error:
            return calls, f"The recording '{path.name}' cannot be read: {error}."
        calls += [
            {"kind": kind, "prompt": _readable(question), "reply": _readable(answer)}
            for kind, question, answer in rows
        ]
    return calls, "" if calls else "No recorded call holds the text of this record."


def _readable(text: str) -> str:
    """A recorded question or answer: the messages of a model call as they were written, anything
    else as JSON.
    """
    try:
        content = json.loads(text)
    except ValueError:
        return text
    if isinstance(content, dict) and isinstance(content.get("messages"), list):
        messages = [m for m in content["messages"] if isinstance(m, dict)]
        return "\n\n".join(f"[{m.get('role')}]\n{m.get('content')}" for m in messages)
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        return str(content["text"])
    return json.dumps(content, ensure_ascii=False, indent=1)


def scores_of(text: str | None) -> dict[str, float]:
    """The scores of an answer by class, as a run keeps them."""
    try:
        scores = json.loads(text) if text else {}
        return {name: float(score) for name, score in scores.items() if score is not None}
    except (ValueError, TypeError, AttributeError):
        return {}
