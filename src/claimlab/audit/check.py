"""The contract of a check: its input, its result, and where it is registered.

A check is one file in `audit/checks/` with a module-level CHECK: a dataset in, findings out. One
that lacks its input answers "not measured" with the reason; it never passes for lack of data. The
checks of one column each are rows of `audit/checks/table.py`.

What each protocol is, and what it gets wrong: the one place for these words, printed by reports
and by the docs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from claimlab.audit.rule import Settings
from claimlab.audit.subject import Subject
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
    name: str
    summary: str
    caveats: tuple[Caveat, ...] = ()


ONE_SPLIT = Caveat("One split decides (75/25, seed 42): there is no interval and no repetition.")
COPIES = Caveat(
    "Rows are split at random, so repeated claims are on both sides and the score measures copies."
)
NO_THRESHOLD = Caveat(
    "No threshold was ever written down; ours, for display, flags a macro-F1 of 0.60 or more, since"
    " the published flagged sets start at 60.9."
)
PROTOCOLS = {
    "fair": Described(
        "fair",
        "Rows that belong together stay together; a small model sees one feature, cross-validated"
        " three times; its score is the mean over the three of the macro-F1 of all out-of-fold"
        " answers. It is compared with the majority class, a random guess by label proportions and"
        " the same procedure on permuted labels: 20 permutations where the decision is clear, 200"
        " where it is close, within groups and between groups of like size. The 95% interval"
        " resamples whole groups.",
        (
            Caveat(
                "It shows what a feature gives away on this data, not what a given model has in"
                " fact learned."
            ),
            Caveat(
                "A tree of twenty leaves can miss a shortcut that only a larger model would find."
            ),
        ),
    ),
    "cdl": Described(
        "cdl",
        "The keyword and time checks as the scripts behind the published guide run them, so that"
        " its numbers can be checked. Not a protocol to judge a dataset by.",
        (
            ONE_SPLIT,
            COPIES,
            Caveat(
                "The words are counted over all rows, test rows and rows with unknown labels"
                " included.",
                ("keywords",),
            ),
            Caveat(
                "There are no class weights and few leaves: on unbalanced data the forest often"
                " answers the majority class, and a pass only says that it learned nothing.",
                ("keywords",),
            ),
            Caveat(
                "The model is fitted on all rows and scored on a quarter of the same rows: with"
                " many distinct dates it scores about 81 on shuffled labels.",
                ("time",),
            ),
            NO_THRESHOLD,
        ),
    ),
    "cdl-holdout": Described(
        "cdl-holdout",
        "The time check of `cdl` with the forest fitted on the training rows only: some published"
        " rows were made that way. Not a protocol to judge a dataset by.",
        (ONE_SPLIT, COPIES, NO_THRESHOLD),
    ),
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
