"""Which checks a protocol has, and what is said of those it lacks."""

from __future__ import annotations

from claimlab.audit.check import CHECKS, Context
from claimlab.audit.run import audit, default_checks, run_one
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.generate.planted import planted


def test_a_protocol_answers_for_the_checks_it_lacks() -> None:
    data = planted(size=120)[0]
    assert default_checks("cdl") == ["keywords", "time"]
    assert default_checks("fair") == CHECKS.names()
    lacking = [name for name in CHECKS.names() if name not in default_checks("cdl")]
    findings = audit(data, checks=lacking, protocol="cdl", columns=["topic"]).findings
    assert [f.check for f in findings] == lacking
    assert {(f.protocol, f.verdict) for f in findings} == {("cdl", "not-measured")}
    assert all("cdl protocol has no such check (it has keywords, time)" in f.why for f in findings)


def test_a_check_that_declares_no_protocol_follows_fair() -> None:
    class Outside:
        name = "outside"

        def run(self, subject: Subject, context: Context) -> list[Finding]:
            return [Finding(check=self.name, protocol=context.protocol, verdict="pass", why="It ran.", n=subject.n)]

    subject = Subject.of(planted(size=120)[0], "veracity")
    (ran,) = run_one(Outside(), subject, Context())  # type: ignore[arg-type]
    (refused,) = run_one(Outside(), subject, Context(protocol="cdl"))  # type: ignore[arg-type]
    assert (ran.verdict, refused.verdict) == ("pass", "not-measured")
