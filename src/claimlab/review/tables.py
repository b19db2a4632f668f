"""The tables of a review's store. `migrations/` makes them; a test keeps the two the same."""

from __future__ import annotations

import json
from typing import Any

from claimlab.core.errors import MissingExtra

try:
    import sqlalchemy as sa
except ImportError:
    raise MissingExtra("A review", "web") from None

__all__ = ["Json", "assignment", "decision", "event", "item", "metadata", "person", "sa"]


class Json(sa.types.TypeDecorator[Any]):
    """Any JSON value as ASCII text: PostgreSQL takes no NUL in a text, and dataset text may hold
    one.
    """

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:  # noqa: ARG002
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Any) -> Any:  # noqa: ARG002
        return None if value is None else json.loads(value)


metadata = sa.MetaData()

person = sa.Table(
    "person",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(100), nullable=False, unique=True),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("token_hash", sa.String(64), unique=True),
    sa.Column("created", sa.DateTime, nullable=False),
)
item = sa.Table(
    "item",
    metadata,
    sa.Column("id", sa.String(20), primary_key=True),
    sa.Column("position", sa.Float, nullable=False),
    sa.Column("record_id", Json),
    sa.Column("other_id", Json),
    sa.Column("payload", Json, nullable=False),
    sa.Column("gold", Json),
    sa.Column("attention", sa.Boolean, nullable=False),
    sa.Column("uncertainty", sa.Float),
    sa.Column("batch", sa.Integer),
    sa.Column("revealed", sa.DateTime),  # when its votes were shown to those who gave them
)
assignment = sa.Table(
    "assignment",
    metadata,
    sa.Column("item", sa.ForeignKey("item.id"), primary_key=True),
    sa.Column("person", sa.ForeignKey("person.id"), primary_key=True),
    sa.Column("position", sa.Float, nullable=False),
    sa.Column("status", sa.String(10), nullable=False),
    sa.Column("shown", sa.DateTime),  # what was shown stays with its person
    sa.Column(
        "moved", sa.DateTime
    ),  # when the status changed: what was skipped first comes back first
    sa.Index("assignment_queue", "person", "status", "position"),
)
decision = sa.Table(
    "decision",
    metadata,
    sa.Column("key", sa.String(36), primary_key=True),
    sa.Column("item", sa.ForeignKey("item.id"), nullable=False),
    sa.Column("person", sa.ForeignKey("person.id"), nullable=False),
    sa.Column("round", sa.String(10), nullable=False),
    sa.Column("value", Json, nullable=False),
    sa.Column("comment", Json),
    sa.Column("seconds", sa.Float),
    sa.Column("at", sa.DateTime, nullable=False),
    sa.Column("superseded", sa.Boolean, nullable=False),
    sa.Index("decision_item", "item"),
    sa.Index("decision_person", "person"),
)
# A person has one valid decision on an item in a round, whatever happens at the same time.
sa.Index(
    "decision_valid",
    decision.c.item,
    decision.c.person,
    decision.c.round,
    unique=True,
    sqlite_where=decision.c.superseded == sa.false(),
    postgresql_where=decision.c.superseded == sa.false(),
)
event = sa.Table(
    "event",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("at", sa.DateTime, nullable=False),
    sa.Column("person", sa.ForeignKey("person.id")),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("item", sa.ForeignKey("item.id")),
    sa.Column("detail", Json, nullable=False),
    sa.Index("event_person", "person", "id"),
    sa.Index("event_item", "item", "id"),
)
