"""Covid-vaccine-misinfo-MIC: tweets on vaccines from Brazil, Indonesia and Nigeria, annotated
question by question.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
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
