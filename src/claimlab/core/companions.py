"""Distributions that plug into claimlab and are kept beside it: what a user is told who asks for
something of one that is not installed.

`data/companions.toml` has what each adds to which group of entry points. Nothing here imports or
looks into one.
"""

from __future__ import annotations

from collections.abc import Mapping

from claimlab.core import packaged
from claimlab.core.errors import ClaimlabError
from claimlab.core.types import JsonObject


class NotInstalled(ClaimlabError):
    """A name of a companion that is not installed."""


def companions() -> Mapping[str, JsonObject]:
    """Every companion by the name of its distribution: `install`, and for each group of entry
    points the names that it adds.
    """
    return packaged.toml("claimlab.core", "companions.toml")


def absent(group: str, name: str) -> NotInstalled | None:
    """What to say of a name that no installed package offers, where a companion would."""
    for companion, content in companions().items():
        if name in content.get(group, ()):
            return NotInstalled(
                f"'{name}' is in the package {companion}, which is not installed.",
                f"{content['where']}: {content['install']}",
            )
    return None


def with_companions(groups: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """The groups of the help, verb -> summary, with those of the companions where they belong."""
    whole: dict[str, dict[str, str]] = {}
    for title, group in groups.items():
        whole[title] = dict(group)
        for content in companions().values():
            if content["help"]["after"] == title:
                whole[content["help"]["group"]] = dict(content["claimlab.verbs"])
    return whole


def also_said() -> dict[str, str]:
    """Words that users of other tools type first, and the command of a companion that is meant."""
    return {
        word: verb
        for companion in companions().values()
        for word, verb in companion["also"].items()
    }
