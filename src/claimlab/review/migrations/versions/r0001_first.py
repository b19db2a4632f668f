"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "person",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(100), nullable=False, unique=True),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("token_hash", sa.String(64), unique=True),
        sa.Column("created", sa.DateTime, nullable=False),
    )
    op.create_table(
        "item",
        sa.Column("id", sa.String(20), primary_key=True),
        sa.Column("position", sa.Float, nullable=False),
        sa.Column("record_id", sa.Text),
        sa.Column("other_id", sa.Text),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("gold", sa.Text),
        sa.Column("attention", sa.Boolean, nullable=False),
        sa.Column("uncertainty", sa.Float),
        sa.Column("batch", sa.Integer),
        sa.Column("revealed", sa.DateTime),
    )
    op.create_table(
        "assignment",
        sa.Column("item", sa.String(20), sa.ForeignKey("item.id"), primary_key=True),
        sa.Column("person", sa.Integer, sa.ForeignKey("person.id"), primary_key=True),
        sa.Column("position", sa.Float, nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("shown", sa.DateTime),
        sa.Column("moved", sa.DateTime),
    )
    op.create_index("assignment_queue", "assignment", ["person", "status", "position"])
    _create_history()


def _create_history() -> None:
    op.create_table(
        "decision",
        sa.Column("key", sa.String(36), primary_key=True),
        sa.Column("item", sa.String(20), sa.ForeignKey("item.id"), nullable=False),
        sa.Column("person", sa.Integer, sa.ForeignKey("person.id"), nullable=False),
        sa.Column("round", sa.String(10), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("comment", sa.Text),
        sa.Column("seconds", sa.Float),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("superseded", sa.Boolean, nullable=False),
    )
    op.create_index("decision_item", "decision", ["item"])
    op.create_index("decision_person", "decision", ["person"])
    valid = sa.text("superseded = false")
    op.create_index(
        "decision_valid",
        "decision",
        ["item", "person", "round"],
        unique=True,
        sqlite_where=sa.text("superseded = 0"),
        postgresql_where=valid,
    )
    op.create_table(
        "event",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("person", sa.Integer, sa.ForeignKey("person.id")),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("item", sa.String(20), sa.ForeignKey("item.id")),
        sa.Column("detail", sa.Text, nullable=False),
    )
    op.create_index("event_person", "event", ["person", "id"])
    op.create_index("event_item", "event", ["item", "id"])
