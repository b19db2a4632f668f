"""Text cut where a reader would cut it: between characters as they are seen (a letter with its
vowel signs, an emoji of several parts), and where a line may end in scripts without spaces.
"""

from __future__ import annotations


def graphemes(text: str) -> list[str]:
    """The characters of `text` as a reader sees them; together they are the text."""
    if text.isascii():
        return list(text)
    from icu4py.breakers import CharacterBreaker

    return [*CharacterBreaker(text, "en")]


def beginning(text: str, size: int) -> str:
    """At most `size` code points from the start of `text`, cut between two characters."""
    if len(text) <= size or text.isascii():
        return text[:size]
    taken = ""
    for character in graphemes(text[: size + 64]):  # a character has few parts
        if len(taken) + len(character) > size:
            break
        taken += character
    return taken


def line_parts(text: str) -> list[str]:
    """The parts of `text` between which a line may end; names and options keep their hyphens."""
    from icu4py.breakers import LineBreaker

    parts: list[str] = []
    for part in LineBreaker(text, "en"):
        if parts and parts[-1].endswith(("-", "/")):
            parts[-1] += part
        else:
            parts.append(part)
    return parts
