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
        kind=pl.lit("article"),
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


DATASET = kit.Entry(
    card=kit.Card(
        name="fang-covid",
        title="FANG-COVID",
        summary=(
            "German articles on COVID-19 from three established and ten unreliable publishers, with"
            " the tweets that shared them."
        ),
        size=41_242,
        modality=("articles",),
        topic="Covid-19",
        region="Germany",
        languages=("deu",),
        time_start="2020-02",
        time_end="2021-03",
        labelling="Source-based",
        licence=None,
        access="Clone or download the repository: one JSON file per article.",
        homepage="https://github.com/justusmattern/fang-covid",
        citation=(
            "Mattern, Qiao, Kerz, Wiechmann and Strohmaier (2021), FANG-COVID: A New Large-Scale"
            " Benchmark Dataset for Fake News Detection in German, FEVER workshop."
        ),
        errata=(
            (
                "The label is that of the publisher, so the publisher's style and boilerplate give"
                " it away."
            ),
        ),
    ),
    maps={"a5": {"real": "true", "fake": "false"}},
    variants={"articles": load, "media-separated": load_media_separated},
    published_rows={"articles": 41242, "media-separated": 41242},
    real_rows={"articles": 1120, "media-separated": 1120},
    real_labels={"real": 784, "fake": 336},
)
