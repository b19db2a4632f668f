"""Does the event, pair or cluster give the label away?"""

from __future__ import annotations

from claimlab.audit.categories import ColumnCheck

CHECK = ColumnCheck(
    "event", title="Event or group", question="Does the event, pair or cluster give the label away?", column="group"
)
