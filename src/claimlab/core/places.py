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
    return _folder("CACHE", Path("Library") / "Caches", Path(".cache"))


def _folder(kind: str, of_mac: Path, of_others: Path) -> Path:
    """What the environment names, or the folder of the platform, from the user's own."""
    chosen = os.environ.get(f"CLAIMLAB_{kind}")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        return base / "claimlab" / ("state" if kind == "STATE" else "")
    if sys.platform == "darwin":
        return Path.home() / of_mac / "claimlab"
    return Path(os.environ.get(f"XDG_{kind}_HOME") or Path.home() / of_others) / "claimlab"


def state_folder() -> Path:
    """The folder for what must outlive the cache; it may not exist yet."""
    return _folder("STATE", Path("Library") / "Application Support", Path(".local") / "state")


def remote_folder() -> Path:
    """Where the local copies of places in object storage are, see core/remote."""
    return cache_folder().absolute() / "remote"


def named(text: str) -> str:
    """`text` with the URLs of such places instead of their local copies, for people to read."""
    readable = re.sub(re.escape(str(remote_folder())) + r"/([a-z][a-z0-9+-]+)/", r"\1://", text)
    return re.sub(r"(?<![\w/])(s3|s3a|gs|gcs|abfs|abfss|az|memory):/(?=[\w.])", r"\1://", readable)
