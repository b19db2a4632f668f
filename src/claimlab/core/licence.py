"""The SPDX identifier of a licence that is stated in words."""

from __future__ import annotations

import re

_SPDX = {
    "mit": "MIT",
    "apache 2.0": "Apache-2.0",
    "cc0": "CC0-1.0",
    "cc0 1.0": "CC0-1.0",
    "cdla permissive 2.0": "CDLA-Permissive-2.0",
    "odc by 1.0": "ODC-By-1.0",
    "gpl 3.0": "GPL-3.0",
}


def spdx(licence: str | None) -> str | None:
    """The SPDX identifier of a licence text; null for terms that no identifier covers whole
    ("research only").
    """
    if licence is None:
        return None
    words = " ".join(licence.lower().replace("-", " ").split())
    if words in _SPDX:
        return _SPDX[words]
    match = re.fullmatch(r"cc by((?: (?:nc|nd|sa))*) (\d\.\d)", words)
    return f"CC-BY{match[1].replace(' ', '-').upper()}-{match[2]}" if match else None
