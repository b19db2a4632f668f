"""Make a review: choose records, say what is asked, and write the folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, TypeVar, Unpack, get_args

import numpy as np
import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.columns import column_values
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UnknownName, UsageError
from claimlab.core.finding import Finding
from claimlab.core.options import (
    OUTPUT,
    Argument,
    Force,
    Option,
    Place,
    Seed,
    Setting,
)
from claimlab.core.progress import progress
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.settings import one_of
from claimlab.core.stats.scores import Floats
from claimlab.core.stats.streams import share_of, stream
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.files.read import user_table
from claimlab.review.batches import divide, divide_again, inspected
from claimlab.review.project import COLUMNS, DATABASE, KIND, STORE, Origin, Project, write
from claimlab.review.review import Review
from claimlab.review.shapes import About, Passage, Payload, Said
from claimlab.review.store import check_url
from claimlab.review.task import ADJUDICATIONS, BATCHES, ORDERS, SCALE, Batches, Task, task_named

# Which records are reviewed (doubtful ones, a finding's, a run's predictions, pairs, named ones or
# all; and a sample), and the items that are made of them: what is shown of each, gold items and
# attention checks among them, and their order.
#
# A row is a record (or a pair) with what is known of it: `id`, `other` (of a pair), `reason`,
# `uncertainty`, `chance` (how likely it was that it is drawn; null where it was not drawn at
# random), and what a model said. Rows come in the order of the dataset, or the least certain first.

Shaped = TypeVar("Shaped", About, Said)
Which = Literal["wrong", "uncertain", "all"]
Pairs = Literal["conflicts", "near-duplicates"]
WHICH: tuple[Which, ...] = get_args(Which)
PAIRS: tuple[Pairs, ...] = get_args(Pairs)
ROWS = {
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
    names = ("doubtful", "finding", "pairs", "sample", "stratify")
    chosen: JsonObject = {name: choice.get(name) or None for name in names}
    if (records := choice.get("records")) is not None:
        chosen["records"] = len(records)
    if (finding := _finding(choice)) is not None:  # the audit may not have kept all its records
        chosen["finding_records"] = finding.records_in_all
    if choice.get("predictions") is not None:
        chosen["predictions"] = choice.get("which", WHICH[0])
    return {name: value for name, value in chosen.items() if value is not None}


def _finding(choice: Choice) -> Finding | None:
    audit, finding = choice.get("audit"), choice.get("finding")
    return None if audit is None or finding is None else finding_in(Path(audit), finding)


def choose(dataset: Dataset, choice: Choice) -> pl.DataFrame:
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
    known = rows.select("id", "said").join(labels, on="id", how="left", maintain_order="left")
    by = ("label", "said")
    return known.group_by(by).agg(records=pl.len()).sort(by, nulls_last=True).to_dicts()


def _rows(dataset: Dataset, choice: Choice) -> pl.DataFrame:
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


def _filled(rows: pl.DataFrame) -> pl.DataFrame:
    """With the columns that are not known as nulls."""
    return pl.concat([pl.DataFrame(schema=ROWS), rows], how="diagonal")


def _named(dataset: Dataset, ids: Sequence[str]) -> pl.DataFrame:
    named = pl.DataFrame({"id": list(dict.fromkeys(ids))}, schema={"id": pl.String})
    return _filled(named.join(dataset.records, on="id", how="semi", maintain_order="left"))


def _doubtful(dataset: Dataset) -> pl.DataFrame:
    table = dataset.tables.get("doubtful")
    if table is None or not table.height:
        raise DataError(
            f"'{dataset.name}' has no doubtful records.",
            "Clean it first, or choose records in another way.",
        )
    latest = table.unique("id", keep="last", maintain_order=True)
    return _filled(latest.select("id", reason=pl.format("{}: {}", "step", "reason")))


def finding_in(folder: Path, name: str) -> Finding:
    """The most severe finding called `name` (a check, or check/feature) with records, in an audit's
    folder.
    """
    file = folder / "audit.json" if folder.is_dir() else folder
    try:
        audits = json.loads(file.read_text("utf-8"))["audits"]
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
    return _filled(rows)


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
    return _filled(pl.DataFrame(rows, {name: ROWS[name] for name in columns}, orient="row"))


def sampled(dataset: Dataset, rows: pl.DataFrame, choice: Choice, seed: int) -> pl.DataFrame:
    """As many rows as `sample` says, at random, each with its chance; the least certain are taken
    as they come.
    """
    size, by = choice.get("sample"), choice.get("stratify")
    if size is None or size >= rows.height:
        return rows
    if choice.get("predictions") is not None and choice.get("which") == "uncertain":
        return rows.head(size).with_columns(chance=pl.lit(None, dtype=pl.Float64))
    draws = [share_of(seed, "sample", i, o) for i, o in rows.select("id", "other").iter_rows()]
    ranked = rows.with_row_index("row").with_columns(pl.Series("draw", draws)).sort("draw", "row")
    if by is None:
        drawn = ranked.head(size).with_columns(chance=size / rows.height)
    elif by == "uncertainty":
        drawn = _by_doubt(ranked, size, share_of(seed, "first"))
    else:
        drawn = _in_equal_shares(dataset, ranked, by, size)
    return drawn.sort("row").select(rows.columns)


def _by_doubt(ranked: pl.DataFrame, size: int, first: float) -> pl.DataFrame:
    """Half of the chance is the same for all rows, half grows with the doubt. Steps of one along
    the sum of the chances, from `first` on, draw exactly `size` rows.
    """
    if ranked["uncertainty"].null_count():
        todo = "Review predictions with scores, and all of them."
        raise UsageError("Nothing says how uncertain some of these records are.", todo)
    doubt = ranked["uncertainty"].clip(0.0, 1.0).sqrt().to_numpy()
    even = np.full(len(doubt), 1 / len(doubt))
    share = (even + doubt / doubt.sum()) / 2 if doubt.sum() > 0 else even
    chance = _at_most_one(size * share, size)
    passed = np.floor(np.cumsum(chance) + first + 1e-9)
    taken = np.diff(passed, prepend=np.floor(first)) > 0
    return ranked.with_columns(chance=pl.Series(chance)).filter(pl.Series(taken))


def _at_most_one(chance: Floats, size: int) -> Floats:
    """What is above one is given to the others, in proportion."""
    while (chance > 1).any():
        sure = chance >= 1
        rest = (size - sure.sum()) / chance[~sure].sum()
        chance = np.where(sure, 1.0, chance * rest)
    return chance


def _in_equal_shares(
    dataset: Dataset, ranked: pl.DataFrame, column: str, size: int
) -> pl.DataFrame:
    """The first of every stratum, then the second of every one: shares are equal until a stratum
    has no more.
    """
    stratum = column_values(dataset.records, column).cast(pl.String)
    values = dataset.records.select("id", stratum=stratum)
    turns = ranked.join(values, on="id", how="left", maintain_order="left").with_columns(
        turn=pl.int_range(pl.len()).over("stratum"), of=pl.len().over("stratum")
    )
    drawn = turns.sort("turn", "draw").head(size)
    return drawn.with_columns(chance=pl.len().over("stratum") / pl.col("of"))


PASSAGES = 3  # pieces of evidence shown beside a record
LONGEST_PASSAGE = 3_000
COPIES, LONGEST_COPY = 5, 400  # other records of its cluster, and characters of each
MOST_TEXTS = 200_000  # among which clusters are looked for


def build(
    dataset: Dataset,
    rows: pl.DataFrame,
    task: Task,
    *,
    gold: Mapping[str, Any] | None = None,
    attention: int = 0,
    seed: int = 0,
) -> pl.DataFrame:
    """The items of a review. `gold` maps records to their known answers; `attention` is how many
    attention checks are added."""
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
    texts = _texts_of(dataset)
    known = _gold(task, gold or {}, dataset.name, texts)
    more = pl.DataFrame({"id": [*known]}, schema={"id": pl.String})
    more = more.join(rows, on="id", how="anti", maintain_order="left")
    every = pl.concat([rows, _filled(more)])
    evidence, clusters = _evidence_of(dataset, every["id"]), _clusters_of(dataset)
    items = [
        _item(row, texts, evidence.get(row["id"], ()), clusters, known.get(row["id"]))
        for row in every.iter_rows(named=True)
    ]
    specials = [item for item in items if item["gold"] is not None]
    plain = [item for item in items if item["gold"] is None]
    specials += [_attention(task, n, seed) for n in range(attention)]
    return _placed(plain, specials, seed)


def _texts_of(dataset: Dataset) -> dict[str | None, JsonObject]:
    """Text, label and origin of each record, the doubtful ones included."""
    day = pl.col("date").dt.strftime("%Y-%m-%d")
    tables = [dataset.tables.get("doubtful"), dataset.records]
    columns = ("id", "text", "veracity", "source", day, "url")
    frames = [table.select(columns) for table in tables if table is not None]
    return {row["id"]: row for frame in frames for row in frame.iter_rows(named=True)}


def _evidence_of(dataset: Dataset, ids: pl.Series) -> dict[str, tuple[Passage, ...]]:
    """The first passages beside each record."""
    table = dataset.tables.get("evidence")
    if table is None:
        return {}
    mine = table.filter(pl.col("record_id").is_in(ids.implode()))
    ranked = mine.sort("record_id", "rank", "evidence_id", nulls_last=True)
    first = ranked.with_columns(pl.col("text").str.slice(0, LONGEST_PASSAGE))
    parts = first.group_by("record_id").head(PASSAGES).partition_by("record_id", as_dict=True)
    return {
        str(record): tuple(Passage(**row) for row in part.iter_rows(named=True))
        for (record,), part in parts.items()
    }


def _clusters_of(dataset: Dataset) -> dict[str, list[str]]:
    """The near-duplicates that each record is among, itself included."""
    from claimlab.text.neardup import find_clusters

    if dataset.records.height > MOST_TEXTS:
        return {}
    labels = pl.Series("cluster", find_clusters(dataset.records["text"]).labels)
    rows = dataset.records.select("id", labels).filter(pl.col("cluster") >= 0)
    clusters = rows.group_by("cluster", maintain_order=True).agg("id")["id"].to_list()
    return {id: cluster for cluster in clusters for id in cluster}


def _copy(record: JsonObject) -> Passage:
    label = f"labelled {record['veracity']}" if record["veracity"] else None
    parts = (record["id"], label, record["source"], record["date"])
    text = (record["text"] or "")[:LONGEST_COPY]
    return Passage(title=" · ".join(filter(None, parts)), text=text, url=record["url"])


def _item(
    row: JsonObject,
    texts: Mapping[str | None, JsonObject],
    context: tuple[Passage, ...],
    clusters: Mapping[str, list[str]],
    gold: Any,
) -> JsonObject:
    record, other = texts.get(row["id"], {}), texts.get(row["other"], {})
    copies = [id for id in clusters.get(row["id"], ()) if id not in (row["id"], row["other"])]
    payload = Payload(
        text=record.get("text"),
        other_text=other.get("text"),
        label=record.get("veracity"),
        other_label=other.get("veracity"),
        about=_known(About(**record)),
        other_about=_known(About(**other)),
        context=context,
        cluster=tuple(_copy(texts[id]) for id in copies[:COPIES]) or None,
        model=_known(Said(**row, label=row["said"])),
        reason=row["reason"],
    )
    return {
        "record_id": row["id"],
        "other_id": row["other"],
        "payload": payload.model_dump_json(exclude_none=True),
        "gold": None if gold is None else json.dumps(gold),
        "attention": False,
        **{name: row[name] for name in ("uncertainty", "chance", "batch")},
    }


def _known(shape: Shaped) -> Shaped | None:
    """Null where it says nothing."""
    return None if shape == type(shape)() else shape


def _gold(
    task: Task, gold: Mapping[str, Any], name: str, texts: Mapping[str | None, JsonObject]
) -> JsonObject:
    """The known answers, checked; text from a file is read as the task needs it."""
    if gold and not task.compared:
        raise UsageError(f"Answers to '{task.name}' are not compared.", "Leave out `gold`.")
    lost = [record for record in gold if record not in texts]
    if lost:
        shown = ", ".join(f"'{record}'" for record in lost[:3])
        raise DataError(
            f"{several(len(lost), 'gold record')} {verb(len(lost))} not in '{name}': {shown}.",
            "Check their ids.",
        )
    numbers = task.ordered
    return {
        record: task.check(int(value) if numbers and str(value).strip().isdigit() else value)
        for record, value in gold.items()
    }


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
    placed = [(float(place), item) for place, item in enumerate(plain)]
    for number, item in enumerate(specials):
        between = share_of(seed, "place", number) * len(plain) - 0.5
        placed.append((between, item))
    placed.sort(key=itemgetter(0))
    rows = [
        {"id": str(number), "position": float(number), **item}
        for number, (_, item) in enumerate(placed, 1)
    ]
    return pl.DataFrame(rows, schema=COLUMNS)


@repeatable()
def review_create(
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    output: Annotated[Place, OUTPUT],
    *,
    task: Annotated[
        Task | str | Path, Option("A built-in task (claimlab review tasks), or a TOML file.")
    ] = "label",
    people: Annotated[
        Sequence[str], Option("Name of an annotator; may be repeated.", flag="--annotator")
    ] = (),
    per_item: Annotated[
        int | None, Setting("Annotators of each item (the task's: 2).", least=1)
    ] = None,
    order: Annotated[str | None, Setting("'given', 'random' or 'uncertainty'.")] = None,
    adjudication: Annotated[str | None, Setting("'third', 'discussion' or 'majority'.")] = None,
    guideline: Annotated[
        Place | None, Setting("Instructions for annotators: a text, or a file.", kind=str)
    ] = None,
    gold: Annotated[
        Mapping[str, Any] | Place | None, Setting("Table of known answers: record_id, value.")
    ] = None,
    attention: Annotated[int, Setting("Attention checks among the items.", least=0)] = 0,
    store: Annotated[
        str | None, Setting("postgresql:// URL; by default, a file in the folder.")
    ] = None,
    seed: Seed = 0,
    force: Force = False,
    **choice: Unpack[Choice],
) -> Review:
    """Create a review of doubtful records, a finding, predictions, pairs, a sample, or all
    records.

    At most one of `doubtful`, `audit` (with `finding`), `predictions`, `pairs` and `records`
    chooses; of predictions or pairs, `records` keeps only theirs. `gold` maps records to known
    answers, or is a table of them. With `batch`, records are divided into batches of that size, the
    share `inspect` of each is reviewed, and a batch that is neither accepted nor discarded is
    returned, to be labelled `again`.
    """
    check_choice(choice)
    control = _control(choice)
    question = task_named(
        task,
        per_item=per_item,
        order=order and one_of(ORDERS, order, "order"),
        guideline=_text(guideline),
        adjudication=adjudication and one_of(ADJUDICATIONS, adjudication, "adjudication"),
        batches=control,
    )
    if store is not None:
        check_url(store)
    reads = folders_of(choice.get("predictions"), choice.get("audit"), choice.get("again"))
    with Run("review", data, output, kind=KIND, reads=reads, force=force, seed=seed) as run:
        progress("review: choose records", 0, None)
        rows, population, members = _drawn(run.dataset, choice, control, seed)
        origin = Origin(
            dataset=run.dataset.name,
            fingerprint=run.dataset.fingerprint(),
            records=len(run.dataset),
            chosen=chosen_by(choice),
            population=tuple(population),
        )
        place = STORE if store is None else DATABASE
        project = Project(task=question, seed=seed, origin=origin, store=place)
        answers = _answers(gold)
        items = build(run.dataset, rows, question, gold=answers, attention=attention, seed=seed)
        run.fill(lambda folder: write(folder, project, items, members))
    review = Review.open(output, store=store)
    if people:
        review.add_people(people)
    return review


def _drawn(
    dataset: Dataset, choice: Choice, control: Batches | None, seed: int
) -> tuple[pl.DataFrame, list[JsonObject], pl.DataFrame | None]:
    """The rows to review, what they are drawn from, and the batch of each record where there are
    batches.
    """
    rows = choose(dataset, choice)
    population = counted(dataset, rows)
    if control is None:
        return sampled(dataset, rows, choice, seed), population, None
    if choice.get("sample") is not None or choice.get("pairs") is not None:
        raise UsageError(
            "Batches take every record, and draw what is inspected themselves.",
            "Pass `batch` alone.",
        )
    again = choice.get("again")
    if again is not None:
        earlier = Review.open(again)
        members = divide_again(dataset.records, earlier.batches())
        earlier.close()
    else:
        members = divide(rows.select("id"), control)
    drawn = inspected(members, control, seed).rename({"record_id": "id"})
    columns = rows.drop("batch").join(drawn, on="id", maintain_order="left")
    return columns.select(rows.columns), population, members


def _control(choice: Choice) -> Batches | None:
    """The rules of batches: as given, else those of the review that returned them."""
    again, size = choice.get("again"), choice.get("batch")
    earlier = None if again is None else Review.open(again).task.batches
    if again is not None and earlier is None:
        raise UsageError(
            f"'{again}' is not a review by batches.", "Pass the review that returned batches."
        )
    if size is None:
        return earlier
    inspect = choice.get("inspect", BATCHES.share)
    accept, discard = choice.get("accept", BATCHES.accept), choice.get("discard", BATCHES.discard)
    try:
        return Batches(size=size, share=inspect, accept=accept, discard=discard)
    except ValueError:
        problem = (
            f"Batches of {size}, {inspect} inspected, accepted above {accept}, discarded below"
            f" {discard}?"
        )
        raise UsageError(
            problem, "Pass shares from 0 to 1, with `discard` at most `accept`."
        ) from None


def _text(guideline: str | Path | None) -> str | None:
    """The guideline: words, or a file that holds them."""
    if guideline is None:
        return None
    if isinstance(guideline, Path) or guideline.endswith((".md", ".txt")):
        try:
            return Path(guideline).read_text("utf-8")
        except (OSError, ValueError) as error:
            raise DataError(
                f"The guideline '{guideline}' cannot be read: {error}.", "Check the file."
            ) from None
    return guideline


def _answers(gold: Mapping[str, Any] | str | Path | None) -> JsonObject:
    if gold is None or isinstance(gold, Mapping):
        return dict(gold or {})
    table = user_table(Path(gold), "record_id", "value")
    if not {"record_id", "value"} <= set(table.columns):
        raise DataError(
            f"'{gold}' has the columns {', '.join(table.columns)}.", "It needs record_id and value."
        )
    return dict(table.select("record_id", "value").drop_nulls().iter_rows())
