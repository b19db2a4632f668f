"""Columns that several loaders make: an article as one text, languages by code, hosts, the kind of
a post.
"""

from __future__ import annotations

import polars as pl

from claimlab.core.languages import normalise


def blank_to_null(values: pl.Series) -> pl.Series:
    """`values` as stripped text; empty ones are null."""
    stripped = values.cast(pl.String).str.strip_chars()
    return stripped.set(stripped == "", None)


def title_and_body(title: pl.Series, body: pl.Series) -> pl.Series:
    """The headline, a blank line and the body, since a reader sees both; either alone where the
    other is missing.
    """
    frame = pl.DataFrame({"title": blank_to_null(title), "body": blank_to_null(body)})
    both = pl.concat_str("title", "body", separator="\n\n", ignore_nulls=True)
    empty = pl.all_horizontal(pl.col("title", "body").is_null())
    return frame.select(pl.when(empty).then(None).otherwise(both).alias("text"))["text"]


def languages(values: pl.Series) -> pl.Series:
    """Codes, tags or English names as ISO 639-3; what nothing is known by is null."""
    known = {code: normalise(code) for code in values.drop_nulls().unique().to_list()}
    return pl.Series("language", [known.get(code) for code in values.to_list()], dtype=pl.String)


def host(url: pl.Expr) -> pl.Expr:
    """The host of a web address without "www."; null for anything else."""
    return url.str.extract(r"^https?://(?:www\.)?([^/?#:]+)")


def post_or_id(text: pl.Series) -> pl.Series:
    """The column `kind` of posts: one without its text is an id alone."""
    return pl.select(
        pl.when(text.is_null()).then(pl.lit("id-only")).otherwise(pl.lit("post")).alias("kind")
    ).to_series()
