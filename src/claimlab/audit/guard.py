"""An audit as an assertion, for the tests of a benchmark's own repository.

def test_the_data_is_fair(assert_audit):  # a fixture of claimlab's pytest plug-in
    assert_audit("data", allow=["length"])
"""

from __future__ import annotations

from collections.abc import Sequence

from claimlab.audit.run import Audited, audit
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.run import Source


def assert_audit(
    data: Source,
    *,
    allow: Sequence[str] = (),
    checks: Sequence[str] | None = None,
    target: str = "veracity",
    columns: Sequence[str] = (),
    seed: int = 0,
    limit: int | None = None,
) -> Audited:
    """Audit `data`, and fail with the findings unless every check that failed is in `allow`.

    What is allowed must fail: an exception that is no longer needed is an error, so that the list does not outlive the
    problem. The other arguments are those of `audit`.
    """
    result = audit(Dataset.of(data, limit), checks=checks, target=target, columns=columns, seed=seed)
    failed = {finding.check for finding in result.findings if finding.verdict == "fail"}
    idle = sorted(set(allow) - failed)
    if idle:
        raise UsageError(f"'{idle[0]}' is allowed to fail, but does not.", "Take it out of `allow`.")
    wrong = [finding for finding in result.findings if finding.verdict == "fail" and finding.check not in allow]
    if wrong:
        lines = [f"{finding.check}: {finding.why}" for finding in wrong]
        raise AssertionError(f"The audit of '{result.dataset}' fails:\n" + "\n".join(lines))
    return result
