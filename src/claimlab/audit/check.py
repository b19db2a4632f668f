"""The contract of a check: its input, its result, and where it is registered.

A check is one file in `audit/checks/` with a module-level CHECK: a dataset in, findings out. One
that lacks its input answers "not measured" with the reason; it never passes for lack of data. The
checks of one column each are rows of `audit/checks/table.py`.

What each protocol is, and what it gets wrong, is in `audit/data/protocols.toml`: the one place for
these words, printed by reports and by the docs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from claimlab.audit.rule import Rule, Settings
from claimlab.audit.subject import Subject
from claimlab.core import packaged
from claimlab.core.finding import Finding
from claimlab.core.registry import Registry
from claimlab.core.types import JsonObject

ProtocolName = Literal["fair", "cdl", "cdl-holdout"]


PROTOCOLS: JsonObject = packaged.toml("claimlab.audit", "protocols.toml")


def caveats(protocol: str, check: str | None = None) -> list[str]:
    """Known flaws of `protocol`, for one check or for all; none for a protocol from a plug-in.

    A caveat names the checks that it touches: all of the protocol's where it names none.
    """
    return [
        caveat["sentence"]
        for caveat in PROTOCOLS.get(protocol, {}).get("caveats", [])
        if check is None or check in caveat.get("checks", [check])
    ]


@dataclass(frozen=True)
class Context:
    """The input of every check: the protocol, the seed, and what the caller passed in."""

    protocol: ProtocolName = "fair"
    seed: int = 0
    settings: Settings = field(default_factory=Settings)
    columns: tuple[str, ...] = ()  # extra columns to test in the same way
    judge: Any = None  # a feasibility judge: see audit/checks/feasibility.py
    debug: bool = False  # let a fault in a check come through as it is


class Check(Protocol):
    name: str
    title: str
    question: str  # in one sentence
    protocols: tuple[ProtocolName, ...]  # those it can follow; the runner answers for the others
    rule: str  # when it fails, warns and passes, in words

    def run(self, subject: Subject, context: Context) -> list[Finding]: ...


CHECKS: Registry[Check] = Registry(
    "check", package="claimlab.audit.checks", attribute="CHECK", group="claimlab.checks"
)


def not_measured(
    check: str, protocol: str, why: str, *, n: int = 0, feature: str | None = None
) -> Finding:
    return Finding(
        check=check, protocol=protocol, verdict="not-measured", why=why, n=n, feature=feature
    )


SHORTCUT_RULE = Rule().words()


class FairCheck:
    """What most checks have in common: they follow the fair protocol, by the rule of shortcuts."""

    name: str
    title: str
    question: str
    protocols: tuple[ProtocolName, ...] = ("fair",)
    rule: str = SHORTCUT_RULE

    def unmeasured(self, why: str, n: int = 0, feature: str | None = None) -> Finding:
        return not_measured(self.name, "fair", why, n=n, feature=feature)
