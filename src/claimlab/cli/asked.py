"""What can be asked of any command, wherever the word is typed: results only (-q), the result as
JSON, the page in the browser, or what the run would cost.
"""

from __future__ import annotations

from collections.abc import Sequence

JSON, OPEN, ESTIMATE = "--json", "--open", "--estimate"
GENERAL = {  # with what it gives
    OPEN: "to open the page in the browser",
    ESTIMATE: "for what the run would cost, without running it",
    JSON: "for one JSON object on stdout",
}
_quiet = False
_words: frozenset[str] = frozenset()


def be_quiet(quiet: bool) -> None:
    """Print results and errors only: no progress, notes or hints."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    return _quiet


def without_general(words: Sequence[str]) -> list[str]:
    """The words that are the command's own; the general ones are kept in mind."""
    global _words
    _words = frozenset(GENERAL) & frozenset(words)
    return [word for word in words if word not in GENERAL]


def is_asked(word: str) -> bool:
    return word in _words


def wants_json() -> bool:
    """Whether the result is to be printed as JSON."""
    return is_asked(JSON)
