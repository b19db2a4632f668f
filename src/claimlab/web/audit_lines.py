"""An audit in a line: what it comes to, and the findings that can move a score most."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from claimlab.audit.advice import points_of
from claimlab.audit.result import Audit
from claimlab.audit.views.first_screen import tone_of, verdict_words
from claimlab.audit.views.wording import finding_title
from claimlab.pages.blocks import Tone
from claimlab.web.workspace import Shape, WorkspaceFolder, findings_in

if TYPE_CHECKING:
    pass


FINDINGS_NAMED = 3  # findings that a line about an audit names


class AuditLine(Shape):
    """An audit, what it comes to, and how many of its findings have each verdict."""

    name: str
    link: str
    of: str
    """The dataset that was audited."""
    apart: str
    """Its folder and protocol, where others are of a dataset of this name."""
    usable: str
    words: str
    """The verdict in a few words."""
    tone: Tone
    verdicts: dict[str, int]
    worst: dict[str, str]
    """The findings that can move a score most, with their pages."""


def audit_line(
    place: WorkspaceFolder, audit: Audit, among: Iterable[tuple[WorkspaceFolder, Audit]]
) -> AuditLine:
    entry, same = place.entry, [other for _, other in among if other.dataset == audit.dataset]
    failing = [
        (-points_of(finding), number, finding)
        for number, (of, finding) in enumerate(findings_in(place))
        if of is audit and finding.verdict == "fail"
    ]
    return AuditLine(
        name=entry.name,
        link=entry.link,
        of=audit.dataset,
        apart=f"{entry.name}, protocol {audit.protocol}" if len(same) > 1 else "",
        usable=audit.conclusion.usable,
        words=verdict_words(audit),
        tone=tone_of(audit),
        verdicts={verdict: n for verdict, n in audit.counts().items() if n},
        worst={
            finding_title(finding): f"{entry.link}/findings/{number}"
            for _, number, finding in sorted(failing, key=lambda item: item[:2])[:FINDINGS_NAMED]
        },
    )
