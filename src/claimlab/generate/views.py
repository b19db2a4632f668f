"""Generated samples for a terminal: a few of them in full, and what the whole covers."""

from __future__ import annotations

import json

import polars as pl

from claimlab.generate.front import Generated
from claimlab.pages.blocks import Block, Quote, Section, Table, Text

CHARACTERS = 600


def coverage_blocks(generated: Generated) -> list[Block]:
    rows = [[r["dimension"], r["value"], r["planned"], r["complete"]] for r in generated.coverage]
    return [Table(["Dimension", "Value", "Planned", "Complete"], rows)]


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
            blocks.append(Quote((record["text"] or "")[:CHARACTERS], head))
        if texts.height:
            log = json.loads(texts["meta"][0])["synthetic"]["changes"]
            entries = [f"{c['kind']}: {c['before']} → {c['after']}" for c in log if "after" in c]
            blocks.append(Text(f"Change log: {'; '.join(entries) or 'no fact was changed'}"))
        out.append(Section(row["sample"], blocks))
    return out
