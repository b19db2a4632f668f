"""The way most checks measure: one feature alone against its baselines, on the rows that this
needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.audit import fair
from claimlab.audit.check import Context, ProtocolName, not_measured
from claimlab.audit.features import Feature
from claimlab.audit.rule import Rule, Settings
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.types import JsonObject

SHORTCUT_RULE = Rule().words()


class FairCheck:
    """What most checks have in common: they follow the fair protocol, by the rule of shortcuts."""

    name: str
    title: str
    question: str
    protocols: tuple[ProtocolName, ...] = ("fair",)
    rule: str = SHORTCUT_RULE

    def unmeasured(self, why: str, n: int = 0, feature: str | None = None) -> Finding:
        return not_measured(self.name, "fair", why, n=n, feature=feature)


def shortcut(
    subject: Subject,
    context: Context,
    check: str,
    feature: Feature,
    *,
    why: str,
    label: str | None = None,
    grouping: fair.Grouping = "groups",
    **more: object,
) -> Finding:
    """Measure one feature under the fair protocol. `subject` is already sampled when it was
    large.
    """
    settings, seed = context.settings, context.seed
    reason = fair.unmeasurable(subject, grouping, settings, seed)
    if reason is not None:
        return noted(not_measured(check, "fair", reason, n=subject.n, feature=label), subject)
    deal = fair.deal_of(subject, grouping, settings, seed)
    measured = fair.measure(subject, feature, deal=deal, settings=settings, seed=seed)
    return noted(
        fair.finding(check, measured, settings.rule, why=why, feature=label, **more), subject
    )


def noted(finding: Finding, subject: Subject) -> Finding:
    """The finding, and what was left out of `subject` so that each observation counts once."""
    if subject.note:
        finding.why += f" {subject.note}"
    return finding


@dataclass(frozen=True)
class Sampled:
    """A subject cut to what the fair protocol needs: all rows, or a seeded sample of a large set.
    For a test of groups, those whose labels can be shuffled."""

    whole: Subject
    limit: int
    seed: int
    settings: Settings | None = None  # of a test of groups

    @property
    def subject(self) -> Subject:
        """The same sample, with the intermediate results on it, for all checks."""
        key = ("sample", self.limit, self.seed, self.settings)
        if key not in self.whole.memo:
            part = self._drawn()
            self.whole.memo[key] = (
                part
                if self.settings is None
                else fair.shuffled_freely(part, self.settings, self.seed)
            )
        sample: Subject = self.whole.memo[key]
        return sample

    def _drawn(self) -> Subject:
        if self.whole.n <= self.limit:
            return self.whole
        chosen = np.random.default_rng(self.seed).choice(self.whole.n, self.limit, replace=False)
        return self.whole.take(np.sort(chosen).astype(np.int64))

    @property
    def note(self) -> JsonObject:
        """For a finding's details: how many rows were sampled, when any were left out."""
        return (
            {}
            if self.whole.n <= self.limit
            else {"sampled_rows": self.limit, "of_rows": self.whole.n}
        )


def sampled(
    subject: Subject,
    context: Context,
    most: int | None = None,
    *,
    columns: bool = False,
    texts: pl.Series | None = None,
) -> Sampled:
    """The rows that a check works on, one of each text and label; `texts` are what it reads, where
    that is not the text of a record. A test of one column, which splits rows at random, may take
    more than one that grows trees; `most` is fewer."""
    limit = context.settings.max_column_rows if columns else context.settings.max_rows
    whole = subject.distinct if texts is None else subject.first_of_each(texts)
    settings = None if columns else context.settings
    return Sampled(whole, limit if most is None else min(most, limit), context.seed, settings)
