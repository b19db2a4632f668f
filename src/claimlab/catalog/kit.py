"""What a file in `catalog/datasets/` needs, under one roof: cards, entries, tables, columns, dates,
ids, rows.
"""

from __future__ import annotations

from claimlab.catalog.card import Address, Card, Published, Quality, Shares
from claimlab.catalog.columns import blank_to_null, host, languages, post_or_id, title_and_body
from claimlab.catalog.entry import Entry, Loaded, Loader, Sample, both, noted
from claimlab.catalog.ids import distinct, numbered, repeated, unique_ids
from claimlab.catalog.one_table import one_table
from claimlab.catalog.ratings import rating_verdicts
from claimlab.catalog.rows import answers, record_rows, side_rows
from claimlab.catalog.table import AS_PUBLISHED, Table, members, read_objects, western_text
from claimlab.catalog.times import dated, moment, utc
from claimlab.catalog.tweets import sent, tweet_ids
from claimlab.core.errors import UnreadableFile
from claimlab.core.labels import LabelMap, general
from claimlab.core.languages import normalise
from claimlab.core.record import meta_column, meta_json
from claimlab.files.bundle import Bundle
from claimlab.files.encoding import decode
from claimlab.files.safety import UNPACKED as MAX_UNPACKED
from claimlab.files.tables import frame_of, read_delimited, read_json_as
from claimlab.text.snowflake import tweet_time

__all__ = [
    "AS_PUBLISHED",
    "MAX_UNPACKED",
    "Address",
    "Bundle",
    "Card",
    "Entry",
    "LabelMap",
    "Loaded",
    "Loader",
    "Published",
    "Quality",
    "Sample",
    "Shares",
    "Table",
    "UnreadableFile",
    "answers",
    "blank_to_null",
    "both",
    "dated",
    "decode",
    "distinct",
    "frame_of",
    "general",
    "host",
    "languages",
    "members",
    "meta_column",
    "meta_json",
    "moment",
    "normalise",
    "noted",
    "numbered",
    "one_table",
    "post_or_id",
    "rating_verdicts",
    "read_delimited",
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
