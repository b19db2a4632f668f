"""Does the publisher give the label away?"""

from __future__ import annotations

from claimlab.audit.categories import ColumnCheck

CHECK = ColumnCheck("source", title="Source", question="Does the publisher give the label away?", column="source")
