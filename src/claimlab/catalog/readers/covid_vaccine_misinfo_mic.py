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
    as_text,
    languages,
    lists_of,
    post_or_id,
    sent,
    unique_ids,
)

RELEVANT, MISINFORMATION = "relevant to vaccines", "contains misinformation about vaccines"
LISTS = lists_of("covid-vaccine-misinfo-mic")


def load(bundle: Bundle) -> Loaded:
    """One CSV of tweet addresses with coded answers, put into the words of the code book; the label
    is the answer on misinformation. Questions that the code book skips have no answer."""
    raw = Table.read(bundle, bundle.one("annotated_data.csv", "*annotated*.csv"))
    link, text = raw.maybe("posturl"), raw.maybe("text", "tweet", "full_text")
    ids = link.str.extract(r"/status(?:es)?/(\d+)").fill_null(raw.maybe("tweet_id", "id", "id_str"))
    questions, sentiments = LISTS["questions"], LISTS["sentiments"]
    coded = raw.pick((), questions | sentiments).with_columns(pl.all().str.strip_suffix(".0"))
    worded = coded.with_columns(
        pl.col(*questions).replace(LISTS["answers"]), pl.col(*sentiments).replace(LISTS["feelings"])
    )
    labels = [_label(*pair) for pair in worded.select(RELEVANT, MISINFORMATION).iter_rows()]
    records = raw.frame.select(
        id=unique_ids("covid-vaccine-misinfo-mic", ids),
        text=text,
        kind=post_or_id(text),
        label_raw=as_text(labels),
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
