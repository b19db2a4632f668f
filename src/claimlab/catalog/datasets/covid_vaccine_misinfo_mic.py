"""Covid-vaccine-misinfo-MIC: tweets on vaccines from Brazil, Indonesia and Nigeria, annotated
question by question.
"""

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
    unique_ids,
)

RELEVANT, MISINFORMATION = "relevant to vaccines", "contains misinformation about vaccines"
YES, FEELING = (
    {"1": "yes", "2": "no", "3": "uncertain"},
    {"1": "negative", "2": "neutral", "3": "positive"},
)
THEMES = (
    "development, availability or access",
    "safety, efficacy or acceptance",
    "infertility",
    "political or economic motives",
    "mandatory vaccines or ethics",
    "reagents",
    "morbidity or mortality",
    "alternatives",
    "susceptibility due to influenza vaccines",
    "another theme",
)
QUESTIONS = {
    RELEVANT: ("Q1", "relevant_to_vaccines", "revelant_to_vaccines"),
    "mentions a vaccine other than COVID-19's": ("Q2", "mention_non_covid_vaccine"),
    MISINFORMATION: ("Q3", "contain_misinfo_about_vaccine"),
    **{
        f"theme: {theme}": (f"Q4{letter}",)
        for letter, theme in zip("abcdefghij", THEMES, strict=True)
    },
}
FEELINGS = {
    "dominant sentiment of the tweet": ("Q5a", "dominant_sentiment_tweet"),
    "dominant sentiment towards vaccines": ("Q5b", "dominant_sentiment_vaccine"),
}


def load(bundle: Bundle) -> Loaded:
    """One CSV of tweet addresses with coded answers, put into the words of the code book; the label
    is the answer on misinformation. Questions that the code book skips have no answer."""
    raw = Table.read(bundle, bundle.one("annotated_data.csv", "*annotated*.csv"))
    link, text = raw.maybe("posturl"), raw.maybe("text", "tweet", "full_text")
    ids = link.str.extract(r"/status(?:es)?/(\d+)").fill_null(raw.maybe("tweet_id", "id", "id_str"))
    coded = raw.pick((), {**QUESTIONS, **FEELINGS}).with_columns(pl.all().str.strip_suffix(".0"))
    worded = coded.with_columns(
        pl.col(list(QUESTIONS)).replace(YES), pl.col(list(FEELINGS)).replace(FEELING)
    )
    labels = [_label(*pair) for pair in worded.select(RELEVANT, MISINFORMATION).iter_rows()]
    records = raw.frame.select(
        id=unique_ids("covid-vaccine-misinfo-mic", ids),
        text=text,
        kind=post_or_id(text),
        label_raw=pl.Series(labels, dtype=pl.String),
        language=languages(raw.maybe("lang", "language")),
        **sent(ids),
        tweet_id=ids,
        url=link,
        meta=raw.meta(["country"]),
    )
    annotations = answers(
        worded.with_columns(records["id"]), {q: q for q in worded.columns}, annotator="published"
    )
    return Loaded(records, {"annotations": annotations})


def _label(relevant: str | None, misinformation: str | None) -> str | None:
    if misinformation is not None:
        return {"yes": "misinformation", "no": "no misinformation"}.get(
            misinformation, misinformation
        )
    return "not about vaccines" if relevant == "no" else None


A5 = {
    "misinformation": "false",
    "no misinformation": "true",
    "not about vaccines": "unknown",
    "uncertain": "unknown",
    "yes": "false",
    "no": "true",
    "1": "false",
    "2": "true",
}

DATASET = Entry(
    card=Card(
        name="covid-vaccine-misinfo-mic",
        title="Covid-vaccine-misinfo-MIC",
        summary=(
            "Geolocated tweets on COVID-19 vaccines in English, Portuguese and Indonesian,"
            " annotated for relevance, misinformation, its themes and sentiment."
        ),
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
        citation=(
            "Kim, Bak, Agrawal, Wu, Wirtz, Hong and Wijaya (2023), COVID-19 Vaccine Misinformation"
            " in Middle Income Countries, EMNLP."
        ),
        errata=(
            (
                "The guide uses none of its labels (100% unknown, map 'cdl'); map 'a5' takes the"
                " answer on misinformation, as the guide does for similar datasets."
            ),
            "The guide calls the labelling crowd-sourced; the paper describes expert annotation.",
            (
                "Q1 asks for relevance, not misinformation; public code that reads it as the label"
                " exists."
            ),
            (
                "The file holds addresses of tweets, not ids, and answers as numbers ('2.0') whose"
                " code book is a separate document; 588 rows name neither country nor language."
            ),
            "'Uncertain' (355 rows) was later struck from the code book but is in the file.",
            (
                "588 rows have none of the three languages of the paper, or no language: the column"
                " is Twitter's guess."
            ),
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
    published_rows={"tweets": 5_952, "guide": 5_952},
    real_rows={"tweets": 5952},
    real_labels={
        "not about vaccines": 2286,
        "no misinformation": 2079,
        "misinformation": 1232,
        "uncertain": 355,
    },
)
