"""Which records are reviewed: doubtful ones, a finding's, a run's predictions, pairs, named ones or
all; and a sample.

A row is a record (or a pair) with what is known of it: `id`, `other` (of a pair), `reason`,
`uncertainty`, and what a model said. Rows come in the order of the dataset, or the least certain
first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UnknownName, UsageError
from claimlab.core.finding import Finding
from claimlab.core.run import Source
from claimlab.core.settings import one_of
from claimlab.core.stats.streams import share_of
from claimlab.core.types import JsonObject

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


@dataclass(frozen=True)
class Wanted:
    """How records are chosen; at most one of the sources."""

    doubtful: bool = False
    audit: str | Path | None = None
    finding: str | None = None
    predictions: Source | None = None
    which: str = "wrong"
    pairs: str | None = None
    records: Sequence[str] | None = None
    sample: int | None = None
    stratify: str | None = None

    def check(self) -> None:
        named = [
            n for n in ("doubtful", "audit", "predictions", "pairs", "records") if getattr(self, n)
        ]
        narrowed = (
            ["pairs", "records"],
            ["predictions", "records"],
        )  # pairs with the named records; their predictions
        if len(named) > 1 and named not in narrowed:
            both = " and ".join(f"`{n}`" for n in named)
            raise UsageError(f"{both} both choose records.", "Pass one of them.")
        if (self.audit is None) != (self.finding is None):
            problem = "An audit and one of its findings go together."
            raise UsageError(
                problem, "Pass `audit` (its folder) and `finding` (the name of a check)."
            )
        if self.stratify is not None and self.sample is None:
            raise UsageError("Only a sample can be stratified.", "Pass `sample` too.")

    def parameters(self) -> JsonObject:
        """For `review.json`: what was asked for, without paths."""
        chosen = {
            "doubtful": self.doubtful or None,
            "finding": self.finding,
            "pairs": self.pairs,
            "sample": self.sample,
        }
        named = None if self.records is None else len(self.records)
        more: JsonObject = {"stratify": self.stratify, "records": named}
        run = {"predictions": self.which} if self.predictions is not None else {}
        if (
            self.audit is not None and self.finding is not None
        ):  # where the audit did not keep all of them
            more["finding_records"] = finding_in(Path(self.audit), self.finding).records_in_all
        return {k: v for k, v in {**chosen, **more, **run}.items() if v is not None}


def choose(dataset: Dataset, wanted: Wanted, seed: int) -> pl.DataFrame:
    """The rows to review. A record that is named but not in the dataset is left out."""
    rows = _rows(dataset, wanted)
    if not rows.height:
        raise DataError("No record is left to review.", "Choose other records, or another dataset.")
    return rows if wanted.sample is None else _sample(dataset, rows, wanted.sample, wanted, seed)


def _rows(dataset: Dataset, wanted: Wanted) -> pl.DataFrame:
    if wanted.doubtful:
        return _doubtful(dataset)
    if wanted.audit is not None and wanted.finding is not None:
        finding = finding_in(Path(wanted.audit), wanted.finding)
        return _named(dataset, finding.records).with_columns(
            pl.lit(f"{finding.check}: {finding.why}").alias("reason")
        )
    if wanted.predictions is not None:
        predicted = _predicted(
            dataset, Dataset.of(wanted.predictions), one_of(WHICH, wanted.which, "which")
        )
        return (
            predicted
            if wanted.records is None
            else predicted.filter(pl.col("id").is_in(list(wanted.records)))
        )
    if wanted.pairs is not None:
        pairs = _pairs(dataset, one_of(PAIRS, wanted.pairs, "pairs"))
        if wanted.records is None:
            return pairs
        named = list(wanted.records)
        return pairs.filter(pl.col("id").is_in(named) | pl.col("other").is_in(named))
    return _named(
        dataset, dataset.records["id"].to_list() if wanted.records is None else wanted.records
    )


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
    dataset: Dataset, rows: pl.DataFrame, n: int, wanted: Wanted, seed: int
) -> pl.DataFrame:
    """`n` rows at random, in equal shares of the values of a column where one is named; the least
    certain are taken as they come."""
    if wanted.predictions is not None and wanted.which == "uncertain":
        return rows.head(n)
    draws = pl.Series(
        "draw", [share_of(seed, "sample", i, o) for i, o in rows.select("id", "other").iter_rows()]
    )
    ranked = rows.with_row_index("row").with_columns(draws)
    if wanted.stratify is None:
        return ranked.sort("draw", "row").head(n).sort("row").drop("row", "draw")
    if wanted.stratify not in dataset.records.columns:
        raise UnknownName("column to stratify by", wanted.stratify, dataset.records.columns)
    values = dict(dataset.records.select("id", pl.col(wanted.stratify).cast(pl.String)).iter_rows())
    stratum = pl.Series("stratum", [values.get(i) for i in ranked["id"].to_list()], dtype=pl.String)
    # The first of every stratum, then the second of every one: shares are equal until a stratum has
    # no more.
    order = (
        ranked.with_columns(stratum)
        .sort("draw", "row")
        .with_columns(pl.int_range(pl.len()).over("stratum").alias("turn"))
    )
    return order.sort("turn", "draw").head(n).sort("row").drop("row", "draw", "stratum", "turn")
