"""Does the author give the label away?"""

from __future__ import annotations

from claimlab.audit.categories import ColumnCheck

CHECK = ColumnCheck("author", title="Author", question="Does the author give the label away?", column="author")
