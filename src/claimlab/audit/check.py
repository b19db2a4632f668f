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

from claimlab.audit.rule import Settings
from claimlab.audit.subject import Subject
from claimlab.core import packaged
from claimlab.core.finding import Finding
from claimlab.core.registry import Registry

ProtocolName = Literal["fair", "cdl", "cdl-holdout"]


@dataclass(frozen=True)
class Caveat:
    """A sentence about a protocol; `checks` names the checks it touches (all of the protocol's when
    empty).
    """

    sentence: str
    checks: tuple[str, ...] = ()

    def touches(self, check: str) -> bool:
        return not self.checks or check in self.checks


@dataclass(frozen=True)
class Described:
    summary: str
    caveats: tuple[Caveat, ...] = ()


PROTOCOLS = {
    name: Described(
        row["summary"],
        tuple(Caveat(one["sentence"], tuple(one.get("checks", ()))) for one in row["caveats"]),
    )
    for name, row in packaged.toml("claimlab.audit", "protocols.toml").items()
}


def caveats(protocol: str, check: str | None = None) -> list[str]:
    """Known flaws of `protocol`, for one check or for all; none for a protocol from a plug-in."""
    known = PROTOCOLS.get(protocol)
    return [c.sentence for c in known.caveats if check is None or c.touches(check)] if known else []


__all__ = ["CHECKS", "Check", "Context", "ProtocolName", "not_measured"]


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
