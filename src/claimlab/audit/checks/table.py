"""The checks of one record column each: does knowing only its value give the label away?"""

from __future__ import annotations

from claimlab.audit.categories import ColumnCheck

ENTRIES = [
    ColumnCheck("author", "Author", "Does the author give the label away?", column="author"),
    ColumnCheck(
        "event",
        "Event or group",
        "Does the event, pair or cluster give the label away?",
        column="group",
    ),
    ColumnCheck(
        "language", "Language", "Does the language give the label away?", column="language"
    ),
    ColumnCheck("source", "Source", "Does the publisher give the label away?", column="source"),
    ColumnCheck("topic", "Topic", "Does the topic give the label away?", column="topic"),
]
