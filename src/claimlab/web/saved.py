"""Saved audits, read once for as long as their file stays the same."""

from __future__ import annotations

from claimlab.audit.result import Audit
from claimlab.core.errors import NotFound
from claimlab.core.finding import Finding
from claimlab.web.rows import Memo, digest_of
from claimlab.web.workspace import Place, Workspace

FILE = "audit.json"
_audits = Memo()


def audits_in(place: Place) -> list[Audit]:
    from claimlab.audit.result import read_audits

    file = place.folder / FILE
    return _audits.get(digest_of(file), lambda: read_audits(file))


def findings_in(place: Place) -> list[tuple[Audit, Finding]]:
    """Every finding of the audits in a folder, in one order: a finding is known by its number in
    it.
    """
    return [(audit, finding) for audit in audits_in(place) for finding in audit.findings]


def finding_at(workspace: Workspace, audit: str, number: int) -> tuple[Finding, str]:
    """A finding and its title."""
    from claimlab.audit.views.wording import finding_title

    place = workspace.get(audit, "audit")
    findings = findings_in(place)
    if not 0 <= number < len(findings):
        raise NotFound(
            f"The audit '{place.entry.name}' has no finding {number}.", "Choose one from its list."
        )
    finding = findings[number][1]
    return finding, finding_title(finding)
