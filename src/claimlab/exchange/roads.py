"""The table of docs/export.md: by which call an export comes back, and what is lost on the way."""

from __future__ import annotations

from collections.abc import Mapping

from claimlab.exchange.format import FORMATS


def table() -> str:
    """A row for every road back that a built-in format declares."""
    rows = [
        f"| `{name}` | `{road.by}` | {_lost(road.loses)} |"
        for name, form in FORMATS.all().items()
        for road in form.back
    ]
    return "\n".join(["| format | back by | lost |", "| --- | --- | --- |", *rows])


def _lost(parts: Mapping[str, str]) -> str:
    return (
        ", ".join(f"{part} ({which})" if which else part for part, which in parts.items())
        or "nothing"
    )
