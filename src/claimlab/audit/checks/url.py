"""Does a link in the text, or the site a record comes from, give the label away?"""

from __future__ import annotations

from claimlab.audit.check import Context
from claimlab.audit.checks.table import column_finding
from claimlab.audit.features import Numbers
from claimlab.audit.shortcut import FairCheck, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.text.traits import links, sites
from claimlab.text.urls import find_urls


class Url(FairCheck):
    name = "url"
    title = "URLs and domains"
    question = "Does a link, or the site behind it, give the label away?"

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        columns = sampled(subject, context, columns=True).subject
        return [
            self._presence(sampled(subject, context).subject, context),
            self._domain(columns, context),
        ]

    def _presence(self, subject: Subject, context: Context) -> Finding:
        label = "presence of a URL"
        texts = subject.rows["text"]
        matrix = links(texts)
        holds = matrix[:, 0] > 0
        if not holds.any():
            why = "No text holds a URL or a placeholder for one."
            return self.unmeasured(why, subject.n, label)
        written = int((find_urls(texts).list.len().fill_null(0) > 0).sum())
        shares = {
            c: round(float(holds[subject.y == k].mean()), 4) for k, c in enumerate(subject.classes)
        }
        return shortcut(
            subject,
            context,
            self.name,
            Numbers(matrix),
            why=(
                "Whether a text holds a URL or a placeholder for one, and how many"
                f" ({int(holds.sum()):,} of {subject.n:,} texts hold one,"
                f" {int(holds.sum()) - written:,} of them only a placeholder)"
            ),
            label=label,
            details={"share_with_url": shares, "placeholders_only": int(holds.sum()) - written},
        )

    def _domain(self, subject: Subject, context: Context) -> Finding:
        finding = column_finding(subject, context, self.name, sites(subject.rows), label="domain")
        finding.fact = (
            finding.feature
        )  # of which the path of the URL, in `identifiers`, is another measurement
        return finding


CHECK = Url()
