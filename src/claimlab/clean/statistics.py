"""Text statistics and URL domains per label, as papers print them for a cleaned dataset.

Words are runs of letters and digits or single other signs, as tokenizers for training texts cut them; sentences end at
. ! ? or … before a blank, or at a line break. Averages are over records.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from claimlab.clean.step import labels
from claimlab.core.dataset import Dataset
from claimlab.text.urls import domains, find_urls

TOP = 15


@dataclass(frozen=True)
class Statistics:
    """`texts`: a row per label. `domains`: the most cited domains, with how many records of each label cite them."""

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
    """domain, records, and for each label how many records cite it. All sites of one government are one domain."""
    rows = pl.DataFrame({"id": records["id"], "label": labels(records), "url": find_urls(originals(records))})
    cited = rows.drop_nulls("label").explode("url").drop_nulls("url")
    cited = cited.with_columns(_government(domains(cited["url"])).alias("domain")).drop_nulls("domain")
    counted = cited.unique(["id", "domain"])
    every = sorted(counted["label"].unique().to_list())
    table = counted.group_by("domain").agg(
        pl.len().cast(pl.Int64).alias("records"),
        *((pl.col("label") == name).sum().cast(pl.Int64).alias(name) for name in every),
    )
    return table.sort(["records", "domain"], descending=[True, False]).head(top)


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


WORD = r"[\p{L}\p{N}\p{M}_]+"
SENTENCE_END = r"[.!?…]+[\"'”’»)\]]*(?:\s|$)|\n+"


def measured(texts: pl.Series) -> pl.DataFrame:
    """One row per text: what `text_statistics` averages."""
    text = pl.col("text")
    words = text.str.extract_all(WORD)
    return (
        pl.DataFrame({"text": texts.rename("text")})
        .with_columns(
            (find_urls(texts).list.len() > 0).alias("url"),
            words.list.len().cast(pl.Int64).alias("words"),
            words.list.eval(pl.element().str.len_chars()).list.mean().alias("word_length"),
            text.str.strip_chars().str.split("\n").list.len().alias("sentences"),
        )
        .with_columns((pl.col("words") / pl.col("sentences")).alias("words_per_sentence"))
    )
