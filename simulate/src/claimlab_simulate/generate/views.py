"""Generated samples for a terminal: a few of them in full, and what the whole covers."""

from __future__ import annotations

import json

import polars as pl

from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Block, Column, Quote, Section, Table, Text
from claimlab_simulate.generate.front import Generated

PREVIEW_LOG_ENTRIES = 20  # entries of a change log that a preview shows
PREVIEW_CHARACTERS = 600


def coverage_blocks(generated: Generated) -> list[Block]:
    columns = [Column[JsonObject](head) for head in ("Dimension", "Value", "Planned", "Complete")]
    return [Table.of(columns, generated.coverage)]


def sample_blocks(generated: Generated) -> list[Block]:
    """Each sample: how it was generated, its texts, its change log; one that stopped says so."""
    out: list[Block] = []
    for row in generated.tables["chains"].iter_rows(named=True):
        texts = generated.records.filter(pl.col("id").str.starts_with(f"{row['sample']}-"))
        about = (
            f"{row['chain']}: {row['technique']}, {row['degree']}; {row['direction']};"
            f" {row['model']}: {row['status']}"
        )
        blocks: list[Block] = [Text(about)]
        if row["stopped"]:
            blocks.append(
                Text(f"Stopped at {row['stopped']}: {row['detail'] or row['status']}", "warning")
            )
        for record in texts.iter_rows(named=True):
            meta = json.loads(record["meta"])
            head = (
                f"{meta['field']}, {record['language']}, {record['authorship']}, label"
                f" {record['label_raw']}"
            )
            blocks.append(Quote((record["text"] or "")[:PREVIEW_CHARACTERS], head))
        if texts.height:
            log = json.loads(texts["meta"][0])["synthetic"]["changes"]
            entries = [
                f"{c.get('kind') or c['name']}: {c['before'].strip()} → {c['after'].strip()}"
                for c in log
                if "after" in c
            ]
            blocks.append(
                Text(f"Change log: {'; '.join(entries[:PREVIEW_LOG_ENTRIES]) or 'nothing'}")
            )
        out.append(Section(row["sample"], blocks))
    return out
