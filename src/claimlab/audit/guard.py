"""When an audit is good enough for a benchmark's own repository: every check has a verdict, and
none fails.

def test_the_data_is_fair(assert_audit):  # a fixture of claimlab's pytest plug-in
    assert_audit("data", allow=["length=fail", "paraphrases=not-measured"])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from claimlab.audit.advice import name_of, reason
from claimlab.audit.check import CHECKS
from claimlab.audit.gate import accepting, is_within
from claimlab.audit.result import Audit
from claimlab.audit.run import Audited, audit
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.finding import Finding, Verdict
from claimlab.core.run import Source

# A check of a column that is not there has nothing to test, and is no objection.
ABSENT: Verdict = "not-applicable"
ACCEPTED: tuple[Verdict, ...] = ("warn", "pass", ABSENT)
REFUSED: tuple[Verdict, ...] = tuple(v for v in get_args(Verdict) if v not in ACCEPTED)


@dataclass(frozen=True)
class Objections:
    """What speaks against audits: results that are not accepted, and exceptions that are not
    needed.
    """

    refused: list[Finding]
    idle: list[str]

    @property
    def options(self) -> list[str]:
        """The exceptions that would accept what is refused."""
        return list(dict.fromkeys(f"{f.check}={accepting(f)}" for f in self.refused))

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


def strict(audits: Sequence[Audit], allow: Sequence[str] = ()) -> Objections:
    """Strict means: every check has a verdict, and none fails. `allow` accepts results by name:
    "paraphrases=not-measured", "near-duplicates=2.5" for a fail up to that amount (a share or
    macro-F1, in percent), or "length" for whatever it comes to."""
    exceptions = [_exception(name) for name in allow]
    every = [
        f
        for audit in audits
        for finding in audit.findings
        for f in finding.every
        if f.verdict in (*REFUSED, ABSENT)
    ]
    against = [f for f in every if f.verdict in REFUSED]
    return Objections(
        [f for f in against if not any(exception.accepts(f) for exception in exceptions)],
        [
            exception.name
            for exception in exceptions
            if not any(exception.is_about(f) for f in every)
        ],
    )


@dataclass(frozen=True)
class Accepted:
    """A result that is accepted: of one check, of these verdicts, and a fail up to `limit`."""

    name: str
    check: str
    verdicts: tuple[Verdict, ...]
    limit: str = ""

    def is_about(self, finding: Finding) -> bool:
        """A column that is not there was "not measured" before, and may be named so."""
        verdict = "not-measured" if finding.verdict == ABSENT else finding.verdict
        return finding.check == self.check and verdict in self.verdicts

    def accepts(self, finding: Finding) -> bool:
        return self.is_about(finding) and is_within(accepting(finding), self.limit)


def _reason(finding: Finding, brief: bool) -> str:
    if brief and finding.verdict == "fail":
        return f"fail ({reason(finding)})."
    return f"{finding.verdict.replace('-', ' ')}. {finding.why}"


def _exception(name: str) -> Accepted:
    """What an exception accepts: CHECK, CHECK=VERDICT, or CHECK=AMOUNT of a fail."""
    check, _, word = name.partition("=")
    registered = CHECKS.get(check).name
    verdict = next((v for v in REFUSED if v == word), None)
    if verdict is not None or not word:
        return Accepted(name, registered, REFUSED if verdict is None else (verdict,))
    try:
        float(word.removesuffix("%"))
    except ValueError:
        raise UsageError(
            f"'{word}' needs no exception.",
            f"Use CHECK, CHECK=AMOUNT or CHECK={'|'.join(REFUSED)}.",
        ) from None
    return Accepted(name, registered, ("fail",), word.removesuffix("%"))


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
            Dataset.of(data).sampled(limit, seed),
            checks=checks,
            target=target,
            columns=columns,
            seed=seed,
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
