"""Which records are reviewed (doubtful ones, a finding's, a run's predictions, pairs, named ones or
all; and a sample), and the items that are made of them: what is shown of each, gold items and
attention checks among them, and their order.

A row is a record (or a pair) with what is known of it: `id`, `other` (of a pair), `reason`,
`uncertainty`, and what a model said. Rows come in the order of the dataset, or the least certain
first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, get_args

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UnknownName, UsageError
from claimlab.core.finding import Finding
from claimlab.core.options import Option, Place, Setting
from claimlab.core.run import Source
from claimlab.core.settings import one_of
from claimlab.core.stats.streams import share_of, stream
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.review.project import COLUMNS
from claimlab.review.shapes import Passage, Payload, Said
from claimlab.review.task import BATCHES, SCALE, Task

Which = Literal["wrong", "uncertain", "all"]
Pairs = Literal["conflicts", "near-duplicates"]
WHICH: tuple[Which, ...] = get_args(Which)
PAIRS: tuple[Pairs, ...] = get_args(Pairs)
SCHEMA = {
    "id": pl.String,
    "other": pl.String,
    "reason": pl.String,
    "uncertainty": pl.Float64,
    "said": pl.String,
    "confidence": pl.Float64,
    "rationale": pl.String,
}


class BatchControl(TypedDict, total=False):
    """Quality control by batches."""

    batch: Annotated[
        int | None, Option("Records in a batch, for control by batches (100).", least=1)
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


class Choice(BatchControl, total=False):
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
        str, Option("Which predictions: 'wrong', 'uncertain' or 'all'.", default="wrong")
    ]
    pairs: Annotated[str | None, Option("Pairs: 'conflicts' or 'near-duplicates'.")]
    records: Annotated[
        Sequence[str] | None, Option("The record of this id; may be repeated.", flag="--record")
    ]
    sample: Annotated[int | None, Option("Only N of these, at random.", least=1)]
    stratify: Annotated[str | None, Setting("Equal shares of each value of this column.")]
    again: Annotated[
        Place | None, Option("The review that returned batches, to inspect them again.")
    ]


def check_choice(choice: Choice) -> None:
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


def chosen_by(choice: Choice) -> JsonObject:
    """For `review.json`: what was asked for, without paths."""
    records = choice.get("records")
    chosen: JsonObject = {
        "doubtful": choice.get("doubtful") or None,
        "finding": choice.get("finding"),
        "pairs": choice.get("pairs"),
        "sample": choice.get("sample"),
        "stratify": choice.get("stratify"),
        "records": None if records is None else len(records),
    }
    if (finding := _finding(choice)) is not None:  # the audit may not have kept all its records
        chosen["finding_records"] = finding.records_in_all
    if choice.get("predictions") is not None:
        chosen["predictions"] = choice.get("which", WHICH[0])
    return {name: value for name, value in chosen.items() if value is not None}


def _finding(choice: Choice) -> Finding | None:
    audit, finding = choice.get("audit"), choice.get("finding")
    return None if audit is None or finding is None else finding_in(Path(audit), finding)


def choose(dataset: Dataset, choice: Choice, seed: int) -> pl.DataFrame:
    """The rows to review. A record that is named but not in the dataset is left out."""
    rows = _rows(dataset, choice)
    if not rows.height:
        raise DataError("No record is left to review.", "Choose other records, or another dataset.")
    sample = choice.get("sample")
    return rows if sample is None else _sample(dataset, rows, sample, choice, seed)


def _rows(dataset: Dataset, choice: Choice) -> pl.DataFrame:
    predictions, pairs = choice.get("predictions"), choice.get("pairs")
    records = choice.get("records")
    if choice.get("doubtful"):
        return _doubtful(dataset)
    if (finding := _finding(choice)) is not None:
        return _named(dataset, finding.records).with_columns(
            pl.lit(f"{finding.check}: {finding.why}").alias("reason")
        )
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


def _frame(rows: Sequence[JsonObject]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA)


def _named(dataset: Dataset, ids: Sequence[str]) -> pl.DataFrame:
    known = set(dataset.records["id"].to_list())
    return _frame([{"id": i} for i in dict.fromkeys(ids) if i in known])


def _doubtful(dataset: Dataset) -> pl.DataFrame:
    table = dataset.tables.get("doubtful")
    if table is None or not table.height:
        raise DataError(
            f"'{dataset.name}' has no doubtful records.",
            "Clean it first, or choose records in another way.",
        )
    latest = table.unique("id", keep="last", maintain_order=True).select("id", "step", "reason")
    return _frame(
        [{"id": i, "reason": f"{step}: {reason}"} for i, step, reason in latest.iter_rows()]
    )


def finding_in(folder: Path, name: str) -> Finding:
    """The most severe finding called `name` (a check, or check/feature) with records, in an audit's
    folder.
    """
    file = folder / "audit.json" if folder.is_dir() else folder
    try:
        audits = json.loads(file.read_text(encoding="utf-8"))["audits"]
        findings = [
            f for a in audits for raw in a["findings"] for f in Finding.model_validate(raw).every
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        todo = "Make one with: claimlab audit DIR -o FOLDER"
        raise DataError(f"'{file}' is not a saved audit: {error!s:.200}.", todo) from None
    mine = [f for f in findings if name in (f.check, f"{f.check}/{f.feature}") and f.records]
    if not mine:
        known = sorted({f.check for f in findings if f.records})
        raise UnknownName("finding with records to review", name, known)
    return mine[0]


def _predicted(dataset: Dataset, run: Dataset, which: Which) -> pl.DataFrame:
    table = run.tables.get("predictions")
    if table is None:
        raise DataError(
            f"'{run.name}' has no predictions.", "Pass a run: claimlab detect DIR -o RUN"
        )
    truth = dict(dataset.records.select("id", "veracity").iter_rows())
    rows = []
    for row in table.unique("record_id", keep="first", maintain_order=True).iter_rows(named=True):
        label, gold = row["label"], truth.get(row["record_id"])
        if row["record_id"] not in truth or (
            which == "wrong" and (label is None or gold in (None, label))
        ):
            continue
        confidence = _confidence(row["scores"], label)
        doubt = None if confidence is None else 1 - confidence
        prediction = {"said": label, "confidence": confidence, "rationale": row["rationale"]}
        rows.append({"id": row["record_id"], "uncertainty": doubt, **prediction})
    frame = _frame(rows)
    if which == "uncertain":
        frame = frame.drop_nulls("uncertainty").sort("uncertainty", "id", descending=[True, False])
    return frame


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
            reason = f"near-duplicates, {100 * likeness:.0f}% alike" + (
                ", with different labels" if torn else ""
            )
            rows.append(
                {
                    "id": ids[a],
                    "other": ids[b],
                    "reason": reason,
                    "uncertainty": round(1 - likeness, 6),
                }
            )
    return _frame(rows)


def _sample(
    dataset: Dataset, rows: pl.DataFrame, n: int, choice: Choice, seed: int
) -> pl.DataFrame:
    """`n` rows at random, in equal shares of the values of a column where one is named; the least
    certain are taken as they come."""
    column = choice.get("stratify")
    if choice.get("predictions") is not None and choice.get("which") == "uncertain":
        return rows.head(n)
    draws = pl.Series(
        "draw", [share_of(seed, "sample", i, o) for i, o in rows.select("id", "other").iter_rows()]
    )
    ranked = rows.with_row_index("row").with_columns(draws)
    if column is None:
        return ranked.sort("draw", "row").head(n).sort("row").drop("row", "draw")
    if column not in dataset.records.columns:
        raise UnknownName("column to stratify by", column, dataset.records.columns)
    values = dict(dataset.records.select("id", pl.col(column).cast(pl.String)).iter_rows())
    stratum = pl.Series("stratum", [values.get(i) for i in ranked["id"].to_list()], dtype=pl.String)
    # The first of every stratum, then the second of every one: shares are equal until a stratum has
    # no more.
    order = (
        ranked.with_columns(stratum)
        .sort("draw", "row")
        .with_columns(pl.int_range(pl.len()).over("stratum").alias("turn"))
    )
    return order.sort("turn", "draw").head(n).sort("row").drop("row", "draw", "stratum", "turn")


PASSAGES = 3  # pieces of evidence shown beside a record
LONGEST_PASSAGE = 3_000


def build(
    dataset: Dataset,
    rows: pl.DataFrame,
    task: Task,
    *,
    gold: Mapping[str, Any] | None = None,
    attention: int = 0,
    batches: Mapping[str, int] | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """The items of a review. `gold` maps records to their known answers; `attention` is how many
    attention checks are added; `batches` says which batch a record is in."""
    if task.kind == "pair" and rows["other"].null_count():
        raise UsageError(f"The task '{task.name}' compares two records.", "Pass `pairs`.")
    if task.kind != "pair" and rows["other"].null_count() < rows.height:
        raise UsageError(
            f"The task '{task.name}' looks at one record, not at pairs.", "Choose a task for pairs."
        )
    if task.order == "uncertainty":
        if rows["uncertainty"].null_count() == rows.height:
            todo = "Review predictions with scores, or pairs; or choose another `order`."
            raise UsageError("Nothing says how uncertain these records are.", todo)
        rows = rows.sort("uncertainty", descending=True, nulls_last=True, maintain_order=True)
    known = _gold(task, gold or {}, dataset)
    items = [
        _item(row, known.get(row["id"]), batches) for row in _with_texts_of(dataset, rows, known)
    ]
    specials = [item for item in items if item["gold"] is not None]
    plain = [item for item in items if item["gold"] is None]
    specials += [_attention(task, n, seed) for n in range(attention)]
    return _placed(plain, specials, seed)


def _with_texts_of(
    dataset: Dataset, rows: pl.DataFrame, known: Mapping[str, Any]
) -> list[JsonObject]:
    """The rows, and the gold records that are not among them."""
    here = set(rows["id"].to_list())
    more = [dict.fromkeys(rows.columns) | {"id": i} for i in known if i not in here]
    texts = _texts_of(dataset)
    evidence = _evidence_of(dataset, here | set(known))
    return [
        {
            **row,
            **{k: texts.get(row["id"], {}).get(k) for k in ("text", "veracity")},
            "other_record": texts.get(row["other"], {}),
            "context": evidence.get(row["id"], ()),
        }
        for row in [*rows.iter_rows(named=True), *more]
    ]


def _texts_of(dataset: Dataset) -> dict[str, JsonObject]:
    """Text and label of each record, the doubtful ones included."""
    frames = [dataset.records.select("id", "text", "veracity")]
    if "doubtful" in dataset.tables:
        frames.insert(0, dataset.tables["doubtful"].select("id", "text", "veracity"))
    return {row["id"]: row for frame in frames for row in frame.iter_rows(named=True)}


def _evidence_of(dataset: Dataset, ids: set[str]) -> dict[str, tuple[Passage, ...]]:
    table = dataset.tables.get("evidence")
    out: dict[str, list[Passage]] = {}
    if table is None:
        return {}
    mine = table.filter(pl.col("record_id").is_in(list(ids))).sort(
        "record_id", "rank", "evidence_id", nulls_last=True
    )
    for row in mine.iter_rows(named=True):
        passages = out.setdefault(row["record_id"], [])
        if len(passages) < PASSAGES:
            text = row["text"] and row["text"][:LONGEST_PASSAGE]
            passages.append(Passage(title=row["title"], text=text, url=row["url"]))
    return {record: tuple(passages) for record, passages in out.items()}


def _item(row: JsonObject, gold: Any, batches: Mapping[str, int] | None) -> JsonObject:
    prediction = {
        "label": row["said"],
        "confidence": row["confidence"],
        "rationale": row["rationale"],
    }
    payload = Payload(
        text=row["text"],
        other_text=row["other_record"].get("text"),
        label=row["veracity"],
        other_label=row["other_record"].get("veracity"),
        context=row["context"],
        model=Said(**prediction) if any(v is not None for v in prediction.values()) else None,
        reason=row["reason"],
    )
    return {
        "record_id": row["id"],
        "other_id": row["other"],
        "payload": payload.model_dump_json(exclude_none=True),
        "gold": None if gold is None else json.dumps(gold),
        "attention": False,
        "uncertainty": row["uncertainty"],
        "batch": (batches or {}).get(row["id"]),
    }


def _gold(task: Task, gold: Mapping[str, Any], dataset: Dataset) -> JsonObject:
    """The known answers, checked; text from a file is read as the task needs it."""
    if gold and not task.compared:
        raise UsageError(f"Answers to '{task.name}' are not compared.", "Leave out `gold`.")
    here = _texts_of(dataset)
    lost = [record for record in gold if record not in here]
    if lost:
        shown = ", ".join(f"'{record}'" for record in lost[:3])
        raise DataError(
            f"{several(len(lost), 'gold record')} {verb(len(lost))} not in '{dataset.name}':"
            f" {shown}.",
            "Check their ids.",
        )
    as_int = {
        r: int(v) if task.ordered and str(v).strip().isdigit() else v for r, v in gold.items()
    }
    return {record: task.check(value) for record, value in as_int.items()}


def _attention(task: Task, number: int, seed: int) -> JsonObject:
    """An attention check: an item whose text asks for one particular answer."""
    if not task.compared:
        raise UsageError(f"Answers to '{task.name}' are not compared.", "Leave out `attention`.")
    draw = stream(seed, "attention", number)
    answer: str | int
    shown: str | int
    if task.ordered:
        answer = shown = draw.randint(*SCALE)
    else:
        choice = draw.choice(task.choices)
        answer, shown = choice.value, choice.label
    text = f"This item checks attention. Please answer: {shown}."
    payload = Payload(text=text, other_text=text if task.kind == "pair" else None)
    shown_json = payload.model_dump_json(exclude_none=True)
    return {"payload": shown_json, "gold": json.dumps(answer), "attention": True}


def _placed(plain: list[JsonObject], specials: list[JsonObject], seed: int) -> pl.DataFrame:
    """All items in order, the special ones anywhere among the others; numbers tell nothing of what
    an item is.
    """
    at = [(float(n), item) for n, item in enumerate(plain)]
    at += [(share_of(seed, "place", n) * len(plain) - 0.5, item) for n, item in enumerate(specials)]
    ordered = [item for _, item in sorted(at, key=lambda pair: pair[0])]
    rows = [{"id": str(n), "position": float(n), **item} for n, item in enumerate(ordered, 1)]
    return pl.DataFrame(rows, schema=COLUMNS)
