"""BanFakeNews: news in Bangla, authentic from news portals, fake from satire, clickbait and
debunked stories.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from claimlab.catalog import kit

PEOPLE = ("NE", "NEN", "NN", "NS", "ZH")
WHOLE = ("Authentic-48K.csv", "Fake-1K.csv")
LABELLED = ("LabeledAuthentic-7K.csv", "LabeledFake-1K.csv")


def load(bundle: kit.Bundle) -> kit.Loaded:
    return _load(bundle, WHOLE)


def load_labelled(bundle: kit.Bundle) -> kit.Loaded:
    """The part with more labels: who could verify the news, whether headline and body agree, and
    the type of fake.
    """
    return _load(bundle, LABELLED)


def load_four(bundle: kit.Bundle) -> kit.Loaded:
    """All four files concatenated, as in the guide: the fake articles occur twice."""
    return _load(bundle, (*WHOLE, *LABELLED))


def load_human_baseline(bundle: kit.Bundle) -> kit.Loaded:
    """150 articles that five people judged without further help: HB.csv, and one file of answers
    for each, in its order.
    """
    raw = kit.Table.read(bundle, bundle.one("HB.csv"))
    records = raw.frame.select(
        id="banfakenews-baseline-" + raw.need("articleID"),
        text=raw.need("news"),
        kind=pl.lit("article"),
        label_raw=raw.need("label"),
    )
    annotations = []
    for name in bundle.match(*(f"{who}.csv" for who in PEOPLE)):
        answers = kit.Table.read(bundle, name)
        if answers.height != raw.height:
            raise kit.UnreadableFile(
                f"'{name}' has {answers.height} answers to {raw.height} articles.", kit.AS_PUBLISHED
            )
        answer = answers.need("The news is ____?").replace({"1": "fake", "2": "authentic"})
        frame = pl.DataFrame({"id": records["id"], "answer": answer})
        annotations.append(
            kit.answers(
                frame,
                {"answer": "authentic or fake"},
                annotator=name.rsplit("/", 1)[-1].removesuffix(".csv"),
            )
        )
    return kit.Loaded(records, {"annotations": pl.concat(annotations)} if annotations else {})


def _load(bundle: kit.Bundle, files: Sequence[str]) -> kit.Loaded:
    """Articles that occur in several files, or several times in one, are one group."""
    records = pl.concat([_part(bundle, bundle.one(f, f"*{f}")) for f in files])
    ids = kit.unique_ids("banfakenews", records["id"])
    return kit.Loaded(records.with_columns(ids, kit.repeated(records["text"], ids)))


def _part(bundle: kit.Bundle, name: str) -> pl.DataFrame:
    raw = kit.Table.read(bundle, name)
    part = "labeled" if "labeled" in name.lower() else "all"
    return raw.frame.select(
        id=f"{part}-" + raw.need("articleID", "id"),
        text=raw.need("content", "article", "text").fill_null(raw.maybe("headline")),
        kind=pl.lit("article"),
        label_raw=raw.need("label").str.strip_suffix(".0"),
        **kit.dated({"date column": raw.maybe("date")}, "%d/%m/%Y %H:%M:%S"),
        source=raw.maybe("domain"),
        topic=raw.maybe("category"),
        meta=raw.meta(
            {
                "title": "headline",
                "claim_source": "source",
                "relation": "relation",
                "fake_type": "F-type",
            }
        ),
    )


A5 = {"1": "true", "0": "false"}

DATASET = kit.Entry(
    card=kit.Card(
        name="banfakenews",
        title="BanFakeNews",
        summary=(
            "About 50,000 news articles in Bangla from 22 portals of Bangladesh and some 1,300 fake"
            " ones: false or misleading stories, clickbait and satire."
        ),
        size=50_000,
        modality=("articles",),
        topic="Various",
        region="Bangladesh",
        languages=("ben",),
        labelling="crowd-sourced",
        access="Download the four CSV files from Kaggle, cryptexcode/banfakenews.",
        homepage="https://github.com/Rowan1224/FakeNews",
        citation=(
            "Hossain, Rahman, Islam and Kar (2020), BanFakeNews: A Dataset for Detecting Fake News"
            " in Bangla, LREC."
        ),
        errata=(
            "The guide's Table 4 gives its language as English; the articles are in Bangla.",
            (
                "The guide's label shares are those of all four files concatenated (2,598 of 58,478"
                " fake): the labelled files repeat articles of the other two (variant 'all-four')."
            ),
            (
                "Authentic articles come from news portals and fake ones from other sites: the"
                " column 'domain' separates them."
            ),
            (
                "In the human baseline (variant 'human-baseline') 1 means authentic in the label,"
                " but fake in people's answers, where 2 is authentic."
            ),
            "Fake includes satire and clickbait (meta 'fake_type' in the labelled files).",
            (
                "The guide takes English stop words out of every language, so on Bangla the words"
                " it counts are mostly function words."
            ),
        ),
    ),
    maps=kit.both(A5),
    variants={
        "articles": load,
        "labelled": load_labelled,
        "all-four": load_four,
        "human-baseline": load_human_baseline,
    },
    published_rows={"articles": 49_977, "labelled": 8_501, "all-four": 58_478},
    real_rows={"human-baseline": 150},
)
