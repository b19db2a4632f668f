"""Derive the figures of a received bundle again, and name what differs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeGuard

import polars as pl

from claimlab.core.call import in_storage
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.core.options import Argument, Option, Place
from claimlab.core.run import Source
from claimlab.core.shown import Shown
from claimlab.core.stats.codes import codes_of
from claimlab.core.types import Json, JsonObject
from claimlab.core.words import several
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.publish.bundle import (
    FORMAT,
    SEALED,
    Answered,
    Records,
    ResultBundle,
    digest,
    figures_of,
    label_hmac,
    read_bundle,
    read_secret,
    refused,
    statement_of,
    text_hashes,
)
from claimlab.tasks import open_task

# What computing with the values of a stranger may end in: a seed of 400 digits, scores of no run.
_UNSCORED = (
    *(ClaimlabError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError),
    *(AttributeError, pl.exceptions.PolarsError),
)
ROUNDING = 1e-9  # processors round sums differently in the last place
_LONG_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")  # the start tells two apart


@dataclass(frozen=True, repr=False)
class Verified(Shown):
    """What came of it: `differences` is empty where every figure agrees."""

    file: str
    bundle: ResultBundle
    runs: list[ScoredRun]
    differences: list[str]
    figures: int  # how many were derived again
    compared: str | None  # the dataset that labels and texts were compared with

    @property
    def table(self) -> pl.DataFrame:
        return self.bundle.table

    def headline(self) -> str:
        runs = several(len(self.bundle.runs), "run")
        if self.differences:
            return f"{self.file} is not verified: {several(len(self.differences), 'difference')}"
        against = f"; texts and labels are those of {self.compared}" if self.compared else ""
        if self.bundle.bundle != FORMAT:
            return (
                f"{self.file} is verified: the answers of {runs} are counted right{against};"
                " intervals and verdicts were made by older rules, and are not compared"
            )
        return f"{self.file} is verified: all {self.figures:,} figures of {runs} agree{against}"

    def to_json(self) -> JsonObject:
        return {
            "file": self.file,
            "id": self.bundle.id,
            "verified": not self.differences,
            **{name: getattr(self, name) for name in ("differences", "figures", "compared")},
            "scores": self.table.to_dicts(),
        }


@in_storage()
def publish_verify(
    file: Annotated[Place, Argument("A bundle that claimlab publish bundle wrote.")],
    *,
    data: Annotated[
        Source | None, Option("The dataset folder: compare its texts, labels and groups, too.")
    ] = None,
    secret: Annotated[
        Place | None,
        Option("Of a bundle without labels: the file with the task's secret.", metavar="FILE"),
    ] = None,
) -> Verified:
    """Derive every figure of a bundle again, offline, and name what differs. One without labels
    needs the `data` and the `secret`.
    """
    dataset = None if data is None else Dataset.of(data)
    key = None if secret is None else read_secret(Path(secret))
    return derived(Path(file), lambda _: dataset, key)


def derived(
    file: Path, data_of: Callable[[str], Dataset | None], key: bytes | None = None
) -> Verified:
    """A bundle derived again; `data_of` gives the data of the name that a run states, if any."""
    bundle, content = read_bundle(file)
    if bundle.figures.get(SEALED):
        return _unsealed(file, bundle, content, data_of, key)
    try:
        runs = bundle.opened()
        figures = figures_of(runs, seed=bundle.seed, draws=bundle.draws)
        stated, found = (
            (bundle.figures, figures)
            if bundle.bundle == FORMAT
            else (counted(bundle.figures), counted(figures))
        )
        differences = [*differing(stated, found), *_texts(bundle), *_seals(content)]
    except _UNSCORED as error:
        why = str(error).partition("\n")[0]
        raise refused(file, f"its answers cannot be scored ({why})") from None
    compared = {run.name: data_of(run.dataset) for run in bundle.runs}
    for run in bundle.runs:
        if (comparison := compared[run.name]) is not None:
            differences += _against(run, bundle.records[run.records], comparison)
    names = sorted({comparison.name for comparison in compared.values() if comparison is not None})
    return Verified(
        file.name, bundle, runs, differences, count_numbers(found), ", ".join(names) or None
    )


def counted(figures: JsonObject) -> JsonObject:
    """What no rule changes: how many records of each class got each answer."""
    return {
        "runs": [
            {"name": run["name"], "confusion": run["confusion"]} for run in figures.get("runs", [])
        ]
    }


def _unsealed(
    file: Path,
    bundle: ResultBundle,
    content: JsonObject,
    data_of: Callable[[str], Dataset | None],
    key: bytes | None,
) -> Verified:
    """The scores of a bundle without labels, derived with the labels of the data whose HMAC is the
    one that the bundle has.
    """
    differences = [*_texts(bundle), *_seals(content)]
    if key is None:
        why = "the labels are sealed: whoever has the data and the secret can derive the scores"
        return Verified(file.name, bundle, [], [*differences, why], 0, None)
    opened: dict[str, Records] = {}
    names: set[str] = set()
    for run in bundle.runs:
        data, rows = data_of(run.dataset), bundle.records[run.records]
        if data is None:
            raise refused(
                file, f"the data of '{run.name}' was not given, and its labels are sealed"
            )
        names.add(data.name)
        labels = open_task(run.task, data.records).labels(data.records)
        label_of = dict(zip(data.records["id"], labels, strict=True))
        labels_of_run = [label_of.get(record) or "" for record in rows.id]
        for record, label, seal in zip(rows.id, labels_of_run, rows.label, strict=True):
            if label_hmac(key, record, label) != seal:
                differences.append(
                    f"run '{run.name}', record '{record}': its label is not the sealed"
                )
        opened[run.records] = rows.model_copy(update={"label": labels_of_run})
    scored = bundle.model_copy(update={"records": opened})
    figures = figures_of(scored.opened(), seed=bundle.seed, draws=bundle.draws)
    kept = {SEALED: True, "runs": [_scores_alone(run) for run in figures["runs"]]}
    differences += differing(bundle.figures, kept)
    return Verified(
        file.name, bundle, [], differences, count_numbers(kept["runs"]), ", ".join(sorted(names))
    )


def _scores_alone(run: JsonObject) -> JsonObject:
    kept = ("n", "macro_f1", "accuracy")
    return {"name": run["name"], "scores": {name: run["scores"][name] for name in kept}}


def _seals(content: JsonObject) -> Iterator[str]:
    """Parts whose sha256 is not the one that the statement names, and a statement that is not the
    one of the id."""
    if digest(content["statement"]) != content["id"]:
        yield "statement: its sha256 is not the id of the bundle"
    yield from differing(content["statement"], statement_of(content), "statement")
    for key, records in content["records"].items():
        if digest(records) != key:
            yield f"records {key[:12]}: the sha256 of the part is {digest(records)[:12]}"


def _texts(bundle: ResultBundle) -> Iterator[str]:
    for records in bundle.records.values():
        if records.text is not None:
            hashes = text_hashes(pl.Series(records.text, dtype=pl.String))
            for name, stated, derived in zip(records.id, records.text_sha256, hashes, strict=True):
                if stated != derived:
                    yield f"record '{name}': the text is not the one of its sha256"


def differing(stated: Json, derived: Json, place: str = "") -> Iterator[str]:
    """Where two values differ, and how; numbers that differ in the last places do not."""
    if isinstance(stated, dict) and isinstance(derived, dict):
        for key in sorted({*stated, *derived}):
            inner = f"{place}.{key}" if place else key
            yield from differing(stated.get(key), derived.get(key), inner)
    elif isinstance(stated, list) and isinstance(derived, list) and len(stated) == len(derived):
        for at, (stated_item, derived_item) in enumerate(zip(stated, derived, strict=True)):
            name = derived_item.get("name", at) if isinstance(derived_item, dict) else at
            yield from differing(stated_item, derived_item, f"{place}[{name}]")
    elif not _same(stated, derived):
        words = f"the bundle says {_shown(stated)}, computed again it is {_shown(derived)}"
        yield _LONG_HASH.sub(r"\1", f"{place}: {words}")


def _same(stated: Json, derived: Json) -> bool:
    if _is_number(stated) and _is_number(derived):
        return math.isclose(stated, derived, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return type(stated) is type(derived) and bool(stated == derived)


def _shown(value: Json) -> str:
    if isinstance(value, list | dict):
        return several(len(value), "entry", "entries")
    return "nothing" if value is None else str(value)[:80]


def count_numbers(value: Json) -> int:
    if isinstance(value, dict):
        return sum(map(count_numbers, value.values()))
    if isinstance(value, list):
        return sum(map(count_numbers, value))
    return int(_is_number(value))


def _is_number(value: Json) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _against(run: Answered, records: Records, data: Dataset) -> Iterator[str]:
    """Where labels, texts and groups are not those of the data, and labelled records that the run
    leaves out."""
    labels = open_task(run.task, data.records).labels(data.records)
    theirs = data.records.with_columns(truth=labels)
    bundled = pl.DataFrame({"id": records.id, "label": records.label, "group_": records.group})
    bundled = bundled.with_columns(text_=pl.Series(records.text_sha256, dtype=pl.String))
    both = bundled.join(theirs, on="id", how="left", maintain_order="left")
    hashes = pl.Series(text_hashes(both["text"]), dtype=pl.String)
    wrong = {
        "is not in the data": ~both["id"].is_in(theirs["id"].implode()),
        "has another label in the data": both["label"].ne_missing(both["truth"]),
        "has another text in the data": both["text_"].ne_missing(hashes),
    }
    named: set[str] = set()
    for words, rows in wrong.items():
        for name in both.filter(rows)["id"].to_list():
            if name not in named:
                named.add(name)
                yield f"run '{run.name}', record '{name}' {words}"
    if (codes_of(both["group"].rank("dense")) != codes_of(both["group_"])).any():
        yield f"run '{run.name}': the groups of records are not those of the data"
    sides = both["split"].drop_nulls().unique()
    missing = theirs.filter(
        pl.col("truth").is_not_null()
        & pl.col("split").is_in(sides.implode())
        & ~pl.col("id").is_in(bundled["id"].implode())
    ).height
    if missing:
        yield f"run '{run.name}' leaves out {several(missing, 'labelled record')} of its split"
