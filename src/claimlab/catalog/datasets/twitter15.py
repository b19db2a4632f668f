"""Twitter15: source tweets of rumour cascades, with the event each belongs to."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.datasets._tweets import dated
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.core.labels import LabelMap
from claimlab.core.record import meta_column
from claimlab.files.bundle import Bundle
from claimlab.files.tables import read_delimited

# Only the first three columns and the origin are explained anywhere; the others keep their place as their name.
EVENTS = ["label", "event", "tweet_id", "column_4", "column_5", "column_6", "column_7", "origin", "column_9"]
SPLITS = ("train", "dev", "test")


def load(bundle: Bundle) -> Loaded:
    """The rows and labels of label.txt, in its order; texts, events and a published split joined by tweet id."""
    labels = read_delimited(
        bundle.text(bundle.one("twitter15/label.txt", "label.txt")),
        delimiter=":",
        quoted=False,
        header=False,
        columns=["label_raw", "tweet_id"],
    ).with_columns(pl.all().str.strip_chars())
    texts, notes = _texts(bundle, labels)
    rows = labels.join(texts, on="tweet_id", how="left", maintain_order="left")
    rows = rows.join(_events(bundle), on="tweet_id", how="left", maintain_order="left")
    records = dated(
        rows.select(
            ("twitter15-" + pl.col("tweet_id")).alias("id"),
            "text",
            pl.when(pl.col("text").is_null()).then(pl.lit("id-only")).otherwise(pl.lit("post")).alias("kind"),
            "label_raw",
            pl.lit("eng").alias("language"),
            "tweet_id",
            pl.col("origin").alias("source"),
            # for the non-rumours the event is the news account that wrote the tweet
            pl.when(pl.col("origin") == "news_account").then(pl.col("event")).alias("author"),
            pl.col("event").alias("group"),
            "split",
            meta_column(rows, [*EVENTS[3:7], EVENTS[8]]).alias("meta"),
        )
    )
    return Loaded(records, notes=notes)


def _texts(bundle: Bundle, labels: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """tweet_id, text, split: from source_tweets.txt (the 2017 release) and from the train/dev/test files of 2019."""
    parts = []
    for split in SPLITS:
        for name in bundle.match(f"twitter15.{split}"):
            columns = ["tweet_id", "text", "label"]
            part = read_delimited(bundle.text(name), delimiter="\t", quoted=False, header=False, columns=columns)
            parts.append(part.with_columns(pl.lit(split).alias("split")))
    schema = {"tweet_id": pl.String, "text": pl.String, "label": pl.String, "split": pl.String}
    table = pl.concat(parts) if parts else pl.DataFrame(schema=schema)
    notes = []
    both = table.join(labels, on="tweet_id").filter(pl.col("label") != pl.col("label_raw"))
    if both.height:
        notes.append(f"{both.height} tweet(s) have another label in the split files than in label.txt, which is kept.")
    for name in bundle.match("twitter15/source_tweets.txt") or bundle.match("source_tweets.txt"):
        own = read_delimited(
            bundle.text(name), delimiter="\t", quoted=False, header=False, columns=["tweet_id", "text"]
        )
        table = own.join(table.select("tweet_id", "label", "split"), on="tweet_id", how="left", maintain_order="left")
    return table.select("tweet_id", pl.col("text").str.strip_chars(), "split").unique("tweet_id", keep="first"), notes


def _events(bundle: Bundle) -> pl.DataFrame:
    names = bundle.match("Twitter15_label_All.txt")
    if not names:
        return pl.DataFrame(schema=dict.fromkeys(EVENTS[1:], pl.String))
    table = read_delimited(bundle.text(names[0]), delimiter="\t", quoted=False, header=False, columns=EVENTS)
    return table.drop("label").unique("tweet_id", keep="first")


LABELS = {"true": "true", "non-rumor": "true", "false": "false", "unverified": "unknown"}

DATASET = Entry(
    card=Card(
        name="twitter15",
        title="Twitter15",
        summary="Source tweets of rumours traced by rumour-tracking sites (true, false, unverified) and tweets of news "
        "accounts (non-rumor), with the event each belongs to.",
        size=1_490,
        modality=("claims", "tweets"),
        topic="Various",
        languages=("eng",),
        labelling="Human expert",
        shares=Shares(true=50.07, false=24.83, unknown=25.1),
        quality=Quality(keywords="fail", temporal="fail", feasibility="fail"),
        published=Published(
            search_f1=57.7,
            offline_f1=66.5,
            keywords_tf=62.2,
            keywords_tf_baseline=48.9,
            temporal=85.6,
            temporal_feature="tweet id",
        ),
        access="Download rumdetect2017.zip from the link in the authors' repository; copies with a train/dev/test split and the "
        "event table circulate.",
        homepage="https://www.dropbox.com/s/7ewzdrbelpmrnxu/rumdetect2017.zip",
        citation="Ma, Gao and Wong (2017), Detect Rumors in Microblog Posts Using Propagation Structure via Kernel Learning, "
        "ACL; after Liu, Nourbakhsh, Li, Fang and Shah (2015), Real-time Rumor Debunking on Twitter, CIKM.",
        errata=(
            "Each of the 298 events has a single class (217 events without the unverified ones), so the event gives the label "
            "away: split by group.",
            "The origin of a tweet gives its class away too: all 374 non-rumors come from news accounts, and snopes, IJCAI and "
            "PLOS ONE gave only unverified ones.",
            "26 of the non-rumors are by a satirical account (theonion), yet count as true in the guide's map.",
            "One tweet (715255507506892800) is 'unverified' in label.txt and 'false' in the split files.",
            "The texts are lower-cased and every link is the word URL, which is itself predictive.",
            "The guide lists three labels and leaves out 'unverified', which is a quarter of the rows.",
            "A seeded split reproduces the published scores only with the rows in the order of label.txt.",
        ),
        survey="cdl-claims",
        met_real_files=True,
    ),
    maps={"a5": LabelMap("twitter15/a5", LABELS), "cdl": LabelMap("twitter15/cdl", LABELS)},
    variants={"texts": load},
    sample=Sample(
        files={
            "label.txt": "unverified:700000000000000001\nnon-rumor:700000000000000002\ntrue:700000000000000003\n"
            "false:700000000000000004\nfalse:20000000001\n",
            "Twitter15_label_All.txt": "unverified\tE1-1\t700000000000000001\t1\t2\t3\t4\tsnopes\t0.5\n"
            "non-rumor\ttowncrier\t700000000000000002\t1\t2\t3\t4\tnews_account\t0.5\n"
            "true\tCIKM_1\t700000000000000003\t1\t2\t3\t4\tCIKM\t0.5\n"
            "false\tCIKM_2\t700000000000000004\t1\t2\t3\t4\tCIKM\t0.5\n",
            "twitter15.train": '700000000000000003\tthe "old bridge reopened today URL\ttrue\n'
            "700000000000000001\ta giant squid lives in the town pond 🦑\tunverified\n",
            "twitter15.dev": "700000000000000004\tthe mayor is made of wood\tunverified\n",
            "twitter15.test": "700000000000000002\tlocal library opens on monday URL\tnon-rumor\n",
        },
        rows={"texts": 5},
        veracity={"true": 2, "false": 2, "unknown": 1},
    ),
    real_rows={"texts": 1_490},
    real_labels={"unverified": 374, "non-rumor": 374, "true": 372, "false": 370},
)
