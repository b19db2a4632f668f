"""Croissant: the tables as Parquet, described by JSON-LD that data-set search and loaders
understand (version 1.1).

Nothing is claimed that is not known: a dataset without a stated licence or homepage has none here,
and no date of publication is made up.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.core.digest import digest_file, write_parquet
from claimlab.core.progress import Progress, silent
from claimlab.core.tables import read_parquet
from claimlab.core.types import JsonObject
from claimlab.exchange.facts import DatasetFacts, about
from claimlab.exchange.fields import SYNTHETIC, TABLES, field_summary
from claimlab.exchange.format import Format, FormatSettings, Marker, Road, Written
from claimlab.exchange.markup import json_ld
from claimlab.exchange.responsible import present_or_missing, responsible, stated
from claimlab.exchange.tables import RECORDS, by_name

FILE = "croissant.json"
STATES = "responsible-ai.md"

# The context that the specification prescribes; readers compare it key by key.
CONTEXT: JsonObject = json.loads(packaged.text("claimlab.exchange", "croissant_context.json"))


class Croissant(Format):
    name = "croissant"
    summary = "Parquet tables with Croissant 1.1 metadata (JSON-LD)."
    accepts = frozenset({"audit", "rai"})
    back = (Road("cl.import_files(DIR)"),)

    def write(
        self, dataset: Dataset, folder: Path, settings: FormatSettings, progress: Progress = silent
    ) -> Written:
        tables = by_name(dataset)
        for written, (name, table) in enumerate(tables.items()):
            progress("croissant", written, len(tables))
            write_parquet(table, folder / f"{name}.parquet")
        files = [_file(folder / f"{name}.parquet") for name in tables]
        sets = [_record_set(name, table) for name, table in tables.items()]
        metadata = {
            **_about(dataset, about(dataset), settings),
            "distribution": files,
            "recordSet": sets,
        }
        (folder / FILE).write_text(json_ld(metadata), encoding="utf-8")
        (folder / STATES).write_text(present_or_missing(metadata), encoding="utf-8")
        progress("croissant", len(tables), len(tables))
        return Written(facts={"tables": list(tables)})

    def read(self, folder: Path, marker: Marker) -> Dataset:
        tables = {
            n: read_parquet(marker.file(folder, f"{n}.parquet")) for n in marker.fact("tables")
        }
        return marker.rebuild(folder, tables.pop(RECORDS), tables)


FORMAT = Croissant()


def _about(dataset: Dataset, described: DatasetFacts, settings: FormatSettings) -> JsonObject:
    card = described.card
    facts = {
        "url": card.homepage if card else None,
        "license": f"https://spdx.org/licenses/{described.spdx}.html"
        if described.spdx
        else described.licence,
        "citeAs": card.citation if card else None,
        "inLanguage": list(described.languages),
    }
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": dataset.name,
        "alternateName": described.title,
        "description": f"{described.summary} {SYNTHETIC}"
        if described.synthetic
        else described.summary,
        "keywords": [
            "misinformation",
            "fact-checking",
            *(["synthetic"] if described.synthetic else []),
        ],
        **{key: value for key, value in facts.items() if value},
        **responsible(dataset, described, settings.audit),
        **stated(settings.rai),
    }


def _file(path: Path) -> JsonObject:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": digest_file(path),
    }


def _record_set(name: str, table: pl.DataFrame) -> JsonObject:
    summary = "One row per claim, article or post." if name == RECORDS else TABLES.get(name)
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        **({"description": summary} if summary else {}),
        **({"key": {"@id": f"{name}/id"}} if name == RECORDS else {}),
        "field": [_field(name, column, dtype) for column, dtype in table.schema.items()],
    }


def _field(table: str, column: str, dtype: pl.DataType) -> JsonObject:
    summary = field_summary(table, column)
    inner = dtype.inner if isinstance(dtype, pl.List) else dtype
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{quote(column, safe='')}",
        "name": column,
        **({"description": summary} if summary else {}),
        "dataType": _data_type(inner),
        **({"repeated": True} if isinstance(dtype, pl.List) else {}),
        "source": {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": column}},
    }


def _data_type(dtype: Any) -> str:
    if dtype.is_integer():
        return "sc:Integer"
    if dtype.is_float():
        return "sc:Float"
    named = {pl.Boolean: "sc:Boolean", pl.Datetime: "sc:DateTime", pl.Date: "sc:Date"}
    return next((name for kind, name in named.items() if isinstance(dtype, kind)), "sc:Text")
