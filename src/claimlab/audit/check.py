"""The contract of a check: its input, its result, and where it is registered.

A check is one file in `audit/checks/` with a module-level CHECK: a dataset in, findings out. One
that lacks its input answers "not measured" with the reason; it never passes for lack of data. The
checks of one column each are rows of `audit/checks/table.py`.

What each protocol is, and what it gets wrong, is in `audit/data/protocols.toml`: the one place for
these words, printed by reports and by the docs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol

import polars as pl

from claimlab.audit import fair
from claimlab.audit.features import Feature
from claimlab.audit.rule import Context, ProtocolName, Rule
from claimlab.audit.subject import Subject
from claimlab.core import packaged
from claimlab.core.finding import Finding, Verdict
from claimlab.core.registry import Registry
from claimlab.core.types import JsonObject

PROTOCOLS: JsonObject = packaged.toml("claimlab.audit", "protocols.toml")
CHECKS: Registry[Check] = Registry(
    "check", package="claimlab.audit.checks", attribute="CHECK", group="claimlab.checks"
)
SHORTCUT_RULE = Rule().words()


def caveats(protocol: str, check: str | None = None) -> list[str]:
    """Known flaws of `protocol`, for one check or for all; none for a protocol from a plug-in.

    A caveat names the checks that it touches: all of the protocol's where it names none.
    """
    return [
        caveat["sentence"]
        for caveat in PROTOCOLS.get(protocol, {}).get("caveats", [])
        if check is None or check in caveat.get("checks", [check])
    ]


class Check(Protocol):
    """What a check says of itself, and how it tests a dataset."""

    name: str
    title: str
    question: str  # in one sentence
    protocols: tuple[ProtocolName, ...]  # those it can follow; the runner answers for the others
    rule: str  # when it fails, warns and passes, in words

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        """Test a dataset: findings, or "not measured" with the reason where its input is absent.

        Parameters
        ----------
        subject : Subject
            The labelled records of the dataset, with what they must be kept together by.
        context : Context
            What the audit was asked for: the protocol, the seed, the margins and the columns.

        Returns
        -------
        list[Finding]
            One finding or several, each with its verdict, its figures and why.
        """
        ...


def not_measured(
    check: str, protocol: str, why: str, *, n: int = 0, feature: str | None = None
) -> Finding:
    return Finding(
        check=check, protocol=protocol, verdict="not-measured", why=why, n=n, feature=feature
    )


def not_applicable(
    check: str, protocol: str, why: str, *, n: int = 0, feature: str | None = None
) -> Finding:
    """What a check says of data that has no such column: there is nothing to test."""
    return Finding(
        check=check, protocol=protocol, verdict="not-applicable", why=why, n=n, feature=feature
    )


Findings = Iterator[Finding]
Need = Literal["text", "classes"]


class FairCheck:
    """What most checks have in common: they follow the fair protocol, by the rule of shortcuts, and
    are not measured where the records lack what they need."""

    name: str
    title: str
    question: str
    protocols: tuple[ProtocolName, ...] = ("fair",)
    rule: str = SHORTCUT_RULE
    needs: tuple[Need, ...] = ()

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        """Test a dataset by `measure`, once it has what the check needs.

        Parameters
        ----------
        subject : Subject
            The labelled records of the dataset, with what they must be kept together by.
        context : Context
            What the audit was asked for: the protocol, the seed, the margins and the columns.

        Returns
        -------
        list[Finding]
            What `measure` found, or one finding that is "not measured".
        """
        subject = subject.under(context)
        if "text" in self.needs and not subject.has_text:
            return [self.absent(subject, "The records have no text.")]
        if "classes" in self.needs and len(subject.classes) < 2:
            return [self.unmeasured(subject, "It needs two classes.")]
        return [*self.measure(subject)]

    def measure(self, subject: Subject) -> Iterable[Finding]:
        """What the check finds; the one method that most checks write.

        Parameters
        ----------
        subject : Subject
            The labelled records, with the texts and classes that `needs` names.

        Returns
        -------
        Iterable[Finding]
            One finding or several: see `shortcut`, `found` and `unmeasured`.
        """
        raise NotImplementedError

    def unmeasured(
        self, subject: Subject, why: str, feature: str | None = None, n: int | None = None
    ) -> Finding:
        """A finding that says that nothing could be measured, which is never a pass.

        Parameters
        ----------
        subject : Subject
            What the check was given.
        why : str
            The reason, as a sentence.
        feature : str | None, default None
            The feature or column that it is about, where the check has several.
        n : int | None, default None
            Number of rows it is about; all of `subject`, by default.

        Returns
        -------
        Finding
            A finding that is "not measured".
        """
        rows = subject.n if n is None else n
        return not_measured(self.name, subject.context.protocol, why, n=rows, feature=feature)

    def absent(self, subject: Subject, why: str, feature: str | None = None) -> Finding:
        """A finding that says that the data has no such column, so that there is nothing to test.

        Parameters
        ----------
        subject : Subject
            What the check was given.
        why : str
            What is not there, as a sentence.
        feature : str | None, default None
            The feature or column that it is about, where the check has several.

        Returns
        -------
        Finding
            A finding that is "not applicable".
        """
        return not_applicable(
            self.name, subject.context.protocol, why, n=subject.n, feature=feature
        )

    def found(self, subject: Subject, verdict: Verdict, why: str, **more: object) -> Finding:
        """A finding on the rows of `subject`, unless `more` names others.

        Parameters
        ----------
        subject : Subject
            The rows that were tested.
        verdict : Verdict
            "fail", "warn", "pass" or "info".
        why : str
            What was found, as a sentence with the numbers that matter.
        **more : object
            Further fields of the finding, such as `details` and `records`.

        Returns
        -------
        Finding
            The finding, with what was left out of `subject`.
        """
        about = {"n": subject.n, "classes": subject.class_counts, **more}
        kind = {"check": self.name, "protocol": "fair", "verdict": verdict, "why": why}
        return noted(Finding.model_validate(kind | about), subject)

    def shortcut(
        self,
        subject: Subject,
        feature: Feature,
        why: str,
        label: str | None = None,
        grouping: fair.Grouping = "groups",
        **more: object,
    ) -> Finding:
        """One feature alone against its baselines. `subject` is already sampled when it was
        large.

        Parameters
        ----------
        subject : Subject
            The rows to test; already sampled when there were many.
        feature : Feature
            What is read of each row: a category, a number or words.
        why : str
            What the feature is, as the start of the sentence that has the figures.
        label : str | None, default None
            The name of the feature, where the check has several.
        grouping : fair.Grouping, default 'groups'
            What must stay on one side of a fold: groups, rows, or groups of any size.
        **more : object
            Further fields of the finding, such as `details`.

        Returns
        -------
        Finding
            The finding, by the rule of shortcuts.
        """
        reason = fair.unmeasurable(subject, grouping)
        if reason is not None:
            return noted(self.unmeasured(subject, reason, label), subject)
        measured = fair.measure(subject, feature, fair.deal_of(subject, grouping))
        return noted(self.judged(subject, measured, why, feature=label, **more), subject)

    def judged(
        self, subject: Subject, measured: fair.Measured, why: str, **more: object
    ) -> Finding:
        """The rule applied as if this were the only test; `why` is completed with the numbers.

        Parameters
        ----------
        subject : Subject
            The rows that were tested.
        measured : fair.Measured
            The score of the feature, with its baselines and intervals.
        why : str
            What the feature is, as the start of the sentence that has the figures.
        **more : object
            Further fields of the finding.

        Returns
        -------
        Finding
            The finding.
        """
        rule = subject.settings.rule
        numbers = {name: value for name, value in vars(measured).items() if name != "units"}
        given = more.pop("details", {})
        assert isinstance(given, dict)
        details = {**given, "units": measured.units.to_json()}
        return Finding.model_validate(
            {
                "check": self.name,
                "protocol": "fair",
                "verdict": rule.verdict(measured.difference_interval, measured.p),
                "why": f"{why}: {measured.words()}.",
                "margin": rule.margin,
                "p_adjusted": measured.p,
                **numbers,
                **more,
                "details": details,
            }
        )


def noted(finding: Finding, subject: Subject) -> Finding:
    """The finding, and what was left out of `subject` so that each observation counts once."""
    if subject.note:
        finding.why += f" {subject.note}"
    return finding


def sampled(
    subject: Subject,
    most: int | None = None,
    *,
    columns: bool = False,
    texts: pl.Series | None = None,
) -> Subject:
    """The rows that a check works on: one of each text and label, drawn at random from a large set,
    and for a test of groups those whose labels can be shuffled; the same for all checks. `texts`
    are what it reads, where that is not the text of a record. A test of one column, which splits
    rows at random, may take more than one that grows trees; `most` is fewer."""
    settings = subject.settings
    limit = settings.max_column_rows if columns else settings.max_rows
    whole = subject.distinct if texts is None else subject.first_of_each(texts)
    limit = limit if most is None else min(most, limit)
    key = ("sample", limit, columns)
    if key not in whole.memo:
        part = whole.drawn(limit)
        whole.memo[key] = part if columns else fair.shuffled_freely(part)
    sample: Subject = whole.memo[key]
    return sample
