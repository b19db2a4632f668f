"""Which words are addresses of data."""

from __future__ import annotations

import re

SCHEMES = ("https", "http", "github", "gitlab", "hf", "zenodo", "figshare", "dataverse", "doi")
ADDRESS = re.compile(r"^(" + "|".join(SCHEMES) + r"):(.+)$", re.DOTALL)


def is_address(value: object) -> bool:
    """Whether `value` is the address of data, such as hf:OWNER/NAME."""
    match = ADDRESS.match(value) if isinstance(value, str) else None
    return match is not None and (match[1] not in ("http", "https") or match[2].startswith("//"))
