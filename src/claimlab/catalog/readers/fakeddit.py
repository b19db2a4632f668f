"""Fakeddit: Reddit posts with images, labelled two, three and six ways by their subreddit."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, dated, lists_of, meta_column, present
from claimlab.core.words import several

COLUMNS = ["id", "title", "author", "created_utc", "subreddit"]
LISTS = lists_of("fakeddit")
META: list[str] = LISTS["meta"]


def posts(bundle: Bundle) -> Loaded:
    """One record per post. Seven titles in the sample hold line breaks, so the files need ordinary
    quoting.
    """
    return read(bundle, quoted=True)


def lines(bundle: Bundle) -> Loaded:
    """One record per physical line, as a reader without quoting sees it: broken titles leave rows
    without a label.
    """
    loaded = read(bundle, quoted=False)
    broken = loaded.records["label_raw"].null_count()
    if broken:
        loaded.notes.append(
            f"{several(broken, 'row')} without a label: pieces of posts whose title holds a line"
            " break."
        )
    return loaded


def read(bundle: Bundle, *, quoted: bool) -> Loaded:
    parts = []
    for split, name in present(bundle, LISTS["files"]).items():
        table = Table.read(bundle, name, delimiter="\t", quoted=quoted)
        parts.append(table.pick([*COLUMNS, *META]).with_columns(split=pl.lit(split)))
    raw = pl.concat(parts).with_row_index("line", 1)
    linked = raw["linked_submission_id"].drop_nulls().unique().implode()
    records = raw.select(
        *["author", "split"],
        id="fakeddit-" + pl.coalesce("id", pl.format("line-{}", "line")),
        text="title",
        label_raw="2_way_label",
        **dated({"created_utc column": raw["created_utc"]}),
        source="subreddit",
        # The file gives the domain that was linked to, not the whole address.
        url=pl.when(pl.col("domain").str.contains(r"^[\w.-]+\.\w+$")).then(
            "https://" + pl.col("domain")
        ),
        # A Photoshop battle and the edited images posted under it show one motif: they must stay
        # together.
        group=pl.coalesce("linked_submission_id", pl.when(pl.col("id").is_in(linked)).then("id")),
        meta=meta_column(raw, META),
    )
    return Loaded(records)
