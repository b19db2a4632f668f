"""Whether an extra of claimlab is installed, asked before any work is done."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version

from claimlab.core.errors import MissingExtra

_NEED = re.compile(r"^([\w.-]+).*;.*extra\s*==\s*['\"]([\w-]+)['\"]")


def require_extra(what: str, extra: str) -> None:
    """Raise where a package of the extra is not installed; several extras are separated by commas."""
    if any(not _installed(package) for one in extra.split(",") for package in packages_of(one)):
        raise MissingExtra(what, extra)


def packages_of(extra: str) -> list[str]:
    """The packages that the extra brings; none where claimlab itself is not installed as a package."""
    try:
        needs = requires("claimlab") or []
    except PackageNotFoundError:
        return []
    matches = [match for need in needs if (match := _NEED.match(need))]
    return [match[1] for match in matches if match[2] == extra and match[1] != "claimlab"]


def _installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True
