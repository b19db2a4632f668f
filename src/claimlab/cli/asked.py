"""What can be asked of every command: results only (-q), and the result as JSON (--json)."""

from __future__ import annotations

_quiet = False
_json = False


def be_quiet(quiet: bool) -> None:
    """Print results and errors only: no progress, notes or hints."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    return _quiet


def be_json(wanted: bool) -> None:
    """Print the result as one JSON object."""
    global _json
    _json = wanted


def wants_json() -> bool:
    """Whether the result is to be printed as JSON."""
    return _json
