"""The texts that the filter judges, and what the columns and the `meta` of a dataset say of each.

A sample is what its texts say in `meta.sample`; texts that name their `field` (an article, a post,
a translation) and no sample form one by `group`; any other record is a sample of its own. The
source is the text that a machine rewrote: `meta.synthetic.origin` holds it (`source_text`) or names
its record (`seed`), which is in the dataset or in the seeds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.engine.reads import keep
from claimlab.core.types import JsonObject
from claimlab.text.tokens import tokenize

MACHINE_MADE = ("MGT", "MTT", "HAT")
VERACITIES = {"true": "real", "false": "altered"}
_COMPLETE_STATUSES = "complete completed done pass passed success true yes ok"


@dataclass(frozen=True, slots=True)
class SampleText:
    """One text of a sample. `log` is null where nobody logged what became what; `status` is that of
    its chain.
    """

    id: str
    sample: str
    text: str | None
    form: str = "article"
    language: str | None = None
    translated: bool = False
    short: bool = False  # the short post that was made of the sample's article
    veracity: str | None = None  # real | altered
    model: str | None = None
    degree: str | None = None  # minor | moderate | critical
    machine: bool = True
    source_id: str | None = None
    source: str | None = None
    source_language: str | None = None
    pair: str | None = None  # the same text in the other language
    pair_language: str | None = None
    log: Sequence[JsonObject] | None = None
    # what the generation itself reported: a chain that stopped, JSON that did not parse
    problem: str | None = None

    @property
    def comparable(self) -> bool:
        """Whether it is a rewrite of its source in the same language, word for word comparable."""
        return not (self.short or self.translated or self.text is None or self.source is None)


@dataclass(frozen=True)
class Batch:
    """The texts that are judged, those by people beside them, and the table of thresholds."""

    texts: Sequence[SampleText]
    originals: Sequence[SampleText]
    table: JsonObject
    predictions: Mapping[str, str] | None = None  # what a detector of authorship says, by id

    @cached_property
    def words(self) -> list[tuple[SampleText, list[str] | None, list[str] | None]]:
        """Each text with its words and those of its source."""
        own = tokenize(pl.Series([text.text for text in self.texts], dtype=pl.String))
        sources = tokenize(pl.Series([text.source for text in self.texts], dtype=pl.String))
        return list(zip(self.texts, own.to_list(), sources.to_list(), strict=True))

    def limit(self, metric: str, name: str, text: SampleText) -> Any:
        """The value of a threshold for a text: by veracity and by degree, where the table tells
        them apart.
        """
        value = self.table[metric][name]
        for key in (text.veracity, text.degree):
            if isinstance(value, dict):
                value = value.get(key or "", value.get("any"))
        return value


def read_batch(dataset: Dataset, seeds: Dataset | None, table: JsonObject) -> Batch:
    """The texts to judge: the machine-made ones, or all where there are none. People's texts beside
    them stay.
    """
    rows = [_text(row) for row in dataset.records.iter_rows(named=True)]
    machine = [text for text in rows if text.machine]
    originals = [text for text in rows if not text.machine] if machine else []
    if seeds is not None:
        originals += [_text(row) for row in seeds.records.iter_rows(named=True)]
    judged = _paired(_sourced(machine or rows, originals))
    predictions = dataset.tables.get("predictions")
    labels = None if predictions is None else dict(predictions["record_id", "label"].iter_rows())
    return Batch(judged, originals, table, labels)


def write_batch(batch: Batch, place: Path) -> dict[str, str]:
    """The batch as workers read it: a file in `place`, named by what is in it, as part of a
    shard.
    """
    content = json.dumps(asdict(batch), ensure_ascii=False)
    return keep(place, content.encode("utf-8"), "json")


def open_batch(file: Path) -> Batch:
    content = json.loads(file.read_bytes())
    for name in ("texts", "originals"):
        content[name] = [SampleText(**row) for row in content[name]]
    return Batch(**content)


def _degree(log: Sequence[JsonObject], meta: JsonObject) -> str | None:
    """How far a text was changed: as the log says, else as its record does."""
    from claimlab.catalog.readers.bluff import degree_of  # with the reader of its files

    stated = next((change["degree"] for change in log if change.get("degree")), meta.get("degree"))
    return degree_of(str(stated)) if stated else None


def _text(row: JsonObject) -> SampleText:
    meta = json.loads(row["meta"]) if row["meta"] else {}
    note = _object(meta.get("synthetic"))
    origin, log = _object(note.get("origin")), _log(note.get("changes"))
    field = str(meta.get("field") or "")
    return SampleText(
        id=row["id"],
        sample=str(meta.get("sample") or (field and row["group"]) or row["id"]),
        text=row["text"],
        form=row["kind"] or "article",
        language=row["language"],
        translated="translat" in field,
        short="post" in field,
        veracity=VERACITIES.get(row["veracity"] or ""),
        model=origin.get("model") or meta.get("model") or row["author"],
        degree=_degree(log, meta),
        machine=row["authorship"] in MACHINE_MADE,
        source_id=origin.get("seed"),
        source=origin.get("source_text"),
        source_language=origin.get("source_language"),
        log=[change for change in log if "after" in change] or None,
        problem=_problem(meta),
    )


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _log(changes: object) -> list[JsonObject]:
    entries = changes if isinstance(changes, list) else []
    return [change for change in entries if isinstance(change, dict)]


def _problem(meta: JsonObject) -> str | None:
    for name in ("chain_status", "json_parse"):
        value = meta.get(name)
        if value is not None and str(value).lower() not in _COMPLETE_STATUSES.split():
            return f"{name.replace('_', ' ')}: {value}"
    return None


def _sourced(texts: Sequence[SampleText], originals: Sequence[SampleText]) -> list[SampleText]:
    by_id = {text.id: text for text in originals}
    by_sample = {text.sample: text for text in originals}
    out = []
    for text in texts:
        origin = by_id.get(text.source_id or "") or (
            by_sample.get(text.sample) if text.machine else None
        )
        if text.source is None and origin is not None:
            text = replace(
                text, source=origin.text, source_id=origin.id, source_language=origin.language
            )
        if text.source is not None and text.source_language is None and not text.translated:
            text = replace(text, source_language=text.language)
        out.append(text)
    return out


def _paired(texts: Sequence[SampleText]) -> list[SampleText]:
    """Each text with the same text in the other language of its sample."""
    at = {(text.sample, text.short, text.translated): text for text in texts}
    other = [at.get((text.sample, text.short, not text.translated)) for text in texts]
    return [
        text if twin is None else replace(text, pair=twin.text, pair_language=twin.language)
        for text, twin in zip(texts, other, strict=True)
    ]
