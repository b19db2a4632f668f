"""Text statistics and URL domains per label, as papers print them for a cleaned dataset.

Averages are over records, and so is that of words per sentence. What a word and a sentence are is a
rule with a name. A recipe may take the statistics at a stage of its own,
by a rule of its own (step `describe`).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from claimlab.clean.counting import Counting, addresses, measure
from claimlab.clean.step import labels
from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.text.personal import scan_personal
from claimlab.text.urls import domains

DOMAINS_LISTED = 15
# The side tables in which a recipe that takes the statistics itself leaves them.
TEXTS, DOMAINS = "text_statistics", "domain_statistics"
# gov.br, gov.uk, gob.mx …, and what else is given to organs of state only (courts, parliaments,
# forces in Brazil).
_STATE = r"^.*\b((?:gov|gob|gouv)\.[a-z]{2})$"
_STATE_OF_BRAZIL = r"^.*\b(?:jus|leg|mp|def|mil|tc)\.br$"


@dataclass(frozen=True)
class Statistics:
    """`texts`: a row per label. `domains`: the most cited domains, with how often records of each
    label cite them. `personal`: how many records hold mail addresses, phone numbers and @handles.
    """

    texts: pl.DataFrame
    domains: pl.DataFrame
    personal: pl.DataFrame


def describe(dataset: Dataset, *, top: int = DOMAINS_LISTED) -> Statistics:
    """The statistics that the recipe took, or else those of the texts as they were before URLs were
    taken out.
    """
    taken = dataset.tables
    personal = scan_personal(dataset.records["text"])
    if TEXTS in taken and DOMAINS in taken:
        return Statistics(taken[TEXTS], taken[DOMAINS], personal)
    return Statistics(
        text_statistics(dataset.records), domain_statistics(dataset.records, top=top), personal
    )


def originals(records: pl.DataFrame) -> pl.Series:
    """The texts with their URLs, where a step has removed those."""
    stored = pl.col("meta").str.json_path_match("$.original_text")
    return records.select(text=pl.coalesce(stored, "text")).to_series()


def domain_statistics(
    records: pl.DataFrame, *, top: int = DOMAINS_LISTED, counting: Counting = "plain"
) -> pl.DataFrame:
    """domain, mentions, and how many of them have each label. All sites of one state are one
    domain.
    """
    cited = pl.DataFrame({"label": labels(records), "url": addresses(originals(records), counting)})
    cited = cited.drop_nulls("label").explode("url").drop_nulls("url")
    # A domain, or the site or state that it is a part of: each ministry has a name of its own under
    # gov.br.
    sites = packaged.toml("claimlab.clean", "spellings.toml")["short_links"]
    whole = domains(cited["url"]).replace(sites).str.replace(_STATE, "$1")
    named = cited.with_columns(domain=whole.str.replace(_STATE_OF_BRAZIL, "gov.br"))
    cited = named.drop_nulls("domain")
    every = sorted(cited["label"].unique())
    table = cited.group_by("domain").agg(
        pl.len().cast(pl.Int64).alias("mentions"),
        *((pl.col("label") == name).sum().cast(pl.Int64).alias(name) for name in every),
    )
    return table.sort(["mentions", "domain"], descending=[True, False]).head(top)


def text_statistics(records: pl.DataFrame, *, counting: Counting = "plain") -> pl.DataFrame:
    """label, records, % with a URL, words, characters per word, sentences, words per sentence."""
    texts = originals(records)
    rows = measure(texts, counting).with_columns(text=texts, label=labels(records))
    return (
        rows.drop_nulls(["text", "label"])
        .group_by("label")
        .agg(
            pl.len().cast(pl.Int64).alias("records"),
            (100 * pl.col("url").mean()).alias("url_percent"),
            pl.col("words", "word_length", "sentences", "words_per_sentence").mean(),
        )
        .sort("label")
    )
