"""The way most checks measure: one feature alone against its baselines, on the rows that this needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from claimlab.audit import fair
from claimlab.audit.check import Context, not_measured
from claimlab.audit.features import Feature
from claimlab.audit.rule import Rule
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding

SHORTCUT_RULE = Rule().words()


def shortcut(
    subject: Subject,
    context: Context,
    check: str,
    feature: Feature,
    *,
    why: str,
    label: str | None = None,
    grouping: fair.Grouping = "groups",
    **more: Any,
) -> Finding:
    """Measure one feature under the fair protocol. `subject` is already sampled when it was large."""
    settings, seed = context.settings, context.seed
    reason = fair.unmeasurable(subject, grouping, settings, seed)
    if reason is not None:
        return not_measured(check, "fair", reason, n=subject.n, feature=label)
    deal = fair.deal_of(subject, grouping, settings, seed)
    measured = fair.measure(subject, feature, deal=deal, settings=settings, seed=seed)
    return fair.finding(check, measured, settings.rule, why=why, feature=label, **more)


@dataclass(frozen=True)
class Sampled:
    """A subject cut to what the fair protocol needs: all rows, or a seeded sample of a large set."""

    whole: Subject
    limit: int
    seed: int

    @property
    def subject(self) -> Subject:
        """The same sample, with the intermediate results on it, for all checks."""
        if self.whole.n <= self.limit:
            return self.whole
        key = ("sample", self.limit, self.seed)
        if key not in self.whole.memo:
            chosen = np.random.default_rng(self.seed).choice(self.whole.n, self.limit, replace=False)
            self.whole.memo[key] = self.whole.take(np.sort(chosen).astype(np.int64))
        sample: Subject = self.whole.memo[key]
        return sample

    @property
    def note(self) -> dict[str, Any]:
        """For a finding's details: how many rows were sampled, when any were left out."""
        return {} if self.whole.n <= self.limit else {"sampled_rows": self.limit, "of_rows": self.whole.n}


def sampled(subject: Subject, context: Context, most: int | None = None, *, columns: bool = False) -> Sampled:
    """The rows that a check works on: a test of one column may take more than one that grows trees; `most` is fewer."""
    limit = context.settings.max_column_rows if columns else context.settings.max_rows
    return Sampled(subject, limit if most is None else min(most, limit), context.seed)
