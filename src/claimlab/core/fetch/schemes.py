"""Which words are addresses of data."""

from __future__ import annotations

import re
from pathlib import Path

SCHEMES = ("https", "http", "github", "gitlab", "hf", "zenodo", "figshare", "dataverse", "doi")
ADDRESS = re.compile(r"^(" + "|".join(SCHEMES) + r"):(.+)$", re.DOTALL)
HOSTS = {
    "github": "https://github.com",
    "gitlab": "https://gitlab.com",
    "hf": "https://huggingface.co",
    "zenodo": "https://zenodo.org",
    "figshare": "https://figshare.com",
    "dataverse": "https://dataverse.harvard.edu",
    "doi": "https://doi.org",
}


def is_address(value: object) -> bool:
    """Whether `value` is the address of data, such as hf:OWNER/NAME."""
    match = ADDRESS.match(value) if isinstance(value, str) else None
    return match is not None and (match[1] not in ("http", "https") or match[2].startswith("//"))


def as_address(path: Path) -> str | None:
    """The address of data that was taken for a path, which has one slash where https:// has two."""
    words = re.sub(r"^(https?):/(?!/)", r"\1://", path.as_posix())
    return words if is_address(words) else None


def source_host(address: str) -> str:
    """The host that an address of data leads to, without the name and password before it."""
    scheme, _, rest = address.partition(":")
    host = re.split(r"[/?#\s]", rest[2:].lstrip(), maxsplit=1)[0].rpartition("@")[2]
    return HOSTS.get(scheme, f"{scheme}://{host}")
