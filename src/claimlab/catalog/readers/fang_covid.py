"""FANG-COVID: German news on the pandemic, labelled by publisher."""

from __future__ import annotations

import polars as pl

from claimlab.catalog import kit

HELD_OUT = ("sueddeutsche", "freiewelt", "compactonline", "koppreport", "anonymousnews")


def load(bundle: kit.Bundle) -> kit.Loaded:
    """One JSON object per article in articles/. The tweets that shared it are quoted text, and are
    not read.
    """
    names = bundle.match("articles/*.json") or kit.members(bundle, "*.json")
    rows = ({"file": name, **kit.read_json_as(bundle.text(name), name, dict)} for name in names)
    raw = kit.Table(names[0], kit.frame_of(rows))
    records = raw.frame.select(
        id="fang-covid-" + pl.col("file").str.extract(r"([^/]+)\.\w+$"),
        text=kit.title_and_body(raw.maybe("header"), raw.need("article")),
        label_raw=raw.need("label"),
        **kit.dated({"published": raw.maybe("date")}),
        source=raw.maybe("source"),
        url=raw.maybe("url"),
    )
    return kit.Loaded(
        records, notes=["Every article carries the label of its publisher: split by source."]
    )


def load_media_separated(bundle: kit.Bundle) -> kit.Loaded:
    """The authors' second protocol: five publishers are the test part, so that none is on both
    sides.
    """
    loaded = load(bundle)
    publisher = pl.col("source").str.to_lowercase().str.replace_all(r"[^a-z]", "")
    held_out = pl.any_horizontal(publisher.str.contains(name, literal=True) for name in HELD_OUT)
    split = pl.when(held_out).then(pl.lit("test")).otherwise(pl.lit("train")).alias("split")
    return kit.Loaded(loaded.records.with_columns(split), notes=loaded.notes)
