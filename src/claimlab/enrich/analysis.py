"""What the evidence of a dataset looks like for true and for false records, as figures: patterns,
domains, ratings and dates. The patterns are those of section 4.4 of the paper, made countable. A
piece counts only where it corresponds to the record (claimlab.enrich.correspondence); what a
pattern cannot know, its sentence says.
"""

from __future__ import annotations

from collections import defaultdict

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import SchemaError
from claimlab.core.types import JsonObject
from claimlab.text.guard import is_academic

PATTERNS = {
    "T1": (
        "true: a result that is not a fact-check, a copy or the record's own source is about it and"
        " is not known to refute it (corroboration)"
    ),
    "T2": "true: no fact-check supports it",
    "F1": "false: a fact-check of it refutes it (direct debunk)",
    "F2": (
        "false: a result that is neither a fact-check nor research is about it and is not known to"
        " refute it (repeated elsewhere; whether it is reliable is not known)"
    ),
    "F3": "false: a result on a publisher of research speaks of it",
}
VALUES_LISTED = 20


def analyse(dataset: Dataset) -> JsonObject:
    """Everything the report shows, JSON-safe."""
    table = dataset.tables.get("evidence")
    if table is None or "corresponds" not in table.columns:
        raise SchemaError(
            "This dataset has no evidence from claimlab enrich.", "Run claimlab enrich on it first."
        )
    labels = dataset.records.select(pl.col("id").alias("record_id"), "veracity")
    searched = table.filter(pl.col("guard_factcheck").is_not_null()).join(
        labels, on="record_id", how="inner"
    )
    searched = searched.with_columns(one_spelling(searched["rating"]))
    reviewed = searched.filter(pl.col("guard_factcheck"))
    enrichment = dataset.tables.get("enrichment")
    outcomes = None if enrichment is None else enrichment.join(labels, on="record_id")
    return {
        "outcomes": [] if outcomes is None else per_label(outcomes, "outcome"),
        "patterns": patterns(dataset.records, searched),
        "domains": per_label(searched, "domain"),
        "factcheck_domains": per_label(reviewed, "domain"),
        "ratings": per_label(searched, "rating"),
        "agencies": agencies(reviewed),
        "verdicts": per_label(searched.filter(pl.col("rating").is_not_null()), "verdict"),
        "years": years(searched),
        "factcheck_years": years(reviewed),
        "undated": searched["published"].null_count(),
        "stances": per_label(searched.filter(pl.col("corresponds")), "stance"),
        "stance_not_measured": searched.filter(
            pl.col("corresponds") & pl.col("stance").is_null()
        ).height,
        "evidence": searched.height,
        "marks": {
            m: int(searched[m].sum())
            for m in ("filtered", "guard_factcheck", "guard_own_source", "guard_copy")
        },
    }


def patterns(records: pl.DataFrame, evidence: pl.DataFrame) -> list[JsonObject]:
    """For each pattern: how many records of its class show it, of how many that were searched
    for.
    """
    near = evidence.filter(pl.col("corresponds")).with_columns(
        academic=pl.col("url").map_elements(is_academic, return_dtype=pl.Boolean, skip_nulls=False)
    )

    def those(*conditions: pl.Expr) -> set[str]:
        return set(near.filter(*conditions)["record_id"])

    factcheck, academic = pl.col("guard_factcheck"), pl.col("academic")
    stance, elsewhere = pl.col("stance"), ~pl.col("guard_copy") & ~pl.col("guard_own_source")
    unrefuted = stance.ne_missing("refutes")
    true, false = (set(records.filter(veracity=label)["id"]) for label in ("true", "false"))
    of_pattern = {
        "T1": (true & those(unrefuted, ~factcheck, elsewhere), true),
        "T2": (true - those(stance == "supports"), true),
        "F1": (false & those(factcheck, stance == "refutes"), false),
        "F2": (false & those(unrefuted, ~factcheck, ~academic), false),
        "F3": (false & those(academic), false),
    }
    return [
        {
            "pattern": name,
            "what": PATTERNS[name],
            "records": len(ids),
            "of": len(of),
            "share": len(ids) / len(of) if of else None,
            "examples": sorted(ids)[:10],
        }
        for name, (ids, of) in of_pattern.items()
    ]


def per_label(evidence: pl.DataFrame, column: str) -> list[JsonObject]:
    """The most frequent values of a column, with their rows per verdict of the record; "none" has
    no verdict.
    """
    labelled = evidence.with_columns(pl.col("veracity").fill_null("none"))
    return [
        {column: value, "all": sum(counts.values()), **dict(sorted(counts.items()))}
        for value, counts in _tally(labelled, column, "veracity")
    ]


def _tally(evidence: pl.DataFrame, column: str, by: str) -> list[tuple[str, dict[str, int]]]:
    """How often the most frequent values of a column occur, by another one."""
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for value, other, n in evidence.drop_nulls([column, by]).group_by(column, by).len().rows():
        counts[value][other] = n
    return sorted(counts.items(), key=lambda item: (-sum(item[1].values()), item[0]))[
        :VALUES_LISTED
    ]


def one_spelling(ratings: pl.Series) -> pl.Series:
    """Ratings that differ in case alone as one: the spelling that is most frequent, or else the
    first by alphabet.
    """
    tally = ratings.drop_nulls().value_counts()
    spellings = tally.sort(["count", ratings.name], descending=[True, False])[ratings.name]
    first: dict[str, str] = {}
    for rating in spellings:
        first.setdefault(rating.casefold(), rating)
    return ratings.replace_strict({rating: first[rating.casefold()] for rating in spellings})


def agencies(reviewed: pl.DataFrame) -> list[JsonObject]:
    """For each fact-checker, how many of its pieces have a rating, and how often it gave which."""
    return [
        {
            "domain": domain,
            "all": sum(ratings.values()),
            "ratings": dict(sorted(ratings.items(), key=lambda item: (-item[1], item[0]))),
        }
        for domain, ratings in _tally(reviewed, "domain", "rating")
    ]


def years(evidence: pl.DataFrame) -> list[JsonObject]:
    """Rows per year of publication and verdict of the record; what has no date is not here (see
    `undated`).
    """
    dated = evidence.drop_nulls("published").select(
        pl.col("veracity").fill_null("none"), year=pl.col("published").dt.year()
    )
    return dated.group_by("year", "veracity").len().sort("year", "veracity").to_dicts()
