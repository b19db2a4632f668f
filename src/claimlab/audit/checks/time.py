"""Does the time of a record give its label away: its date, its hour or its weekday?"""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl

from claimlab.audit import cdl
from claimlab.audit.check import FairCheck, Findings, sampled
from claimlab.audit.details import histogram
from claimlab.audit.features import Numbers
from claimlab.audit.subject import Subject
from claimlab.core.errors import MissingExtra
from claimlab.core.finding import Finding
from claimlab.text.snowflake import clock, first_digits, tweet_time

DATE, DIGITS, SNOWFLAKE = "date", "tweet id, first three digits", "tweet id, time it encodes"
EPOCH = date(1970, 1, 1).toordinal()
DATES = (DATE, SNOWFLAKE)  # features in days since 1970


class TimeCheck(FairCheck):
    name = "time"
    title = "Time"
    question = "Were the classes collected at different times?"
    protocols = ("fair", "cdl", "cdl-holdout")
    needs = ("classes",)

    def measure(self, subject: Subject) -> list[Finding]:
        fair = subject.context.protocol == "fair"
        findings = [*(self._fair(sampled(subject)) if fair else self._cdl(subject))]
        if findings and fair:
            _say_hidden(findings[0], subject)
        return findings or [self.absent(subject, "No record has a date or a tweet id.")]

    def _cdl(self, subject: Subject) -> Findings:
        hold_out = subject.context.protocol == "cdl-holdout"
        if not cdl.has_forest():
            yield self.unmeasured(
                subject, str(MissingExtra("The forest of this protocol", "models"))
            )
            return
        for name, values in ((DATE, cdl.days(subject)), (DIGITS, cdl.id_digits(subject))):
            for score in cdl.time_score(subject, values, hold_out=hold_out):
                yield cdl.finding(self.name, score, subject, f"A forest on the {name}", name)

    def _fair(self, part: Subject) -> Findings:
        ids = part.rows["tweet_id"]
        times = {
            DATE: part.rows["date"].dt.epoch("d"),
            DIGITS: first_digits(ids, 3),
            SNOWFLAKE: tweet_time(ids).dt.epoch("d"),
        }
        for name, values in times.items():
            if values.null_count() < part.n:
                yield self._one(part, name, values, "time")
        for name, values in clock(part.rows).items():
            yield self._one(part, name, values, name)

    def _one(self, subject: Subject, name: str, values: pl.Series, fact: str) -> Finding:
        dated = subject.where(values.is_not_null())
        numbers, dates = values.drop_nulls().to_numpy(), name in DATES
        return self.shortcut(
            dated,
            Numbers(numbers.astype(np.float32)[:, None]),
            f"A small tree on the {name} alone ({dated.n:,} of {subject.n:,} records have it)",
            name,
            fact=fact,
            details={
                "spans": spans(dated, numbers, dates=dates),
                "dated": dated.n,
                "histogram": {**histogram(dated, numbers.astype(np.float64)), "dates": dates},
            },
        )


CHECK = TimeCheck()


def _say_hidden(finding: Finding, subject: Subject) -> None:
    """How many records of dev and test without a label are as old as train: a model of the future
    has seen their time.
    """
    hidden = subject.hidden["date"].drop_nulls()
    latest = subject.rows.filter(pl.col("split") == "train")["date"].max()
    if not hidden.len() or latest is None:
        return
    overlapping = int((hidden <= latest).sum())
    finding.why += (
        f" Of {hidden.len():,} dated records of dev and test without a label, {overlapping:,} are"
        " not later than the last one of train."
    )
    finding.details["without_label"] = {"hidden": hidden.len(), "not_later": overlapping}


def spans(subject: Subject, values: cdl.Index, *, dates: bool) -> list[dict[str, object]]:
    """First, middle and last value per class, as a person reads them."""

    def shown(value: int) -> object:
        return str(date.fromordinal(EPOCH + value)) if dates else value

    return [
        {
            "class": name,
            "records": len(moments),
            "first": shown(moments[0]),
            "median": shown(moments[len(moments) // 2]),
            "last": shown(moments[-1]),
        }
        for name, moments in subject.per_class(
            values, lambda moments: np.sort(moments).tolist()
        ).items()
        if moments
    ]
