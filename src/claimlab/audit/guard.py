"""When an audit is good enough for a benchmark's own repository: every check has a verdict, and
none fails.

def test_the_data_is_fair(assert_audit):  # a fixture of claimlab's pytest plug-in
    assert_audit("data", allow=["length=fail", "time=not-measured"])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from claimlab.audit.advice import name_of, reason
from claimlab.audit.check import CHECKS
from claimlab.audit.result import Audit
from claimlab.audit.run import Audited, audit
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.finding import Finding, Verdict
from claimlab.core.run import Source

REFUSED: tuple[Verdict, ...] = tuple(v for v in get_args(Verdict) if v not in ("warn", "pass"))


@dataclass(frozen=True)
class Strict:
    """What speaks against audits: results that are not accepted, and exceptions that are not
    needed.
    """

    refused: list[Finding]
    idle: list[str]

    @property
    def options(self) -> list[str]:
        """The exceptions that would accept what is refused."""
        return list(dict.fromkeys(f"{finding.check}={finding.verdict}" for finding in self.refused))

    def lines(self, *, brief: bool = False) -> list[str]:
        """A line for each, with the reason; `brief` is for a fail whose sentence can be read
        elsewhere.
        """
        return [
            *(f"{name_of(f)}: {_reason(f, brief)}" for f in self.refused),
            *(
                f"'{name}' is allowed, but does not occur: take it out of `allow`."
                for name in self.idle
            ),
        ]


def strict(audits: Sequence[Audit], allow: Sequence[str] = ()) -> Strict:
    """Strict means: every check has a verdict, and none fails. `allow` accepts results by name:
    "time=not-measured", "length=fail", or "length" for whatever it comes to."""
    accepted = {name: _accepted(name) for name in allow}
    every = [
        f
        for one in audits
        for finding in one.findings
        for f in finding.every
        if f.verdict in REFUSED
    ]
    results = {(f.check, f.verdict) for f in every}
    pairs = set().union(*accepted.values()) if accepted else set()
    return Strict(
        [f for f in every if (f.check, f.verdict) not in pairs],
        [name for name, mine in accepted.items() if not mine & results],
    )


def _reason(finding: Finding, brief: bool) -> str:
    if brief and finding.verdict == "fail":
        return f"fail ({reason(finding)})."
    return f"{finding.verdict.replace('-', ' ')}. {finding.why}"


def _accepted(name: str) -> set[tuple[str, Verdict]]:
    """The checks and verdicts that an exception names."""
    check, _, verdict = name.partition("=")
    known = CHECKS.get(check).name
    if verdict and verdict not in REFUSED:
        raise UsageError(
            f"'{verdict}' needs no exception.", f"Use CHECK or CHECK={'|'.join(REFUSED)}."
        )
    return {(known, v) for v in REFUSED if verdict in ("", v)}


def assert_audit(
    data: Source,
    *,
    allow: Sequence[str] = (),
    checks: Sequence[str] | None = None,
    target: str | None = None,
    columns: Sequence[str] = (),
    seed: int = 0,
    limit: int | None = None,
) -> Audited:
    """Audit `data`, and fail unless every check has a verdict and none fails, but for what is in
    `allow`.

    What is allowed must occur: an exception that is no longer needed fails, too, so that the list
    does not outlive the problem. `allow` is that of `strict`; the other arguments are those of
    `audit`.
    """
    __tracebackhide__ = True  # pytest shows the line of the test, not ours
    try:
        result = audit(
            Dataset.of(data, limit), checks=checks, target=target, columns=columns, seed=seed
        )
        against = strict([result], allow)
    except ClaimlabError as error:
        raise AssertionError(str(error)) from None
    if against.lines():
        accept = f"\nTo accept these: allow={[*allow, *against.options]}" if against.refused else ""
        raise AssertionError(
            f"The audit of '{result.dataset}' fails:\n" + "\n".join(against.lines()) + accept
        )
    return result
