"""Does the topic give the label away?"""

from __future__ import annotations

from claimlab.audit.categories import ColumnCheck

CHECK = ColumnCheck("topic", title="Topic", question="Does the topic give the label away?", column="topic")
