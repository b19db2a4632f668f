"""uuids against metadata and splits: what belongs together, and the orphans and duplicates that do
not.

Every problem is kept with its uuid, for the side table `orphans`; the sentences count them. What
can only be known from the whole tree (metadata without text) is not measured when a part of it was
asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

from claimlab.catalog.cards import entry_of
from claimlab.core.words import several

SAME = "repeated as the same row (read once)"
DIFFERENT = "repeated with different rows (all kept, in one group)"
BOTH = "both generated and human-written"
NO_METADATA = "with text but without metadata"
NO_TEXT = "with metadata but without text"
METADATA_TWICE = "repeated in the metadata (the first row is used)"
LISTED_ONLY = "in a split list but without text"
SEVERAL_SPLITS = "in several lists of one split setting (left out of the split)"
VERDICTS = "with a verdict that contradicts the metadata (the row's own is used)"
CARRIED = (
    "technique_keys",
    "degree",
    "translation_directionality",
    "organization",
    "platform",
    "country",
    "category",
    "topic",
    "source_dataset",
    "extraction_status",
    "lang_pass",
    "is_duplicate",
    "json_parse",
    "chain_status",
    "mLLM",
)


@dataclass
class Joins:
    """Problems by kind, with the uuids that have them."""

    whole: bool
    problems: dict[str, list[str]] = field(default_factory=dict)

    def add(self, problem: str, uuids: Iterable[str]) -> None:
        known = self.problems.setdefault(problem, [])
        known.extend(sorted(set(uuids) - set(known)))

    def table(self) -> pl.DataFrame:
        rows = [(uuid, problem) for problem, uuids in self.problems.items() for uuid in uuids]
        return pl.DataFrame(rows, schema={"group": pl.String, "problem": pl.String}, orient="row")

    def sentences(self) -> list[str]:
        sentences = [
            f"{several(len(uuids), 'uuid')} {problem}, such as {uuids[0]}."
            for problem, uuids in self.problems.items()
            if uuids
        ]
        if not self.whole:
            sentences.append(
                "Only a part of the tree was read: metadata and split lists without text were not"
                " looked for."
            )
        return sentences


def with_occurrence(samples: pl.DataFrame, joins: Joins) -> pl.DataFrame:
    """Same rows once; rows that share a uuid but differ are numbered in `occurrence`, from 0."""
    same = samples.filter(pl.struct(pl.all()).is_duplicated())["uuid"]
    joins.add(SAME, same.to_list())
    once = samples.unique(maintain_order=True)
    joins.add(DIFFERENT, once.filter(pl.col("uuid").is_duplicated())["uuid"].to_list())
    return once.with_columns((pl.col("uuid").cum_count().over("uuid") - 1).alias("occurrence"))


def with_metadata(
    samples: pl.DataFrame, metadata: pl.DataFrame | None, joins: Joins
) -> pl.DataFrame:
    """Fill the samples' gaps from their metadata, and put the standard verdict beside their own."""
    if metadata is None:
        joins.add(NO_METADATA, samples["uuid"].to_list())
        return samples.with_columns(pl.lit(None, pl.String).alias("standard_veracity"))
    joins.add(METADATA_TWICE, metadata.filter(pl.col("uuid").is_duplicated())["uuid"].to_list())
    first = metadata.unique("uuid", keep="first", maintain_order=True)
    joins.add(NO_METADATA, set(samples["uuid"].to_list()) - set(first["uuid"].to_list()))
    if joins.whole:
        joins.add(NO_TEXT, set(first["uuid"].to_list()) - set(samples["uuid"].to_list()))
    carried = [c for c in CARRIED if c in first.columns]
    chosen = first.select(
        "uuid", *(pl.col(c).alias(f"{c}|meta") for c in carried), _standard(first)
    )
    joined = samples.join(chosen, on="uuid", how="left", maintain_order="left")
    filled = [
        (
            pl.coalesce(c, f"{c}|meta").alias(c)
            if c in samples.columns
            else pl.col(f"{c}|meta").alias(c)
        )
        for c in carried
    ]
    out = joined.with_columns(filled).drop(f"{c}|meta" for c in carried)
    joins.add(VERDICTS, contradictions(out))
    return out


def _standard(metadata: pl.DataFrame) -> pl.Expr:
    known = "veracity" in metadata.columns
    return (pl.col("veracity") if known else pl.lit(None, pl.String)).alias("standard_veracity")


def contradictions(samples: pl.DataFrame) -> list[str]:
    """uuids whose own verdict is true and the metadata's false, or the other way round."""
    if "veracity" not in samples.columns:
        return []
    rows = samples.select("uuid", "veracity", "standard_veracity").drop_nulls().iter_rows()
    clear = {"true", "false"}
    strict = entry_of("bluff").maps["strict"]
    return [
        uuid
        for uuid, own, standard in rows
        if {mine := strict.verdict(own), theirs := strict.verdict(standard)} <= clear
        and mine != theirs
    ]
