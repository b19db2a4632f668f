"""What a reader needs, under one roof: tables, columns, dates, ids, rows; and for packages outside,
cards and entries.
"""

from __future__ import annotations

from claimlab.catalog.cards import entry_of, lists_of, read_entry
from claimlab.catalog.columns import (
    answers,
    as_text,
    blank_to_null,
    cascades,
    dated,
    distinct,
    host,
    languages,
    moment,
    numbered,
    post_or_id,
    record_rows,
    repeated,
    sent,
    side_rows,
    title_and_body,
    tweet_ids,
    unique_ids,
    utc,
)
from claimlab.catalog.entry import Card, Entry, Loaded, Loader, Sample, Shares
from claimlab.catalog.table import (
    AS_PUBLISHED,
    Table,
    first_matched,
    members,
    present,
    read_objects,
    western_text,
)
from claimlab.core.errors import UnreadableFile
from claimlab.core.labels import LabelMap
from claimlab.core.languages import normalise
from claimlab.core.record import meta_column, meta_json
from claimlab.files.bundle import Bundle
from claimlab.files.tables import frame_of, read_json_as
from claimlab.text.snowflake import tweet_time

__all__ = [
    "AS_PUBLISHED",
    "Bundle",
    "Card",
    "Entry",
    "LabelMap",
    "Loaded",
    "Loader",
    "Sample",
    "Shares",
    "Table",
    "UnreadableFile",
    "answers",
    "as_text",
    "blank_to_null",
    "cascades",
    "dated",
    "distinct",
    "entry_of",
    "first_matched",
    "frame_of",
    "host",
    "languages",
    "lists_of",
    "members",
    "meta_column",
    "meta_json",
    "moment",
    "normalise",
    "numbered",
    "post_or_id",
    "present",
    "read_entry",
    "read_json_as",
    "read_objects",
    "record_rows",
    "repeated",
    "sent",
    "side_rows",
    "title_and_body",
    "tweet_ids",
    "tweet_time",
    "unique_ids",
    "utc",
    "western_text",
]
