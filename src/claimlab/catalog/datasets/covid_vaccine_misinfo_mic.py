"""Covid-vaccine-misinfo-MIC: tweets on vaccines from Brazil, Indonesia and Nigeria, annotated question by question."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.datasets._guide import guide
from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    Loaded,
    Table,
    answers,
    languages,
    post_or_id,
    sent,
    tweet_ids,
    unique_ids,
)

RELEVANT, MISINFORMATION = "relevant to vaccines", "contains misinformation about vaccines"
QUESTIONS = {
    RELEVANT: ("Q1", "relevant_to_vaccines", "revelant_to_vaccines"),
    "mentions a vaccine other than COVID-19's": ("Q2", "mention_non_covid_vaccine"),
    MISINFORMATION: ("Q3", "contain_misinfo_about_vaccine", "misinformation"),
    "dominant sentiment of the tweet": ("Q4", "dominant_sentiment_tweet"),
    "dominant sentiment towards vaccines": ("Q5", "dominant_sentiment_vaccine"),
}
YES, NO = ("1", "yes", "true"), ("2", "0", "no", "false")


def load(bundle: Bundle) -> Loaded:
    """One CSV of tweet ids with answers Q1 to Q5, where 1 is yes and 2 is no; the label is the answer on misinformation."""
    raw = Table.read(bundle, bundle.one("annotated_data.csv", "*annotated*.csv"))
    ids, text = tweet_ids(raw.need("tweet_id", "id", "id_str")), raw.maybe("text", "tweet", "full_text")
    said = raw.pick((), QUESTIONS).with_columns(pl.all().str.strip_suffix(".0"))
    labels = [_label(*pair) for pair in said.select(RELEVANT, MISINFORMATION).iter_rows()]
    records = raw.frame.select(
        id=unique_ids("covid-vaccine-misinfo-mic", ids),
        text=text,
        kind=post_or_id(text),
        label_raw=pl.Series(labels, dtype=pl.String),
        language=languages(raw.maybe("lang", "language")),
        **sent(ids),
        tweet_id=ids,
        meta=raw.meta(["country"]),
    )
    told = answers(said.with_columns(records["id"]), {q: q for q in QUESTIONS}, annotator="published")
    return Loaded(records, {"annotations": told})


def _label(relevant: str | None, misinformation: str | None) -> str | None:
    if misinformation is not None:
        known = {**dict.fromkeys(YES, "misinformation"), **dict.fromkeys(NO, "no misinformation")}
        return known.get(misinformation.lower(), misinformation)
    return "not about vaccines" if relevant is not None and relevant.lower() in NO else None


A5 = {
    "misinformation": "false", "no misinformation": "true", "not about vaccines": "unknown",
    "yes": "false", "no": "true", "1": "false", "2": "true",
}  # fmt: skip

DATASET = Entry(
    card=Card(
        name="covid-vaccine-misinfo-mic",
        title="Covid-vaccine-misinfo-MIC",
        summary="Geolocated tweets on COVID-19 vaccines in English, Portuguese and Indonesian, annotated for relevance, misinformation, its themes and sentiment.",
        size=5_952,
        modality=("claims", "tweets"),
        topic="Covid-19",
        region="Brazil, Indonesia, Nigeria",
        languages=("eng", "por", "ind"),
        time_start="2020",
        time_end="2022",
        labelling="Crowd-sourced",
        access="Clone the repository covid-vaccine-misinfo-MIC; it holds tweet ids only.",
        homepage="https://github.com/zzoliman/covid-vaccine-misinfo-MIC",
        citation="Kim, Bak, Agrawal, Wu, Wirtz, Hong and Wijaya (2023), COVID-19 Vaccine Misinformation in Middle Income Countries, EMNLP.",
        errata=(
            "The guide uses none of its labels (100 % unknown, map 'cdl'); map 'a5' takes the answer on misinformation, as the guide does for kindred datasets.",
            "The guide calls the labelling crowd-sourced; the paper speaks of expert annotation.",
            "Q1 asks for relevance, not misinformation; public code that reads it as the label exists.",
            "Names of the id column could not be confirmed for this entry; it is looked for under several.",
        ),
    ),
    maps={"a5": A5, "cdl": dict.fromkeys(A5, "unknown")},
    variants={
        "tweets": load,
        "guide": guide(
            "covid-vaccine-misinfo-mic",
            "covid_vaccine_misinfo_mic",
            kind="post",
            label=("contain_misinfo_about_vaccine", "label"),
        ),
    },
    published_rows={"guide": 5_952},
)
