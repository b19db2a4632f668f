"""Whether an extra of claimlab is installed, asked before any work is done."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version

from claimlab.core.errors import MissingExtra

_NEED = re.compile(r"^([\w.-]+).*;.*extra\s*==\s*['\"]([\w-]+)['\"]")


def require_extra(what: str, extra: str) -> None:
    """Raise where a package of the extra is not installed; several extras are separated by
    commas.
    """
    if not all(has_extra(name) for name in extra.split(",")):
        raise MissingExtra(what, extra)


def has_extra(extra: str) -> bool:
    """Whether every package of the extra is installed."""
    return all(_installed(package) for package in packages_of(extra))


def packages_of(extra: str) -> list[str]:
    """The packages that the extra brings; none where claimlab itself is not installed as a
    package.
    """
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
