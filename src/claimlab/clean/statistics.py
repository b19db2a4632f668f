"""Text statistics and URL domains per label, as papers print them for a cleaned dataset.

Words are what blanks part, without the punctuation around them. A sentence ends where . ! ? or … stands before a blank,
and where the text ends. Both are counted without URLs. Averages are over records, and so is that of words per sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from claimlab.clean.step import labels
from claimlab.core.dataset import Dataset
from claimlab.text.urls import domains, find_urls, strip_urls

TOP = 15


@dataclass(frozen=True)
class Statistics:
    """`texts`: a row per label. `domains`: the most cited domains, with how often records of each label cite them."""

    texts: pl.DataFrame
    domains: pl.DataFrame


def describe(dataset: Dataset, *, top: int = TOP) -> Statistics:
    """The statistics of a dataset's texts as they were before URLs were taken out of them."""
    return Statistics(text_statistics(dataset.records), domain_statistics(dataset.records, top=top))


def originals(records: pl.DataFrame) -> pl.Series:
    """The texts with their URLs, where a step has removed those."""
    kept = records["meta"].str.json_path_match("$.original_text")
    return pl.DataFrame({"kept": kept, "text": records["text"]}).select(pl.coalesce("kept", "text")).to_series()


def domain_statistics(records: pl.DataFrame, *, top: int = TOP) -> pl.DataFrame:
    """domain, mentions, and how many of them stand under each label. All sites of one government are one domain."""
    rows = pl.DataFrame({"id": records["id"], "label": labels(records), "url": find_urls(originals(records))})
    cited = rows.drop_nulls("label").explode("url").drop_nulls("url")
    cited = cited.with_columns(_government(domains(cited["url"])).alias("domain")).drop_nulls("domain")
    every = sorted(cited["label"].unique().to_list())
    table = cited.group_by("domain").agg(
        pl.len().cast(pl.Int64).alias("mentions"),
        *((pl.col("label") == name).sum().cast(pl.Int64).alias(name) for name in every),
    )
    return table.sort(["mentions", "domain"], descending=[True, False]).head(top)


def _government(found: pl.Series) -> pl.Series:
    """gov.br, gov.uk, gob.mx …: the suffix itself, since each ministry has a name of its own under it."""
    return found.str.replace(r"^.*\b((?:gov|gob|gouv)\.[a-z]{2})$", "$1")


def text_statistics(records: pl.DataFrame) -> pl.DataFrame:
    """label, records, % with a URL, words, characters per word, sentences, words per sentence."""
    rows = measured(originals(records)).with_columns(labels(records).alias("label")).drop_nulls(["text", "label"])
    return (
        rows.group_by("label")
        .agg(
            pl.len().cast(pl.Int64).alias("records"),
            (100 * pl.col("url").mean()).alias("url_percent"),
            pl.col("words").mean(),
            pl.col("word_length").mean(),
            pl.col("sentences").mean(),
            pl.col("words_per_sentence").mean(),
        )
        .sort("label")
    )


_AROUND = r"^\p{P}+|\p{P}+$"
_SENTENCE_END = r"[.!?…]+[\"'”’»)\]*_]*\s"
_LAST_END = r"[\p{P}\s]+$"


def measured(texts: pl.Series) -> pl.DataFrame:
    """One row per text: what `text_statistics` averages."""
    bare = strip_urls(texts)
    words = bare.str.extract_all(r"\S+").list.eval(pl.element().str.replace_all(_AROUND, ""))
    words = words.list.eval(pl.element().filter(pl.element() != ""))
    sentences = bare.str.replace(_LAST_END, "").str.count_matches(_SENTENCE_END) + 1
    return pl.DataFrame(
        {
            "text": texts,
            "url": find_urls(texts).list.len() > 0,
            "words": words.list.len().cast(pl.Int64),
            "word_length": words.list.eval(pl.element().str.len_chars()).list.mean(),
            "sentences": sentences.cast(pl.Int64),
            "words_per_sentence": words.list.len() / sentences,
        }
    )
