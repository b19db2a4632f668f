"""The first tables: those of `store`, as long as there is one revision. The change that brings a
second one writes down here what they were.
"""

from __future__ import annotations

from alembic import op

from claimlab.review.store import metadata

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    metadata.create_all(op.get_bind(), checkfirst=False)
