"""How calls are made: past the recording, through it, or from it alone."""

from __future__ import annotations

from typing import Literal, get_args

from claimlab.core.errors import UsageError

Mode = Literal["live", "record", "replay"]
MODES: tuple[Mode, ...] = get_args(Mode)


def check_mode(mode: str) -> Mode:
    """`mode`, if it is one."""
    for known in MODES:
        if mode == known:
            return known
    raise UsageError(f"'{mode}' is not a valid mode for calls.", f"Use one of: {', '.join(MODES)}.")
