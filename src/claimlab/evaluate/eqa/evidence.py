"""The inputs of a study's report: its datasets, their saved audits, and its evaluation runs.

A run is scored like any run, with random examples of right and wrong, what annotators decided about
these in a review, and the command that starts one. The shifts that the author puts in scope are
held against what the runs test: a promise without a test is a failure.

Which shifts the split of a run tests: are its test records of another time, source, topic,
language or platform than those it was trained on?

The lineage of a run says how its records were split. Where the split came with the data, the
training records are looked at instead, if they are within reach. What the author says of a run
decides nothing here.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from claimlab.audit.result import Audit, read_audits
from claimlab.claims.contamination.result import Contamination, read_contamination
from claimlab.core import packaged
from claimlab.core.columns import column_values, meta_values
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError
from claimlab.core.plain import slug
from claimlab.core.progress import progress
from claimlab.core.record import to_side_table
from claimlab.core.remote import is_remote
from claimlab.core.stats.interval import Interval
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.detect.detector import DETECTORS
from claimlab.evaluate.compare import compare_all
from claimlab.evaluate.defend.result import COLOURS
from claimlab.evaluate.eqa.study import InScope, RunFile, Study
from claimlab.evaluate.front import evaluate_run, steps, together
from claimlab.evaluate.judge.people import judged_in
from claimlab.evaluate.metric import speller
from claimlab.evaluate.result import Evaluation, RunResult
from claimlab.evaluate.scored_run import (
    About,
    ScoredRun,
    about_of,
    each_run,
    last_step,
    predictions_in,
)
from claimlab.pages.blocks import excerpt
from claimlab.tasks import open_task, own_task


class Shift(NamedTuple):
    """One of `data/shifts.toml`, which says what each field means."""

    words: str
    column: str
    strategies: list[str]
    columns: list[str]
    todo: str


SHIFTS = {
    name: Shift(**one)
    for name, one in packaged.toml("claimlab.evaluate.eqa", "shifts.toml").items()
}
# strategies that hold no value out
DEALT = {"random", "group", "near-duplicates", "pair", "balanced"}
# detectors that are not a method to be tested
BASELINES = {"majority", "stratified", "shortcut"}


@dataclass(frozen=True)
class Tests:
    """The shifts that one run tests, each with what shows it; `split` says how its records were
    split, and `why` what else keeps it from testing any."""

    split: str = "how its records were split is not recorded"
    shifts: dict[str, str] = field(default_factory=dict)
    why: str = ""

    def reason(self) -> str:
        """Why the run does not test a shift that it does not test."""
        return self.why or self.split


def tests_of(run: ScoredRun, lineage: Sequence[Lineage], training: pl.DataFrame | None) -> Tests:
    """What a run tests. `lineage` is that of its records, `training` the rows it was trained on, if
    they are known.
    """
    step = last_step(lineage, "split")
    parameters = {} if step is None else step.parameters
    by = parameters.get("by")
    split = _in_words(parameters)
    if why := _tests_nothing(run):
        return Tests(split, why=why)
    if by in DEALT.union({"column"}, *(shift.strategies for shift in SHIFTS.values())):
        held = {name: split for name, shift in SHIFTS.items() if _holds_out(shift, parameters)}
        return Tests(split, held)
    if training is None or not training.height:
        return Tests(f"{split}, and its training records are not within reach")
    measured = {name: _measured(name, run.table, training) for name in SHIFTS}
    return Tests(split, {name: how for name, how in measured.items() if how})


def is_known_detector(run: ScoredRun) -> bool:
    """Whether the run was made here; of predictions made elsewhere little is known."""
    about = run.about
    return (
        about.detector is not None
        and about.detector in DETECTORS
        and "predictions" not in about.settings
    )


def is_generative(run: ScoredRun) -> bool:
    """Whether the system writes its answers: it asks a language model, or was run elsewhere and
    gives rationales.
    """
    if is_known_detector(run):
        return "model" in DETECTORS.get(str(run.about.detector)).handles
    return bool(run.table["rationale"].is_not_null().any())


def _tests_nothing(run: ScoredRun) -> str:
    """Why no split could make a test of this run; empty where one could."""
    detector = run.about.detector
    if is_known_detector(run) and detector in BASELINES:
        return f"the detector {detector} is a baseline"
    if is_known_detector(run) and not DETECTORS.get(str(detector)).needs_training:
        return "it learned nothing from the training records, so that the split tests nothing of it"
    n = run.table.height
    outside = n - int((run.table["split"] == "test").fill_null(False).sum())
    if outside or not n:
        return f"{outside:,} of {several(n, 'scored record')} are not in the test set"
    return ""


def _holds_out(shift: Shift, parameters: JsonObject) -> bool:
    """Whether a split with these `parameters` keeps the values of the test records out of
    training.
    """
    by, column = parameters.get("by"), parameters.get("column")
    if by in shift.strategies or (by == "column" and column in shift.columns):
        return True
    train, test = parameters.get("train_where", {}), parameters.get("test_where", {})
    return any(c in train and c in test and not set(train[c]) & set(test[c]) for c in shift.columns)


def _measured(name: str, scored: pl.DataFrame, training: pl.DataFrame) -> str | None:
    """What the records themselves show; null where they share values, or where one has none to
    compare.
    """
    column = SHIFTS[name].column
    tested, trained = _values(scored, column), _values(training, column)
    if tested is None or trained is None or tested.null_count() or trained.null_count():
        return None
    if name == "time":
        first, last = tested.min(), trained.max()
        if not isinstance(first, datetime) or not isinstance(last, datetime) or first <= last:
            return None
        return (
            f"every test record is dated {first:%Y-%m-%d} or later, every training record earlier"
        )
    shared = tested.is_in(trained.implode()).any()
    return None if shared else f"no {name} of a test record occurs in training"


def _values(records: pl.DataFrame, column: str) -> pl.Series | None:
    known = column in records.columns or column.removeprefix("meta.") in meta_values(records)
    return column_values(records, column) if known else None


def _in_words(parameters: JsonObject) -> str:
    by = parameters.get("by")
    if by is None:
        return Tests().split
    if by == "random":
        words = "split at random"
    elif by == "column":
        words = f"split by the column {parameters.get('column')}"
    else:
        words = f"split by {by}"
    more = str(parameters.get("name", by)).removeprefix(str(by)).lstrip(":")
    return f"{words} ({more})" if more else words


@dataclass(frozen=True)
class Judgement:
    """One item of a review: what it came to (null while it is open), how, by whom; and what the
    annotators saw.
    """

    question: str
    value: str | None
    how: str
    annotators: str | None
    comments: str | None
    text: str | None
    said: str | None

    def words(self) -> str | None:
        """The decision in a line; null where there is none yet."""
        if self.value is None:
            return None if self.annotators is None else f"{self.how} ({self.annotators})"
        who = f" ({self.annotators})" if self.annotators else ""
        return f"{self.value}{who}" + (f" – {self.comments}" if self.comments else "")


def read_judgements(home: Path, folder: str) -> dict[str, Judgement]:
    """By record id, the items of the review in `folder` that are about one record."""
    from claimlab.review.project import (
        item_rows,
    )  # only where a review is named: a report needs no store
    from claimlab.review.review import Review
    from claimlab.review.shapes import Payload

    review = Review.open(folder if is_remote(folder) else home / folder)
    try:
        rows = {row["item"]: row for row in review.results().iter_rows(named=True)}
        shown = {
            row["id"]: Payload.model_validate(row["payload"]) for row in item_rows(review.folder)
        }
    finally:
        review.close()
    question = review.task.question
    return {
        row["record_id"]: Judgement(
            question,
            row["value"],
            row["how"],
            row["annotators"],
            row["comments"],
            shown[name].text,
            None if (model := shown[name].model) is None else model.label,
        )
        for name, row in rows.items()
        if row["record_id"] is not None and row["other_id"] is None
    }


def about_run(judged: Mapping[str, Judgement], run: ScoredRun) -> tuple[dict[str, Judgement], int]:
    """The judgements that are about this run: same text, and, where annotators saw a prediction,
    the same one; and how many are about its records, but about another text or prediction."""
    rows = {
        i: (text, label) for i, text, label in run.table.select("id", "text", "said").iter_rows()
    }
    known = {i: judgement for i, judgement in judged.items() if i in rows}
    if judged and not known:
        raise DataError(
            f"The review of the run '{run.name}' is about none of its records.",
            "Name the folder of a review of this run, or leave `review` out.",
        )
    spell = speller(run.classes)
    mine = {
        i: judgement
        for i, judgement in known.items()
        if judgement.text == rows[i][0]
        and (judgement.said is None or spell(judgement.said.strip()) == rows[i][1])
    }
    return mine, len(known) - len(mine)


def review_command(
    listed: RunFile, run: ScoredRun, records: Sequence[str], *, is_folder: bool
) -> str:
    """The command that starts a review of exactly these examples, to be run where the EQA file
    is.
    """
    words = packaged.toml("claimlab.evaluate.eqa", "review.toml")
    data = shlex.quote(listed.path if is_folder else str(listed.dataset))
    task = "label" if run.table["rationale"].is_null().all() else "rationale"
    folder = f"review-{slug(run.name)}"
    start = words["folder" if is_folder else "table"].format(data=data, task=task, folder=folder)
    return " ".join(
        [start, *(shlex.quote(words["record"].format(record=record)) for record in records)]
    )


EXAMPLES = 25  # correct ones, and as many wrong ones
DECIDED = ("question", "value", "how", "annotators", "comments")  # of a judgement, in eqa.json
SHOWN = {"input": 600, "scores": 200, "rationale": 300}  # characters


@dataclass(frozen=True)
class ExaminedRun(ScoredRun):
    """A scored run with examples drawn at random, what its split tests, and what a review says of
    its predictions.
    """

    correct: list[JsonObject] = field(default_factory=list)
    wrong: list[JsonObject] = field(default_factory=list)
    tests: Tests = field(default_factory=Tests)
    judgements: Mapping[str, Judgement] = field(default_factory=dict)  # by record
    unused: int = 0  # judgements of other texts or predictions
    review: str = ""  # the command that starts a review of the examples
    # every score with its interval, by every subgroup that the records have; null if no record is
    # labelled
    result: RunResult | None = None

    @property
    def examples(self) -> list[JsonObject]:
        return [*self.correct, *self.wrong]

    def judged(self, record: str) -> str | None:
        """What annotators decided about an example, in a line; null where there is nothing yet."""
        judgement = self.judgements.get(record)
        return (judgement.words() if judgement is not None else None) or None

    def to_json(self) -> JsonObject:
        return {
            **{name: getattr(self, name) for name in ("name", "dataset", "digest", "split")},
            "records": self.table.height,
            "answered": self.answered,
            "scores": self.scores(),
            "evaluation": self.result and asdict(self.result),
            "lower_bound": is_generative(self),
            "tests": asdict(self.tests),
            "correct": [{**row, "judgement": self.judgement(row)} for row in self.correct],
            "wrong": [{**row, "judgement": self.judgement(row)} for row in self.wrong],
        }

    def judgement(self, example: JsonObject) -> JsonObject | None:
        """What annotators decided about an example, as data; null where none did."""
        known = self.judgements.get(example["id"])
        return None if known is None else {name: getattr(known, name) for name in DECIDED}

    def scores(self) -> dict[str, float | None]:
        """Accuracy and macro-F1 over every labelled record, one without an answer counted as wrong;
        and baselines. Nothing when no record is labelled, and no macro-F1 where all have one class.
        """
        if self.result is None:
            return {}
        floor = {f"{b.name}_f1": b.macro_f1 for b in self.result.baselines}
        return {
            "accuracy": self.result.scores.accuracy,
            "macro_f1": self.result.scores.macro_f1,
            **floor,
        }


def read_runs(
    listed: RunFile, study: Study, home: Path, known: Sequence[Dataset]
) -> list[ExaminedRun]:
    """The runs in a dataset folder or a Parquet file: one for each value of the column `run`.

    A run on a part of one of the study's datasets is a run on it.
    """
    path = home / listed.path
    folder = Dataset.open(path) if path.is_dir() else None
    records = folder if listed.dataset is None else Dataset.open(home / listed.dataset)
    if records is None:
        raise DataError(
            f"The run '{listed.name}' is a file without records.",
            'Say whose predictions they are: dataset = "DIR"',
        )
    task = open_task(own_task(records, study.data.target))
    lineage, about = records.lineage, About()
    if folder is None:
        predictions = _predictions(path)
    else:
        predictions, lineage = predictions_in(folder, listed.name), folder.lineage
        about = replace(about_of(lineage), judged=judged_in(folder, task))
    scored = each_run(
        listed.name,
        predictions,
        records,
        task,
        split=listed.split,
        about=about,
        digest=home_of(records, known),
    )
    training = _training(lineage, [records, *known])
    judged = {} if listed.review is None else read_judgements(home, listed.review)
    seed = study.inspection.seed
    runs = []
    for run in scored:
        right = pl.col("said") == pl.col("truth")
        correct, wrong = (_draw(run.table.filter(rows), seed) for rows in (right, ~right))
        judgements, unused = about_run(judged, run)
        whole = {field.name: getattr(run, field.name) for field in fields(run)}
        ids = [row["id"] for row in (*correct, *wrong)]
        examined = ExaminedRun(
            **whole,
            correct=correct,
            wrong=wrong,
            tests=tests_of(run, lineage, training),
            judgements=judgements,
            unused=unused,
            review=review_command(listed, run, ids, is_folder=path.is_dir()) if ids else "",
            result=evaluate_run(run, step=steps([run], None)) if run.table.height else None,
        )
        runs.append(examined)
    return runs


def _training(lineage: Sequence[Lineage], within_reach: Sequence[Dataset]) -> pl.DataFrame | None:
    """The rows that a run was trained and tuned on: of the dataset that its lineage names, if it is
    among those.
    """
    step = last_step(lineage, "detect")
    wanted = None if step is None else set(step.inputs.values())
    for dataset in within_reach:
        if wanted is None or dataset.digest() in wanted:
            return dataset.records.filter(pl.col("split").is_in(["train", "dev"]))
    return None


def home_of(part: Dataset, known: Sequence[Dataset]) -> str:
    """The digest of the dataset that `part` is, or is a part of (same ids, texts and verdicts);
    else its own.
    """
    same = ["id", "text", "veracity"]
    for whole in known:
        if part.digest() == whole.digest():
            break
        if not part.records.join(whole.records, on=same, how="anti", nulls_equal=True).height:
            return whole.digest()
    return part.digest()


def _predictions(file: Path) -> pl.DataFrame:
    try:
        table = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"The predictions '{file}' cannot be read: {error}.", "Check the path and the format."
        ) from None
    return to_side_table("predictions", table)


def _draw(rows: pl.DataFrame, seed: int) -> list[JsonObject]:
    """`EXAMPLES` rows at random: input, output and truth."""
    order = np.random.default_rng(seed).permutation(rows.height)[:EXAMPLES]
    drawn = rows.sort("id")[order.tolist()].select(
        "id",
        input="text",
        output="said",
        truth="truth",
        scores="scores",
        rationale="rationale",
    )
    return [
        {
            name: excerpt(value, SHOWN[name]) if name in SHOWN and value else value
            for name, value in row.items()
        }
        for row in drawn.iter_rows(named=True)
    ]


Outcome = Literal["tested", "not-tested", "out-of-scope", "left-open"]
OUTCOMES: dict[str, Outcome] = {"out of scope": "out-of-scope", "left open": "left-open"}
ELSEWHERE = "its predictions were made elsewhere, so that what it was trained on is not recorded"


@dataclass(frozen=True)
class Test:
    """One run that tests a shift: how it does, and what it scores there."""

    run: str
    how: str
    records: int
    macro_f1: float | None
    interval: Interval | None
    baseline: float | None  # the best trivial one on the same records

    @property
    def above_baseline(self) -> bool:
        low = self.macro_f1 if self.interval is None else self.interval[0]
        return low is not None and self.baseline is not None and low > self.baseline

    def score(self) -> str:
        if self.macro_f1 is None:
            return f"no macro-F1 (one class) on {several(self.records, 'record')}"
        ends = (
            "no interval"
            if self.interval is None
            else "{:.1f} to {:.1f}".format(*(100 * e for e in self.interval))
        )
        above = "above" if self.above_baseline else "NOT above"
        scored = f"macro-F1 {100 * self.macro_f1:.1f} ({ends}) on {several(self.records, 'record')}"
        return scored if self.baseline is None else f"{scored}, {above} the best trivial baseline"


@dataclass(frozen=True)
class ShiftResult:
    """`contradicted` has what the author says of runs that do not test the shift."""

    shift: str
    scope: str
    outcome: Outcome
    tests: list[Test]
    contradicted: list[str]
    why: str

    def sentence(self) -> str:
        words = f"{self.shift} ({SHIFTS[self.shift].words})"
        if self.outcome == "not-tested":
            return f"{words} is in scope, and no run tests it. {self.why}"
        if self.outcome == "tested":
            runs = "; ".join(f"'{excerpt(t.run, 60)}', {t.how}: {t.score()}" for t in self.tests)
            return f"{words} is tested by {runs}."
        return f"{words}: {self.scope}."


def _result(name: str, promise: InScope, runs: Sequence[ExaminedRun]) -> ShiftResult:
    tests = [_test(name, run) for run in runs if name in run.tests.shifts]
    if promise.scope != "in scope":
        return ShiftResult(name, promise.scope, OUTCOMES[promise.scope], tests, [], "")
    claims = [
        sentence for claim in promise.tested_by for sentence in _contradicted(name, claim, runs)
    ]
    if tests:
        return ShiftResult(name, promise.scope, "tested", tests, claims, "")
    reasons = [f"'{excerpt(run.name, 60)}': {run.tests.reason()}." for run in runs] or [
        "No run was given."
    ]
    todo = f"To test it, use {SHIFTS[name].todo} and run the detector on that split."
    why = " ".join([*dict.fromkeys(reasons), todo])
    return ShiftResult(name, promise.scope, "not-tested", [], claims, why)


def _test(name: str, run: ExaminedRun) -> Test:
    how = run.tests.shifts[name]
    how = how if is_known_detector(run) else f"{how}; {ELSEWHERE}"
    result = run.result
    if result is None:
        return Test(run.name, how, 0, None, None, None)
    floor = max((b.macro_f1 for b in result.baselines if b.macro_f1 is not None), default=None)
    return Test(
        run.name, how, result.scores.n, result.scores.macro_f1, result.intervals["macro_f1"], floor
    )


def _contradicted(name: str, claim: str, runs: Sequence[ExaminedRun]) -> Iterator[str]:
    """What is wrong with the author's word that the run or split `claim` tests a shift."""
    mine = [
        run
        for run in runs
        if claim in (run.name, run.about.divided_by, run.about.division)
        or run.name.startswith(f"{claim}: ")
    ]
    shown = excerpt(claim, 60)
    if not mine:
        yield f"'{shown}' is said to test {name}, but no run or split has this name."
    for run in mine:
        if name not in run.tests.shifts:
            whose = "" if claim == run.name else f"'{excerpt(run.name, 60)}': "
            yield f"'{shown}' is said to test {name}, but does not: {whose}{run.tests.reason()}."


