"""NELA-GT-2020: a year of articles from 519 sources, labelled by the reliability of the source."""

from __future__ import annotations

import polars as pl

from claimlab.catalog import kit
from claimlab.core.words import several


def load(bundle: kit.Bundle) -> kit.Loaded:
    """One JSON list of articles per source, and labels.csv whose second column is the aggregated
    label of a source.
    """
    labels = _labels(bundle)
    parts = [
        kit.frame_of(rows)
        for name in bundle.match("*.json")
        if (rows := kit.read_json_as(bundle.text(name), name, list))
    ]
    if not parts:
        raise kit.UnreadableFile(
            f"'{bundle.path.name}' holds no articles in JSON.",
            "Download the JSON form; the SQLite form is not read.",
        )
    raw = kit.Table(bundle.path.name, pl.concat(parts, how="diagonal"))
    raw.need("title", "content")
    source = raw.need("source")
    verdicts = source.str.to_lowercase().replace_strict(
        labels, default=None, return_dtype=pl.String
    )
    records = raw.frame.select(
        id="nela-gt-2020-" + raw.maybe("id"),
        text=kit.title_and_body(raw.maybe("title"), raw.maybe("content")),
        label_raw=verdicts,
        **kit.dated({"published": raw.maybe("published_utc", "date")}),
        author=raw.maybe("author"),
        source=source,
        url=raw.maybe("url"),
        meta=raw.meta(["collection_utc"]),
    )
    bare = verdicts.null_count()
    notes = ["Every article carries the label of its source: split by source."]
    if bare:
        of = several(records.height, "article")
        notes.append(f"{bare:,} of {of} from sources without a label.")
    return kit.Loaded(records, notes=notes)


def _labels(bundle: kit.Bundle) -> dict[str, str]:
    """The label of each source; -1 is none."""
    raw = kit.Table.read(bundle, bundle.one("labels.csv", "labels*.csv"))
    if raw.frame.width < 2:
        raise kit.UnreadableFile(
            "labels.csv has no label column.", "Give the labels file as published."
        )
    sources, labels = (raw.need(name).to_list() for name in raw.frame.columns[:2])
    coded = {
        s.lower(): (label or "").removesuffix(".0")
        for s, label in zip(sources, labels, strict=True)
        if s
    }
    return {source: label for source, label in coded.items() if label not in ("", "-1")}
