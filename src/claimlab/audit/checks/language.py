"""Does the language give the label away?"""

from __future__ import annotations

from claimlab.audit.categories import ColumnCheck

CHECK = ColumnCheck("language", title="Language", question="Does the language give the label away?", column="language")
