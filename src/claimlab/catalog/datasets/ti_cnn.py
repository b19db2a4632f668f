"""TI-CNN: articles and images around the US election of 2016, real from known outlets, fake from flagged sites."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.columns import languages
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.ids import unique_ids
from claimlab.catalog.table import Table
from claimlab.catalog.times import dated, utc
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle


def load(bundle: Bundle) -> Loaded:
    """`all_data.csv`. Its `site_url` is a whole address for real articles and a bare domain for fake ones, so the domain is taken of both."""
    raw = Table.read(bundle, bundle.one("all_data.csv", "ti-cnn*.csv", "ti_cnn*.csv"))
    site = raw.maybe("site_url")
    records = raw.frame.select(
        id=unique_ids("ti-cnn", raw.maybe("uuid", "id")),
        text=raw.need("text").fill_null(raw.maybe("title")),
        kind=pl.lit("article"),
        label_raw=raw.need("type", "label"),
        language=languages(raw.maybe("language")),
        **dated({"date column": utc(raw.maybe("published"))}),
        author=raw.maybe("author"),
        source=site.str.extract(r"^(?:https?://)?(?:www\.)?([^/]*)"),
        url=site.set(~site.str.starts_with("http"), None),
        meta=raw.meta({"title": "title", "image": "main_img_url", "country": "country"}),
    )
    return Loaded(records)


A5 = {"real": "true", "fake": "false"}

DATASET = Entry(
    card=Card(
        name="ti-cnn",
        title="TI-CNN",
        summary="Articles with a lead image from the weeks around the US election of 2016: fake ones from sites that a browser plug-in flagged, real ones from outlets such as the New York Times.",
        size=20_015,
        modality=("articles", "images"),
        topic="Politics",
        region="USA",
        languages=("eng",),
        labelling="source-based",
        shares=Shares(true=40.34, false=59.66),
        quality=Quality(keywords="fail", temporal="fail", feasibility="pass"),
        published=Published(keywords_tf=89.1, temporal=78.1, temporal_feature="date"),
        access="Download all_data.csv from the authors' Google Drive, linked from the paper.",
        homepage="https://arxiv.org/abs/1806.00749",
        citation="Yang, Zheng, Zhang, Cui, Li and Yu (2018), TI-CNN: Convolutional Neural Networks for Fake News Detection, arXiv 1806.00749.",
        errata=(
            "Labels belong to the site, so any trace of the site is the label: 'site_url' is an address for real and a domain for fake, 'crawled' and 'country' differ too.",
            "Real articles show typographic marks as '<U+2019>', an export's trace; strip it before any check of text.",
            "Further columns (capitals, word counts, emotions) were computed by the authors and are not read.",
            "The guide gives no baseline beside its keyword score for this set.",
        ),
        survey="cdl-paragraphs",
    ),
    maps={"a5": LabelMap("ti-cnn/a5", A5), "cdl": LabelMap("ti-cnn/cdl", A5)},
    variants={"articles": load},
    sample=Sample(
        files={
            "all_data.csv": "author,comments,country,crawled,domain_rank,id,language,likes,main_img_url,published,site_url,text,thread_title,title,type,uuid\n"
            "ANN POE,0.0,US,2017-03-14 08:25:04,0,3.0,english,0.0,https://i.example/a.jpg,2016-11-23 00:45:32,https://www.rivertontimes.example/2016/11/22/bridge.html,The town<U+2019>s bridge opened.,0,Bridge opens,real,f1\n"
            "admin,3,TV,2016-10-27T01:49:27.168+03:00,,,english,1,,2016-10-26T21:41:00.000+03:00,purplelake.example,The lake is purple!,Lake,LAKE IS PURPLE!,fake,e2\n"
            "No Author,,,,,,english,,,,purplelake.example,,,Only a headline,fake,e2\n",
        },
        rows={"articles": 3},
        veracity={"true": 1, "false": 2},
    ),
)
