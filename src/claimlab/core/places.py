"""Where claimlab keeps what it downloads (CLAIMLAB_CACHE, or the platform's cache folder) and what
this user decided (CLAIMLAB_STATE, or the platform's folder for that): the one can be deleted at any
time, the other cannot.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path


def cache_folder() -> Path:
    """The folder; it may not exist yet."""
    chosen = os.environ.get("CLAIMLAB_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "claimlab"


def state_folder() -> Path:
    """The folder for what must outlive the cache; it may not exist yet."""
    chosen = os.environ.get("CLAIMLAB_STATE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
            / "claimlab"
            / "state"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "claimlab"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "claimlab"


def remote_folder() -> Path:
    """Where the local copies of places in object storage are, see core/remote."""
    return cache_folder().absolute() / "remote"


def named(text: str) -> str:
    """`text` with the URLs of such places instead of their local copies, for people to read."""
    shown = re.sub(re.escape(str(remote_folder())) + r"/([a-z][a-z0-9+-]+)/", r"\1://", text)
    return re.sub(r"(?<![\w/])(s3|s3a|gs|gcs|abfs|abfss|az|memory):/(?=[\w.])", r"\1://", shown)
