"""Croissant: the tables as Parquet, described by JSON-LD that data-set search and loaders understand (version 1.0).

Nothing is claimed that is not known: a dataset without a stated licence or homepage has none here, and no date of
publication is made up.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.digest import digest_file, write_parquet
from claimlab.core.progress import Progress, silent
from claimlab.exchange.about import SYNTHETIC, About, about
from claimlab.exchange.escape import json_ld
from claimlab.exchange.fields import SIDE_TABLE_SUMMARIES, field_summary
from claimlab.exchange.format import Settings, Written
from claimlab.exchange.marker import read_marker
from claimlab.exchange.tables import RECORDS, by_name
from claimlab.text.personal import scan_personal

FILE = "croissant.json"

# The context that the specification prescribes; readers compare it key by key.
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


class Croissant:
    name = "croissant"
    summary = "Parquet tables with Croissant 1.0 metadata (JSON-LD)."
    accepts: frozenset[str] = frozenset()

    def write(self, dataset: Dataset, folder: Path, settings: Settings, progress: Progress = silent) -> Written:
        tables = by_name(dataset)
        for done, (name, table) in enumerate(tables.items()):
            progress("croissant", done, len(tables))
            write_parquet(table, folder / f"{name}.parquet")
        files = [_file(folder / f"{name}.parquet") for name in tables]
        sets = [_record_set(name, table) for name, table in tables.items()]
        metadata = {**_about(dataset, about(dataset)), "distribution": files, "recordSet": sets}
        (folder / FILE).write_text(json_ld(metadata), encoding="utf-8")
        progress("croissant", len(tables), len(tables))
        return Written(facts={"tables": list(tables)})

    def read(self, folder: Path) -> Dataset:
        marker = read_marker(folder, self.name)
        tables = {n: pl.read_parquet(marker.file(folder, f"{n}.parquet")) for n in marker.fact("tables")}
        return marker.rebuild(folder, tables.pop(RECORDS), tables)


def _about(dataset: Dataset, known: About) -> dict[str, Any]:
    card = known.card
    facts = {
        "url": card.homepage if card else None,
        "license": f"https://spdx.org/licenses/{known.spdx}.html" if known.spdx else known.licence,
        "citeAs": card.citation if card else None,
        "inLanguage": list(known.languages),
        "rai:dataAnnotationProtocol": card.labelling if card else None,
        "rai:dataCollection": card.access if card else None,
        "rai:dataLimitations": list(known.cautions),
        "rai:dataPreprocessingProtocol": [f"{step.step} ({step.tool})" for step in dataset.lineage],
        "rai:personalSensitiveInformation": _personal(dataset),
    }
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": dataset.name,
        "alternateName": known.title,
        "description": f"{known.summary} {SYNTHETIC}" if known.synthetic else known.summary,
        "keywords": ["misinformation", "fact-checking", *(["synthetic"] if known.synthetic else [])],
        **{key: value for key, value in facts.items() if value},
    }


def _personal(dataset: Dataset) -> list[str]:
    """What a scan by rule counts; that no person has looked is said beside it."""
    counts = scan_personal(dataset.records["text"]).rows()
    kinds = {"mail": "mail addresses", "phone": "phone numbers", "handle": "@handles"}
    rows = [f"{kinds[kind]} in {records:,} of {dataset.records.height:,} records" for kind, records, _ in counts]
    return [
        f"A scan by rule counts {', '.join(rows)}.",
        "Not reviewed by people: texts, authors and addresses may name or quote people.",
    ]


def _file(path: Path) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": digest_file(path),
    }


def _record_set(name: str, table: pl.DataFrame) -> dict[str, Any]:
    summary = "One row per claim, article or post." if name == RECORDS else SIDE_TABLE_SUMMARIES.get(name)
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        **({"description": summary} if summary else {}),
        **({"key": {"@id": f"{name}/id"}} if name == RECORDS else {}),
        "field": [_field(name, column, dtype) for column, dtype in table.schema.items()],
    }


def _field(table: str, column: str, dtype: pl.DataType) -> dict[str, Any]:
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


FORMAT = Croissant()
