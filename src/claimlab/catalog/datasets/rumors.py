"""Rumors (Tam et al. 2019): rumours that Snopes rated in 2017, and the tweets that carried them."""

from __future__ import annotations

import polars as pl

from claimlab.catalog import kit
from claimlab.catalog.datasets._guide import guide

RUMOURS = ("rumors.csv", "rumours.csv", "*rumo*.csv", "*rumo*.json*", "*rumo*.xlsx")
TWEETS = ("tweets.csv", "*tweet*.csv", "*tweet*.json*")
NUMBER = ("rumor_id", "rumour_id", "claim_id", "rumor", "rumour")


def load_rumours(bundle: kit.Bundle) -> kit.Loaded:
    """One record per rumour, from a table of rumours."""
    raw = kit.Table.read(bundle, bundle.one(*RUMOURS))
    text = raw.need("claim", "rumor_text", "statement", "text", "title")
    ids = kit.unique_ids("rumors", raw.maybe("id", *NUMBER[:3]))
    records = raw.frame.select(
        id=ids,
        text=text,
        kind=pl.lit("claim"),
        label_raw=raw.need("label", "veracity", "rating", "truth"),
        **kit.dated({"date column": raw.maybe("date", "published", "created")}, "%d/%m/%Y %H:%M"),
        source=pl.lit("Snopes"),
        url=raw.maybe("url", "link", "snopes_url"),
        topic=raw.maybe("category", "topic"),
        group=kit.repeated(text, ids),
    )
    return kit.Loaded(records)


def load_tweets(bundle: kit.Bundle) -> kit.Loaded:
    """One record per tweet, with the verdict on the rumour behind it; all tweets of a rumour are
    one group.
    """
    rumours = load_rumours(bundle).records.select("label_raw", "topic", "url", group="id")
    raw = kit.Table.read(bundle, bundle.one(*TWEETS))
    ids, text = raw.need("tweet_id", "id", "id_str"), raw.maybe("text", "tweet", "full_text")
    records = raw.frame.select(
        id=kit.unique_ids("rumors-tweet", ids),
        text=text,
        kind=kit.post_or_id(text),
        **kit.sent(ids),
        tweet_id=ids,
        group="rumors-" + raw.need(*NUMBER),
    )
    return kit.Loaded(records.join(rumours, on="group", how="left", maintain_order="left"))


OWN = {
    "true": "true",
    "mostly true": "true",
    "mixture": "mixed",
    "mostly false": "false",
    "false": "false",
    "unproven": "unknown",
    "correct attribution": "true",
    "misattributed": "false",
    "miscaptioned": "false",
    "scam": "false",
    "legend": "false",
    "outdated": "mixed",
    "undetermined": "unknown",
    "research in progress": "unknown",
    "collections": "unknown",
    "lost legend": "unknown",
}
CDL = {"outdated": "unknown", "lost legend": "false", "labeled satire": "false"}

DATASET = kit.Entry(
    card=kit.Card(
        name="rumors",
        title="Rumors",
        summary=(
            "Rumours of 2017 on politics, fraud, fauxtography, crime and science with Snopes'"
            " ratings, and the tweets in which a graph-based method found them."
        ),
        size=1_022,
        modality=("claims", "tweets"),
        topic="Various",
        region="USA, UK, China, India",
        languages=("eng",),
        time_start="2017-05-01",
        time_end="2017-11-01",
        labelling="Algorithm",
        access=(
            "Take the folder 'rumors' of ComplexDataLab/Misinfo_Datasets on the Hugging Face Hub;"
            " ask the authors for the tweets."
        ),
        homepage="https://huggingface.co/datasets/ComplexDataLab/Misinfo_Datasets",
        citation=(
            "Tam, Weidlich, Zheng, Yin, Hung and Stantic (2019), From Anomaly Detection to Rumour"
            " Detection Using Data Streams of Social Platforms, PVLDB 12."
        ),
        errata=(
            (
                "The guide lists 1,022 rumours; its release and its scripts hold 1,236 rows, with"
                " claims that come more than once (they share a group here)."
            ),
            "The published temporal score of 74.2 was fitted on the rows it was tested on.",
            (
                "The layout of the authors' own files could not be confirmed: the default variant"
                " reads the guide's release, 'rumours' and 'tweets' read tables under usual names."
            ),
        ),
    ),
    maps={"a5": kit.rating_verdicts(OWN), "cdl": kit.rating_verdicts({**OWN, **CDL})},
    variants={
        "guide": guide("rumors", "rumors", language="eng"),
        "rumours": load_rumours,
        "tweets": load_tweets,
    },
    published_rows={"guide": 1_236, "rumours": 1_022},
)
