"""Which file of a zip or folder is meant: the one that is named, the only one, or one of the usual
names.
"""

from __future__ import annotations

from claimlab.core.errors import UsageError
from claimlab.files.bundle import Bundle


def chosen_member(bundle: Bundle, member: str | None, usual: tuple[str, ...] = ()) -> str:
    """The name of the file; of several that could be meant none is guessed."""
    if member is not None:
        return bundle.one(member)
    names = bundle.names()
    candidates = names if len(names) == 1 else bundle.match(*usual) if usual else []
    if len(candidates) == 1:
        return candidates[0]
    raise UsageError(
        f"'{bundle.path.name}' holds {len(names)} files, and {len(candidates) or 'none'} of them"
        " may be meant.",
        f"Name the one with member=..., such as {names[0]!r}." if names else "Give a file.",
    )
