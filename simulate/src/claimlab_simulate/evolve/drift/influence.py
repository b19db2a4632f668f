"""Who rewrites, and what moves them: the share of producers, the attributes they name, and which go
together.

Agents name their attributes in free words ("higher_education", "moderate ideology"): a table of
aliases brings them to the eleven attributes of a profile. What it does not know is counted as
`other`, never dropped.
"""

from __future__ import annotations

from functools import cache

import polars as pl

from claimlab.core import packaged

OTHER = "other"


@cache
def _aliases() -> dict[str, str]:
    tables = packaged.toml("claimlab_simulate.evolve.drift", "attributes.toml")[
        "attributes"
    ].items()
    return {word: name for name, words in tables for word in (name, *words)}


def attribute_names() -> list[str]:
    return list(dict.fromkeys(_aliases().values()))


def attribute(word: str) -> str:
    """The attribute of a profile that `word` speaks of: by name, by alias, or by a word inside
    it.
    """
    plain = " ".join("".join(c if c.isalnum() else " " for c in word.lower()).split())
    aliases = _aliases()
    if plain.replace(" ", "_") in aliases:
        return aliases[plain.replace(" ", "_")]
    return next((aliases[part] for part in plain.split() if part in aliases), OTHER)


def named_attributes(hops: pl.DataFrame) -> pl.DataFrame:
    """One row per producer's hop and attribute named in it, each once: run, trace_id, hop,
    dimension, attribute.
    """
    long = hops.filter(pl.col("role") == "producer").explode("attributes").drop_nulls("attributes")
    words = {w: attribute(w) for w in long["attributes"].unique().to_list()}
    return (
        long.with_columns(
            attribute=pl.col("attributes").replace_strict(words, return_dtype=pl.String)
        )
        .select("run", "trace_id", "hop", "dimension", "attribute")
        .unique(maintain_order=True)
    )


def influence(hops: pl.DataFrame) -> pl.DataFrame:
    """Per dimension: the share of producers' hops that name an attribute (the paper's figure 5),
    and how many.
    """
    named = named_attributes(hops).with_columns(pl.col("dimension").fill_null("none"))
    acts = (
        hops.filter((pl.col("role") == "producer") & (pl.col("attributes").list.len() > 0))
        .with_columns(pl.col("dimension").fill_null("none"))
        .group_by("dimension")
        .agg(hops=pl.len())
    )
    return (
        named.group_by("dimension", "attribute")
        .agg(n=pl.len())
        .join(acts, on="dimension")
        .with_columns(share=pl.col("n") / pl.col("hops"))
        .sort("dimension", "n", "attribute", descending=[False, True, False])
    )


def together(hops: pl.DataFrame) -> pl.DataFrame:
    """How often two attributes are named in one hop (the paper's figure 19); both orders, the
    diagonal left out.
    """
    named = named_attributes(hops).select("run", "trace_id", "hop", "attribute")
    pairs = named.join(named, on=["run", "trace_id", "hop"]).filter(
        pl.col("attribute") != pl.col("attribute_right")
    )
    return (
        pairs.group_by(a=pl.col("attribute"), b=pl.col("attribute_right"))
        .agg(n=pl.len())
        .sort("a", "b")
    )


def producer_share(hops: pl.DataFrame, by: str) -> pl.DataFrame:
    """Hops, producers and their share for each value of `by`; failed hops are counted on their
    own.
    """
    return (
        hops.group_by(pl.col(by).fill_null("not stated"))
        .agg(
            hops=pl.len(),
            producers=(pl.col("role") == "producer").sum(),
            failed=(pl.col("role") == "failed").sum(),
        )
        .with_columns(share=pl.col("producers") / (pl.col("hops") - pl.col("failed")))
        .sort(by)
    )
