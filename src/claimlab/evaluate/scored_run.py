"""A run with the true labels: the records to predict, the answer to each, and the settings of the
run.

A run is a folder that `claimlab detect` wrote, or a table of predictions (id, label, score) made
elsewhere together with the dataset it is about. Nothing is dropped in silence: what could not be
scored is counted.

The subgroups of records: by language and its properties, by how they were made, by time and by
source.

A trait gives each record no value, one, or several (a text may use several techniques). Languages
are looked up by their ISO 639-3 code in the language table, whatever code a dataset wrote; the
resource class is the dataset's own where it has one, else the table's, so that a person's text has
one as well as a machine's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

import polars as pl

from claimlab.core.columns import column_values
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError
from claimlab.core.labels import fold
from claimlab.core.languages import Language, describe
from claimlab.core.options import Setting
from claimlab.core.record import to_side_table
from claimlab.core.stats.scores import Floats
from claimlab.core.types import JsonObject
from claimlab.evaluate.metric import Answers, answers, speller
from claimlab.tasks import Task, open_task, own_task

if TYPE_CHECKING:
    from claimlab.core.run import Stored


# `row` and `value`, one line for each value that a record has, in the order of the records
Values = pl.DataFrame


Trait = Callable[[pl.DataFrame], Values]


def _of_language(fact: Callable[[Language], str | None]) -> Trait:
    def read(records: pl.DataFrame) -> Values:
        return _each(
            records["language"],
            lambda code: _one(fact(known) if (known := describe(code)) else None),
        )

    return read


def _resource(records: pl.DataFrame) -> Values:
    own = _from_meta(records, ("resource",), lambda meta: _one(meta.get("resource") or None))
    known = _of_language(lambda language: language.resource)(records)
    return pl.concat([own, known.join(own, on="row", how="anti")]).sort("row")


def _column(name: str) -> Trait:
    return lambda records: _alone(records[name])


def _date(form: str) -> Trait:
    return lambda records: _alone(records["date"].dt.strftime(form))


def _synthetic(*keys: str) -> Trait:
    """How a synthetic text was made, from `meta`: a top-level key, or one of its origin or change
    log.
    """
    return lambda records: _from_meta(records, keys, lambda meta: _first_key(meta, keys))


def _first_key(meta: JsonObject, keys: tuple[str, ...]) -> list[str]:
    synthetic = meta.get("synthetic")
    synthetic = synthetic if isinstance(synthetic, Mapping) else {}
    origin, changes = synthetic.get("origin"), synthetic.get("changes")
    places: list[Any] = [meta, origin, *(changes if isinstance(changes, list) else [])]
    for key in keys:
        values = [
            place[key]
            for place in places
            if isinstance(place, Mapping) and place.get(key) not in (None, "", [])
        ]
        if values:
            flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
            return list(dict.fromkeys(map(str, flat)))
    return []


TRAITS: dict[str, Trait] = {
    "language": _column("language"),
    "family": _of_language(lambda language: language.family),
    "script": _of_language(lambda language: language.script),
    "word-order": _of_language(lambda language: language.word_order),
    "resource": _resource,
    "authorship": _column("authorship"),
    "model": _synthetic("model", "mLLM"),
    "technique": _synthetic("techniques", "technique", "kind", "technique_keys"),
    "degree": _synthetic("degree", "intensity"),
    "kind": _column("kind"),
    "topic": _column("topic"),
    "source": _column("source"),
    "year": _date("%Y"),
    "month": _date("%Y-%m"),
}
# what is shown when nothing was asked for
USUAL = [name for name in TRAITS if name != "month"]
ALIASES = {
    "date": "year",
    "word_order": "word-order",
    "resource-class": "resource",
    "techniques": "technique",
}


def trait(records: pl.DataFrame, name: str) -> Values:
    """The values of a trait, or of any record column or key of `meta`."""
    known = TRAITS.get(ALIASES.get(name, name))
    if known is not None:
        return known(records)
    values = column_values(records, name)
    return _alone(values) if values.dtype == pl.String else _each(values, _one)


def title(name: str) -> str:
    return {"resource": "resource class", "word-order": "word order"}.get(name, name)


def _each(values: pl.Series, read: Callable[[Any], list[str]]) -> Values:
    """`read` of every value, computed once per distinct value: most columns have few values on many
    records.
    """
    distinct = values.unique().drop_nulls()
    results = pl.Series([read(value) for value in distinct.to_list()], dtype=pl.List(pl.String))
    table = pl.DataFrame({"key": distinct, "value": results})
    rows = (
        pl.DataFrame({"key": values})
        .with_row_index("row")
        .join(table, on="key", how="inner", maintain_order="left")
    )
    return rows.select("row", "value").explode("value").drop_nulls("value")


def _alone(values: pl.Series) -> Values:
    """Texts of which a record has at most one."""
    return pl.DataFrame({"value": values}).with_row_index("row").drop_nulls("value")


def _from_meta(
    records: pl.DataFrame, keys: tuple[str, ...], read: Callable[[JsonObject], list[str]]
) -> Values:
    """`read` of every `meta` that has one of the keys; only those are parsed."""
    meta = records["meta"].cast(pl.String)
    present = meta.str.contains_any([f'"{key}"' for key in keys]).fill_null(False)
    return _each(meta.set(~present, None), lambda text: read(_object(text)))


def _one(value: Any) -> list[str]:
    return [] if value is None else [str(value)]


def _object(text: str) -> JsonObject:
    content = json.loads(text)
    return content if isinstance(content, dict) else {}


NO_EVIDENCE, INSUFFICIENT = "no-evidence", "insufficient-evidence"
# What a system writes instead of a verdict when it found nothing, or not enough: two different
# things.
ABSTENTIONS = {
    NO_EVIDENCE: ("no evidence", "no evidence found", "nothing found"),
    INSUFFICIENT: (
        "insufficient evidence",
        "not enough evidence",
        "not enough info",
        "not enough information",
        "nei",
    ),
}
_ABSTAINED = {word: kind for kind, words in ABSTENTIONS.items() for word in words}


@dataclass(frozen=True)
class About:
    """What the lineage records about a run; all null for predictions made elsewhere."""

    detector: str | None = None
    settings: JsonObject = field(default_factory=dict)
    seed: int | None = None
    divided_by: str | None = None  # how the data was split: "random", "time", "source", ...
    notes: tuple[str, ...] = ()
    division: str | None = None  # the split by its full name: "source:leave-out=Herald"
    judged: tuple[
        JsonObject, ...
    ] = ()  # verdicts of judges on its rationales, if it has their annotations


@dataclass(frozen=True)
class ScoredRun:
    """`table` has one row per labelled record to be answered: the record's columns, `truth`,
    `said`, `abstained`, `scores` and `rationale`."""

    name: str
    dataset: str
    digest: str
    task: Task
    split: str | None
    table: pl.DataFrame
    classes: tuple[str, ...]
    strangers: int  # predictions for records that the dataset does not hold
    unlabelled: int  # records of the part without a usable label
    repeated: int  # predictions beyond the first for one record
    untouched: int  # labelled records without a prediction, left out because no split was named
    about: About = field(default_factory=About)
    annotations: pl.DataFrame | None = None  # of the dataset, where it has any

    @property
    def answered(self) -> int:
        return int(self.table["said"].is_not_null().sum())

    @property
    def hits(self) -> int:
        return int((self.table["said"] == self.table["truth"]).fill_null(False).sum())

    @cached_property
    def answers(self) -> Answers:
        """An abstention is an answer that is none of the classes; only a missing answer is a
        failure.
        """
        return answers(
            self.table["truth"],
            self.table.select(pl.coalesce("said", "abstained")).to_series(),
            groups=self.clusters,
            scores=self.table["scores"],
            order=self.task.classes,
            positive=self.task.positive,
        )

    def trait(self, name: str) -> Values:
        """The values of a trait of the scored records (see `traits`), read once."""
        if name not in self._traits:
            self._traits[name] = trait(self.table, name)
        return self._traits[name]

    @cached_property
    def _traits(self) -> dict[str, Values]:
        return {}

    @cached_property
    def redrawn(self) -> dict[int, tuple[Floats, int]]:
        """Resamples that were made of this run, by what they were made of."""
        return {}

    @cached_property
    def clusters(self) -> pl.Series:
        """What is resampled whole, named alike in every run on these records."""
        group, record = pl.format("group {}", "group"), pl.format("record {}", "id")
        return self.table.select(
            pl.when(pl.col("group").is_not_null()).then(group).otherwise(record)
        ).to_series()


Runs = Sequence[ScoredRun]


OwnTask = Annotated[
    str | None, Setting("A task or any column; by default the one that the run was made for.")
]


class Scoring(TypedDict, total=False):
    """What else is known of predictions: the `split` that they are about (null: the records that
    have one), how they were made, and the digest of the dataset that the records are part of."""

    split: str | None
    about: About | None
    digest: str | None


def task_of(run: Dataset) -> str:
    """The task that the run was made for, by its lineage."""
    detect = last_step(run.lineage, "detect")
    return own_task(run, None if detect is None else detect.parameters.get("task"))


def last_step(lineage: Sequence[Lineage], name: str) -> Lineage | None:
    return next((step for step in reversed(lineage) if step.step == name), None)


def each_run(
    name: str, predictions: pl.DataFrame, dataset: Dataset, task: Task, **more: Unpack[Scoring]
) -> list[ScoredRun]:
    """One run for each value of the column `run`."""
    if not predictions.height:
        raise DataError(
            f"The run '{name}' holds no prediction.",
            "Run the detector again, or leave the run out.",
        )
    names = predictions["run"].fill_null("").unique().sort().to_list()
    out = []
    for run in names:
        mine = predictions.filter(pl.col("run").fill_null("") == run)
        title = name if len(names) == 1 else f"{name}: {run or 'without a name'}"
        out.append(score(title, mine, dataset, task, **more))
    return out


def score(
    name: str, predictions: pl.DataFrame, dataset: Dataset, task: Task, **more: Unpack[Scoring]
) -> ScoredRun:
    """Join predictions with the true labels. Except for spelling ("FALSE " is false), answers are
    not changed.
    """
    split = more.get("split")
    part = dataset.records.with_columns(truth=task.labels(dataset.records))
    if split is not None:
        part = part.filter(split=split)
    if not part.height and split is not None:
        raise DataError(
            f"'{dataset.name}' has no records in the split '{split}'.",
            "Check the name of the split.",
        )
    labelled = part.drop_nulls("truth")
    classes = tuple(labelled["truth"].unique().sort().to_list())
    first = predictions.drop_nulls("record_id").unique(
        "record_id", keep="first", maintain_order=True
    )
    labels = _spelled(first, classes)
    # Without a named split, what was predicted for says what was meant; with one, a missing answer
    # is a wrong one.
    table = labelled.join(
        labels, on="id", how="left" if split is not None else "inner", maintain_order="left"
    )
    return ScoredRun(
        name=name,
        dataset=dataset.name,
        digest=more.get("digest") or dataset.digest(),
        task=task,
        split=split,
        table=table,
        classes=classes,
        strangers=first.join(
            dataset.records.select(record_id="id"), on="record_id", how="anti"
        ).height,
        unlabelled=int(part["truth"].null_count()),
        repeated=predictions.height - first.height,
        untouched=labelled.height - table.height,
        about=more.get("about") or About(),
        annotations=dataset.tables.get("annotations"),
    )


def about_of(lineage: Sequence[Lineage], notes: tuple[str, ...] = ()) -> About:
    """Detector, settings, seed, and how the data was divided, from the last steps of each kind."""
    detect, split = (last_step(lineage, name) for name in ("detect", "split"))
    by = split.parameters.get("by") if split is not None else None
    divided = ", ".join(map(str, by)) if isinstance(by, list) else by
    division = str(split.parameters.get("name", divided)) if split is not None else None
    if detect is None:
        return About(divided_by=divided, notes=notes, division=division)
    known = dict(detect.parameters)
    detector, _, settings = (known.pop(name, None) for name in ("detector", "task", "settings"))
    return About(detector, {**(settings or {}), **known}, detect.seed, divided, notes, division)


def _spelled(predictions: pl.DataFrame, classes: tuple[str, ...]) -> pl.DataFrame:
    """Answers by record id, spelled like the classes; an answer that declines to choose a class is
    `abstained`.
    """
    spell, known = speller(classes), set(classes)
    words = predictions["label"].str.strip_chars()
    spelling = {w: spell(w) for w in words.drop_nulls().unique()}
    spelling = {w: name if name in known else w.lower() for w, name in spelling.items()}
    kinds = {w: None if name in known else _ABSTAINED.get(fold(w)) for w, name in spelling.items()}
    labels = words.replace_strict(spelling, default=None, return_dtype=pl.String)
    by_word = words.replace_strict(kinds, default=None, return_dtype=pl.String)
    meta = predictions["meta"].cast(pl.String)
    withheld = meta.set(~meta.str.contains('"abstained"', literal=True).fill_null(False), None)
    stated = {text: json.loads(text).get("abstained") for text in withheld.drop_nulls().unique()}
    known_kinds = {text: kind if kind in ABSTENTIONS else None for text, kind in stated.items()}
    by_meta = withheld.replace_strict(known_kinds, default=None, return_dtype=pl.String)
    verdict = labels.is_in(classes).fill_null(False)
    return pl.DataFrame(
        {
            "id": predictions["record_id"],
            "said": labels,
            "abstained": by_meta.fill_null(by_word).set(verdict, None),
            "scores": predictions["scores"],
            "rationale": predictions["rationale"],
        }
    )


def predictions_in(run: Dataset, name: str) -> pl.DataFrame:
    """The table of predictions of a run folder."""
    if "predictions" not in run.tables:
        raise DataError(
            f"'{run.path or name}' is not a run: it has no table of predictions.",
            "Make a run with: claimlab detect DATA -o RUN",
        )
    return to_side_table("predictions", run.tables["predictions"])


def open_runs(
    run: Stored,
    *,
    task: str | None = None,
    split: str | None = None,
    name: str | None = None,
) -> list[ScoredRun]:
    """The runs in a run folder (one for each value of the column `run`), scored by the task that
    they were made for.
    """
    from claimlab.evaluate.judge.people import judged_in

    folder = Dataset.of(run)
    own_name = name or (folder.name if folder.path is None else folder.path.name)
    predictions = predictions_in(folder, own_name)
    about = about_of(folder.lineage, tuple(folder.notes))
    chosen = open_task(task or task_of(folder), folder.records)
    about = replace(about, judged=judged_in(folder, chosen))
    return each_run(own_name, predictions, folder, chosen, split=split, about=about)


def open_foreign(
    file: Path, data: Dataset, *, task: str | None = None, split: str | None = None
) -> list[ScoredRun]:
    """The run in `file` on the records of `data`: see `claimlab.files.predictions`."""
    from claimlab.detect.outside import predictions_about, run_name

    opened = open_task(own_task(data, task), data.records)
    predictions = predictions_about(data, file, opened)
    return each_run(
        run_name(predictions, file),
        to_side_table("predictions", predictions),
        data,
        opened,
        split=split,
    )
