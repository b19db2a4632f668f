"""ClaimsKG: claims and ratings crawled from fact-checking sites, and claims drawn from it by
topic.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog import kit
from claimlab.core.words import several

LISTS = kit.lists_of("claimskg")
TOPICS: list[str] = LISTS["topics"]
COLUMNS: list[str] = [*LISTS["columns"], *TOPICS]


def load(bundle: kit.Bundle, *, unrated: bool) -> kit.Loaded:
    """Every table that has the telling column of one of `readers`, read by it."""
    readers = {"rating_alternatename": _crawled, "ratingname": _explored}
    if unrated:
        readers["review_url"] = _by_topic
    parts = []
    for name in bundle.match("*.csv"):
        raw = kit.Table.read(bundle, name)
        reader = next((r for column, r in readers.items() if raw.find(column)), None)
        if reader is not None:
            parts.append(reader(raw))
    if not parts:
        raise kit.UnreadableFile(
            f"'{bundle.path.name}' holds no table with a column {' or '.join(readers)}.",
            "Give the crawler's CSV files, or the CSV that the ClaimsKG explorer exports.",
        )
    every = pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.String))
    rows = pl.concat([every, *parts], how="diagonal").select(COLUMNS)
    times = kit.dated({"": rows["date"]}) | {"date_source": rows["date_source"]}
    rows = rows.with_columns(
        kit.numbered("claimskg", rows.height), *(v.alias(c) for c, v in times.items())
    )
    records = rows.select(
        "id", *COLUMNS[:10], "date_raw", group="review_url", kind=pl.lit("claim")
    ).with_columns(date_source=pl.when(pl.col("date").is_not_null()).then("date_source"))
    tables = {"evidence": _evidence(rows), "annotations": _annotations(rows)}
    blank = records["text"].null_count()
    note = (
        f"{several(blank, 'row')} without a claim, only with the headline of the fact-check (see"
        " the table 'evidence')."
    )
    return kit.Loaded(
        records, {n: t for n, t in tables.items() if t.height}, [note] if blank else []
    )


def _crawled(raw: kit.Table) -> pl.DataFrame:
    """What ClaimsKG's crawler writes per site. The claim of a row may be blank: the headline of the
    check is not used for it, since it states the verdict."""
    rows = raw.pick(LISTS["crawled"]["needed"], LISTS["crawled"]["optional"])
    rows = rows.with_columns(pl.col("site").str.to_lowercase())
    wrapped = pl.col("text", "claimant", "review_title", "review_text", "tags")
    unwrapped = wrapped.str.replace(r'(?s)^"\s*(.*?)\s*"$', "${1}").replace("", None)
    rows = rows.with_columns(
        pl.when(pl.col("site").is_in(LISTS["wrapped"])).then(unwrapped).otherwise(wrapped)
    )
    spoken = [_language(s, u) for s, u in rows.select("site", "review_url").iter_rows()]
    by_claim = pl.when(pl.col("claimed").is_not_null())
    return rows.with_columns(
        language=kit.as_text(spoken),
        date=by_claim.then("claimed").otherwise("review_date"),
        date_source=by_claim.then(pl.lit("date column (claim)")).otherwise(
            pl.lit("date column (review)")
        ),
        author=pl.when(pl.col("site").is_in(LISTS["claimant"])).then("claimant"),
        source="site",
        # the lists of one site are Python's: ['a', 'b']
        topic=pl.col("tags").str.replace_all(r"^\[|\]$", "").str.replace_all(r"'([^']*)'", "${1}"),
        meta=kit.meta_column(rows, ["rating_value", "rating_best", "rating_worst"]),
    )


def _explored(raw: kit.Table) -> pl.DataFrame:
    """What the ClaimsKG explorer exports; its ratings are ClaimsKG's own four."""
    rows = raw.pick(LISTS["explored"]["needed"], LISTS["explored"]["optional"])
    return rows.with_columns(
        kit.languages(rows["spoken"]), date_source=pl.lit("date column (claim)")
    )


def _by_topic(raw: kit.Table) -> pl.DataFrame:
    """Claims that a query drew from ClaimsKG for a topic (the file's name), and those whose topics
    people agreed on.
    """
    optional = LISTS["by_topic"]["optional"] | {topic: topic for topic in TOPICS}
    rows = raw.pick(LISTS["by_topic"]["needed"], optional)
    drawn = PurePosixPath(raw.name).stem.lower().removeprefix("extracted_")
    agreed = pl.concat_str(
        [pl.when(pl.col(t) == "1").then(pl.lit(t)) for t in TOPICS],
        separator="; ",
        ignore_nulls=True,
    )
    return rows.with_columns(
        topic=pl.lit(drawn) if drawn in TOPICS else agreed,
        source=pl.col("review_url").str.extract(r"^https?://(?:www\.)?([^./]+)"),
        language=pl.lit("eng"),  # the query kept English claims only
        date_source=pl.lit("date column (claim)"),
        meta=kit.meta_column(rows, ["keywords"]),
    )


def _language(site: str | None, url: str | None) -> str | None:
    """From the site, or the address where a site writes in many; null where neither says it (Africa
    Check).
    """
    if site in LISTS["english"]:
        return "eng"
    if site == "fatabyyano":
        return "ara"
    if site in ("vishvanews", "vishvasnews"):
        parts = (url or "").split("/")
        first = parts[3] if len(parts) > 3 else ""
        return kit.normalise({"bangla": "bengali"}.get(first, first))
    return "fra" if site == "factuel_afp_fr" else None


def _evidence(rows: pl.DataFrame) -> pl.DataFrame:
    """The fact-check of each claim: headline and, where crawled, its text."""
    reviewed = rows.drop_nulls("review_url")
    return reviewed.select(
        record_id="id",
        evidence_id=pl.col("id") + "-review",
        rank=pl.lit(1),
        title="review_title",
        text="review_text",
        url="review_url",
        domain=kit.host(pl.col("review_url")),
        published=kit.utc(reviewed["review_date"]),
        publisher="source",
        rating="label_raw",
    )


def _annotations(rows: pl.DataFrame) -> pl.DataFrame:
    """The topics that five people agreed on, a row per claim and topic."""
    judged = rows.filter(pl.any_horizontal(pl.col(TOPICS).is_in(["0", "1"])))
    return kit.answers(
        judged, {t: f"topic: {t}" for t in TOPICS}, annotator="five annotators, reconciled"
    )
