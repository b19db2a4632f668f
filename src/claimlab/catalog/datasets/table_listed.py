"""The datasets that have a card and no loader: pure data (catalog/data/listed.toml)."""

from __future__ import annotations

from claimlab.catalog.card import table
from claimlab.catalog.kit import Card, Entry

_CARDS = {name: dict(fields) for name, fields in table("listed").items()}
ENTRIES = {
    n: Entry(no_loader=fields.pop("no_loader"), card=Card(name=n, **fields))
    for n, fields in _CARDS.items()
}
