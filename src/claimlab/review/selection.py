"""The records that a review is made of: doubtful ones, a finding's, a run's predictions, pairs,
named ones or all. A row is a record (or a pair) with what is known of it: `id`, `other` (of a
pair), `reason`, `uncertainty`, `chance` (how likely it was that it is drawn; null where it was not
drawn at random), and what a model said. Rows come in the order of the dataset, or the least certain
first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypedDict, get_args

import polars as pl

from claimlab.core.choices import one_of
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UnknownName, UsageError
from claimlab.core.finding import Finding
from claimlab.core.options import Option, Place, Setting
from claimlab.core.run import Source
from claimlab.core.toml_file import read_saved
from claimlab.core.types import JsonObject
from claimlab.review.task import BATCHES

Which = Literal["wrong", "uncertain", "all"]
Pairs = Literal["conflicts", "near-duplicates"]
WHICH: tuple[Which, ...] = get_args(Which)
PAIRS: tuple[Pairs, ...] = get_args(Pairs)
ROW_COLUMNS = {
    **dict.fromkeys(("id", "other", "reason", "said", "rationale"), pl.String),
    **dict.fromkeys(("uncertainty", "chance", "confidence"), pl.Float64),
    "batch": pl.Int32,
}


class BatchControl(TypedDict, total=False):
    """Quality control by batches."""

    batch: Annotated[
        int | None, Setting("Records in a batch, for control by batches (100).", least=1)
    ]
    inspect: Annotated[
        float, Setting("Share of each batch that is inspected.", default=BATCHES.share)
    ]
    accept: Annotated[
        float, Setting("A batch above this accuracy is accepted.", default=BATCHES.accept)
    ]
    discard: Annotated[
        float, Setting("A batch below this accuracy is discarded.", default=BATCHES.discard)
    ]


class SelectionOptions(BatchControl, total=False):
    """How records are chosen; at most one of the sources."""

    doubtful: Annotated[
        bool, Option("The records that cleaning marked as doubtful.", default=False)
    ]
    audit: Annotated[Place | None, Option("An audit's folder, with `finding`.")]
    finding: Annotated[
        str | None, Option("The records of this finding: a check, or CHECK/FEATURE.")
    ]
    predictions: Annotated[Source | None, Option("A run: its predictions.")]
    which: Annotated[
        str, Setting("Which predictions: 'wrong', 'uncertain' or 'all'.", default="wrong")
    ]
    pairs: Annotated[str | None, Option("Pairs: 'conflicts' or 'near-duplicates'.")]
    records: Annotated[
        Sequence[str] | None, Option("The record of this id; may be repeated.", flag="--record")
    ]
    sample: Annotated[int | None, Option("Only N of these, at random.", least=1)]
    stratify: Annotated[
        str | None,
        Setting("Equal shares of each value of this column; 'uncertainty': more where in doubt."),
    ]
    again: Annotated[
        Place | None, Setting("The review that returned batches, to inspect them again.")
    ]


def check_choice(choice: SelectionOptions) -> None:
    """Refuse what does not go together."""
    sources = ("doubtful", "audit", "predictions", "pairs", "records")
    named = [name for name in sources if choice.get(name)]
    # pairs with the named records; their predictions
    narrowed = ["pairs", "records"], ["predictions", "records"]
    if len(named) > 1 and named not in narrowed:
        both = " and ".join(f"`{name}`" for name in named)
        raise UsageError(f"{both} both choose records.", "Pass one of them.")
    if (choice.get("audit") is None) != (choice.get("finding") is None):
        raise UsageError(
            "An audit and one of its findings go together.",
            "Pass `audit` (its folder) and `finding` (the name of a check).",
        )
    if choice.get("stratify") is not None and choice.get("sample") is None:
        raise UsageError("Only a sample can be stratified.", "Pass `sample` too.")


def chosen_by(choice: SelectionOptions) -> JsonObject:
    """For `review.json`: what was asked for, without paths."""
    names = ("doubtful", "finding", "pairs", "sample", "stratify")
    chosen: JsonObject = {name: choice.get(name) or None for name in names}
    if (records := choice.get("records")) is not None:
        chosen["records"] = len(records)
    if (finding := _finding(choice)) is not None:  # the audit may not have kept all its records
        chosen["finding_records"] = finding.records_in_all
    if choice.get("predictions") is not None:
        chosen["predictions"] = choice.get("which", WHICH[0])
    return {name: value for name, value in chosen.items() if value is not None}


def _finding(choice: SelectionOptions) -> Finding | None:
    audit, finding = choice.get("audit"), choice.get("finding")
    return None if audit is None or finding is None else finding_in(Path(audit), finding)


def choose(dataset: Dataset, choice: SelectionOptions) -> pl.DataFrame:
    """The rows to review, before any are drawn from them. A record that is named but not in the
    dataset is left out.
    """
    rows = _rows(dataset, choice)
    if not rows.height:
        raise DataError("No record is left to review.", "Choose other records, or another dataset.")
    return rows.with_columns(chance=1.0)


def counted(dataset: Dataset, rows: pl.DataFrame) -> list[JsonObject]:
    """How many of the rows have each label and each prediction: what `estimate` knows of the
    records that are not annotated.
    """
    labels = dataset.records.select("id", label="veracity")
    labelled = rows.select("id", "said").join(labels, on="id", how="left", maintain_order="left")
    by = ("label", "said")
    return labelled.group_by(by).agg(records=pl.len()).sort(by, nulls_last=True).to_dicts()


def _rows(dataset: Dataset, choice: SelectionOptions) -> pl.DataFrame:
    predictions, pairs = choice.get("predictions"), choice.get("pairs")
    records = choice.get("records")
    if choice.get("doubtful"):
        return _doubtful(dataset)
    if (finding := _finding(choice)) is not None:
        why = pl.lit(f"{finding.check}: {finding.why}")
        return _named(dataset, finding.records).with_columns(reason=why)
    if predictions is not None:
        which = one_of(WHICH, choice.get("which", WHICH[0]), "which")
        rows = _predicted(dataset, Dataset.of(predictions), which)
    elif pairs is not None:
        rows = _pairs(dataset, one_of(PAIRS, pairs, "pairs"))
    else:
        return _named(dataset, dataset.records["id"].to_list() if records is None else records)
    if records is None:
        return rows
    return rows.filter(pl.any_horizontal(pl.col("id", "other").is_in(list(records))))


def with_all_columns(rows: pl.DataFrame) -> pl.DataFrame:
    """With the columns that are not known as nulls."""
    return pl.concat([pl.DataFrame(schema=ROW_COLUMNS), rows], how="diagonal")


def _named(dataset: Dataset, ids: Sequence[str]) -> pl.DataFrame:
    named = pl.DataFrame({"id": list(dict.fromkeys(ids))}, schema={"id": pl.String})
    return with_all_columns(named.join(dataset.records, on="id", how="semi", maintain_order="left"))


def _doubtful(dataset: Dataset) -> pl.DataFrame:
    table = dataset.tables.get("doubtful")
    if table is None or not table.height:
        raise DataError(
            f"'{dataset.name}' has no doubtful records.",
            "Clean it first, or choose records in another way.",
        )
    latest = table.unique("id", keep="last", maintain_order=True)
    return with_all_columns(latest.select("id", reason=pl.format("{}: {}", "step", "reason")))


def finding_in(folder: Path, name: str) -> Finding:
    """The most severe finding called `name` (a check, or check/feature) with records, in an audit's
    folder.
    """
    file = folder / "audit.json" if folder.is_dir() else folder
    todo = "Make one with: claimlab audit DIR -o FOLDER"
    try:
        audits = read_saved(file, "is not a saved audit", todo)["audits"]
        findings = [
            f for a in audits for raw in a["findings"] for f in Finding.model_validate(raw).every
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"'{file}' is not a saved audit: {error!s:.200}.", todo) from None
    named = [f for f in findings if name in (f.check, f"{f.check}/{f.feature}") and f.records]
    if not named:
        names = sorted({f.check for f in findings if f.records})
        raise UnknownName("finding with records to review", name, names)
    return named[0]


def _predicted(dataset: Dataset, run: Dataset, which: Which) -> pl.DataFrame:
    table = run.tables.get("predictions")
    if table is None:
        raise DataError(
            f"'{run.name}' has no predictions.", "Pass a run: claimlab detect DIR -o RUN"
        )
    truth = dataset.records.select(record_id="id", truth="veracity")
    answers = table.unique("record_id", keep="first", maintain_order=True).join(
        truth, on="record_id", maintain_order="left"
    )
    if which == "wrong":
        answers = answers.filter(pl.col("label") != pl.col("truth"))
    scores = [_confidence(*row) for row in answers.select("scores", "label").iter_rows()]
    confidence = pl.Series(scores, dtype=pl.Float64)
    columns = {"id": "record_id", "said": "label", "rationale": "rationale"}
    rows = answers.select(**columns, confidence=confidence, uncertainty=1 - confidence)
    if which == "uncertain":
        rows = rows.drop_nulls("uncertainty").sort("uncertainty", "id", descending=[True, False])
    return with_all_columns(rows)


def _confidence(scores: str | None, label: str | None) -> float | None:
    by_label = json.loads(scores) if scores else {}
    best = max(by_label.values(), default=None)
    value = by_label.get(label, best)
    return None if value is None else float(value)


def _pairs(dataset: Dataset, which: Pairs) -> pl.DataFrame:
    """Near-duplicate pairs, the likest last in doubt: how far two texts are apart is the
    uncertainty.
    """
    from claimlab.text.neardup import find_pairs

    records = dataset.records
    ids, labels = records["id"].to_list(), records["veracity"].to_list()
    rows = []
    for a, b, likeness in find_pairs(records["text"]):
        torn = labels[a] is not None and labels[b] is not None and labels[a] != labels[b]
        if which == "near-duplicates" or torn:
            apart = ", with different labels" if torn else ""
            reason = f"near-duplicates, {100 * likeness:.0f}% alike{apart}"
            rows.append((ids[a], ids[b], reason, round(1 - likeness, 6)))
    columns = ("id", "other", "reason", "uncertainty")
    return with_all_columns(
        pl.DataFrame(rows, {name: ROW_COLUMNS[name] for name in columns}, orient="row")
    )