@dataclass(frozen=True)
class Evidence:
    """`audits[i]` are the audits made on exactly the records of `datasets[i]`; the others are
    `strays`.
    """

    study: Study
    datasets: list[Dataset]
    audits: list[list[Audit]]
    strays: list[Audit] = field(default_factory=list)
    runs: list[ExaminedRun] = field(default_factory=list)
    contamination: list[Contamination] = field(default_factory=list)
    defences: list[JsonObject] = field(default_factory=list)

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """The runs beside each other: compared, joined over seeds, and dropped from random to
        held-out splits.
        """
        runs = [run for run in self.runs if run.result is not None]
        results = [run.result for run in runs if run.result is not None]
        return Evaluation(results, **together(runs, compare_all(runs))) if runs else None

    @cached_property
    def scope(self) -> list[ShiftResult]:
        """Every shift of the form, held against what the runs test; empty where the author wrote no
        form.
        """
        promises = {} if self.study.shifts is None else self.study.shifts.each()
        return [_result(name, promise, self.runs) for name, promise in promises.items()]

    def every_audit(self) -> list[Audit]:
        return [a for mine in self.audits for a in mine]


def gather(study: Study, home: Path) -> Evidence:
    """Open what the study names; paths are relative to `home`, the folder of the study file."""
    folders = study.data.datasets
    datasets = []
    for i, folder in enumerate(folders):
        progress("datasets", i, len(folders))
        datasets.append(Dataset.open(home / folder))
    progress("datasets", len(folders), len(folders))
    digests = [d.digest() for d in datasets]
    saved = [a for path in study.data.audits for a in read_audits(home / path)]
    by_dataset = [[a for a in saved if a.digest == digest] for digest in digests]
    strays = [a for a in saved if a.digest not in digests]
    runs: list[ExaminedRun] = []
    for i, listed in enumerate(study.runs):
        progress("runs", i, len(study.runs))
        runs += read_runs(listed, study, home, datasets)
    progress("runs", len(study.runs), len(study.runs))
    known = [read_contamination(home / path) for path in study.data.contamination]
    defences = [read_defence(home / path) for path in study.data.defences]
    return Evidence(study, datasets, by_dataset, strays, runs, known, defences)


def read_defence(folder: Path) -> JsonObject:
    """What `defend` wrote of a run. The figure is drawn again: a file that was received may hold
    anything."""
    try:
        content: JsonObject = json.loads((folder / "defence.json").read_text("utf-8"))
        run, ceiling = content["run"], content["run"]["ceiling"]
        top = ((ceiling or {}).get("scores") or {}).get("accuracy")
        parts = {one["name"]: float(one["share"]) for one in content["copied"]["segments"]}
        return {
            "paragraph": str(content["paragraph"]),
            "row": dict(content["row"]),
            "run": str(run["name"]),
            "accuracy": float(run["scores"]["accuracy"] or 0),
            "ceiling": top and float(top[0]),
            "parts": {name: share for name, share in parts.items() if name in COLOURS},
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"'{folder}' cannot be read as a defence: {error}.",
            "Give a folder that claimlab defend wrote.",
        ) from None
