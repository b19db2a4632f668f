"""Covid-vaccine-misinfo-MIC: tweets on vaccines from Brazil, Indonesia and Nigeria, annotated question by question."""

from __future__ import annotations

from typing import Any

import polars as pl

from claimlab.catalog.card import Card, Shares
from claimlab.catalog.datasets._guide import guide, made_up
from claimlab.catalog.datasets._layout import side_table
from claimlab.catalog.datasets._tolerant import blank_to_null, dated, languages, maybe, pick, read_any_table, unique_ids
from claimlab.catalog.datasets._tweets import sent_at, tweet_ids
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.core.labels import LabelMap
from claimlab.core.record import meta_column
from claimlab.files.bundle import Bundle

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
    name = bundle.one("annotated_data.csv", "*annotated*.csv")
    raw = read_any_table(bundle, name)
    ids = tweet_ids(pick(raw, "tweet_id", "id", "tweetid", "id_str", where=name))
    answers = {q: blank_to_null(maybe(raw, *names)).str.strip_suffix(".0") for q, names in QUESTIONS.items()}
    text, times = blank_to_null(maybe(raw, "text", "tweet", "full_text")), sent_at(ids)
    country = pl.DataFrame({"country": blank_to_null(maybe(raw, "country"))})
    records = pl.DataFrame(
        {
            "id": unique_ids("covid-vaccine-misinfo-mic", ids),
            "text": text,
            "kind": pl.Series(["id-only" if t is None else "post" for t in text.to_list()], dtype=pl.String),
            "label_raw": pl.Series(
                [_label(r, m) for r, m in zip(answers[RELEVANT], answers[MISINFORMATION], strict=True)], dtype=pl.String
            ),
            "language": languages(maybe(raw, "lang", "language")),
            "date": times,
            "date_source": dated(times, "snowflake id"),
            "tweet_id": ids,
            "meta": meta_column(country, ["country"]),
        }
    )
    return Loaded(records, {"annotations": side_table("annotations", _annotations(records["id"], answers))})


def _label(relevant: str | None, misinformation: str | None) -> str | None:
    if misinformation is not None:
        known = {**dict.fromkeys(YES, "misinformation"), **dict.fromkeys(NO, "no misinformation")}
        return known.get(misinformation.lower(), misinformation)
    return "not about vaccines" if relevant is not None and relevant.lower() in NO else None


def _annotations(ids: pl.Series, answers: dict[str, pl.Series]) -> list[dict[str, Any]]:
    return [
        {"record_id": i, "annotator": "published", "annotator_kind": "human", "question": question, "value": value}
        for question, values in answers.items()
        for i, value in zip(ids.to_list(), values.to_list(), strict=True)
        if value is not None
    ]


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
        shares=Shares(unknown=100.0),
        access="Clone the repository covid-vaccine-misinfo-MIC; it holds tweet ids only.",
        homepage="https://github.com/zzoliman/covid-vaccine-misinfo-MIC",
        citation="Kim, Bak, Agrawal, Wu, Wirtz, Hong and Wijaya (2023), COVID-19 Vaccine Misinformation in Middle Income Countries, EMNLP.",
        errata=(
            "The guide uses none of its labels (100 % unknown, map 'cdl'); map 'a5' takes the answer on misinformation, as the guide does for kindred datasets.",
            "The guide calls the labelling crowd-sourced; the paper speaks of expert annotation.",
            "Q1 asks for relevance, not misinformation; public code that reads it as the label exists.",
            "Names of the id column could not be confirmed for this entry; it is looked for under several.",
        ),
        survey="cdl-claims",
    ),
    maps={
        "a5": LabelMap("covid-vaccine-misinfo-mic/a5", A5),
        "cdl": LabelMap("covid-vaccine-misinfo-mic/cdl", dict.fromkeys(A5, "unknown")),
    },
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
    sample=Sample(
        files={
            "annotated_data.csv": "tweet_id,country,lang,Q1,Q2,Q3,Q4,Q5\n1340000000000000001,Brazil,pt,1,2.0,1.0,3.0,1.0\n1340000000000000002,Indonesia,in,1,2.0,2.0,1.0,1.0\n1340000000000000003,Nigeria,en,2,,,,\n",
            **made_up(
                "covid_vaccine_misinfo_mic",
                {
                    "claim": None,
                    "contain_misinfo_about_vaccine": "yes",
                    "tweet_id": "1340000000000000001",
                    "language": "pt",
                },
                {
                    "claim": None,
                    "contain_misinfo_about_vaccine": "no",
                    "tweet_id": "1340000000000000002",
                    "language": "id",
                },
            ),
        },
        rows={"tweets": 3, "guide": 2},
        veracity={"false": 1, "true": 1, "unknown": 1},
    ),
)
