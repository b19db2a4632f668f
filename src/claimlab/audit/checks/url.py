"""Does a link in the text, or the site a record comes from, give the label away?"""

from __future__ import annotations

from claimlab.audit.check import Findings, sampled
from claimlab.audit.checks.table import ColumnTest
from claimlab.audit.features import Numbers
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.text.traits import links, sites
from claimlab.text.urls import find_urls

PRESENCE, DOMAIN = "presence of a URL", "domain"


class Url(ColumnTest):
    name = "url"
    title = "URLs and domains"
    question = "Does a link, or the site behind it, give the label away?"

    def measure(self, subject: Subject) -> Findings:
        yield self._presence(sampled(subject))
        part = sampled(subject, columns=True)
        domain = self.column(part, sites(part.rows), DOMAIN)
        domain.fact = DOMAIN  # the path of the URL, in `identifiers`, is another measurement
        yield domain

    def _presence(self, subject: Subject) -> Finding:
        texts = subject.rows["text"]
        matrix = links(texts)
        holds = matrix[:, 0] > 0
        n = int(holds.sum())
        if not n:
            why = "No text holds a URL or a placeholder for one."
            return self.absent(subject, why, PRESENCE)
        bare = n - int((find_urls(texts).list.len().fill_null(0) > 0).sum())
        shares = subject.per_class(holds, lambda flags: round(float(flags.mean()), 4))
        return self.shortcut(
            subject,
            Numbers(matrix),
            "Whether a text holds a URL or a placeholder for one, and how many"
            f" ({n:,} of {subject.n:,} texts hold one, {bare:,} of them only a placeholder)",
            PRESENCE,
            details={"share_with_url": shares, "placeholders_only": bare},
        )


CHECK = Url()
