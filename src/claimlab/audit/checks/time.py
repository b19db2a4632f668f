"""Does the time of a record give its label away: its date, its hour or its weekday?"""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl

from claimlab.audit import cdl
from claimlab.audit.check import Context, not_measured
from claimlab.audit.details import histogram
from claimlab.audit.features import Numbers
from claimlab.audit.shortcut import FairCheck, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.text.snowflake import clock, first_digits, tweet_time

DATE, DIGITS, SNOWFLAKE = "date", "tweet id, first three digits", "tweet id, time it encodes"
EPOCH = date(1970, 1, 1).toordinal()
DATES = (DATE, SNOWFLAKE)  # features in days since 1970


class Time(FairCheck):
    name = "time"
    title = "Time"
    question = "Were the classes collected at different times?"
    protocols = ("fair", "cdl", "cdl-holdout")

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if len(subject.classes) < 2:
            return [not_measured(self.name, context.protocol, "It needs two classes.", n=subject.n)]
        findings = (
            self._fair(subject, context)
            if context.protocol == "fair"
            else self._cdl(subject, context.protocol)
        )
        return findings or [
            not_measured(
                self.name, context.protocol, "No record has a date or a tweet id.", n=subject.n
            )
        ]

    def _cdl(self, subject: Subject, protocol: str) -> list[Finding]:
        features = {DATE: cdl.days(subject), DIGITS: cdl.id_digits(subject)}
        return [
            cdl.finding(
                self.name,
                score,
                subject,
                what=f"A forest on the {name}",
                feature=name,
                protocol=protocol,
            )
            for name, values in features.items()
            for score in cdl.time_score(subject, values, hold_out=protocol == "cdl-holdout")
        ]

    def _fair(self, subject: Subject, context: Context) -> list[Finding]:
        part = sampled(subject, context).subject
        ids = part.rows["tweet_id"]
        features = {
            DATE: part.rows["date"].dt.epoch("d"),
            DIGITS: first_digits(ids, 3),
            SNOWFLAKE: tweet_time(ids).dt.epoch("d"),
        }
        findings = [
            self._one(part, context, name, values)
            for name, values in features.items()
            if values.null_count() < part.n
        ]
        return [
            *findings,
            *(
                self._one(part, context, name, values, name)
                for name, values in clock(part.rows).items()
            ),
        ]

    def _one(
        self, subject: Subject, context: Context, name: str, values: pl.Series, fact: str = "time"
    ) -> Finding:
        known = np.flatnonzero(values.is_not_null().to_numpy())
        dated = subject.take(known)
        numbers = values.drop_nulls().to_numpy().astype(np.float32)[:, None]
        return shortcut(
            dated,
            context,
            self.name,
            Numbers(numbers),
            why=(
                f"A small tree on the {name} alone ({len(known):,} of {subject.n:,} records"
                " have it)"
            ),
            label=name,
            fact=fact,
            details={
                "spans": spans(dated, values.drop_nulls(), dates=name in DATES),
                "dated": len(known),
                "histogram": {
                    **histogram(dated, values.drop_nulls().to_numpy().astype(np.float64)),
                    "dates": name in DATES,
                },
            },
        )


def spans(subject: Subject, values: pl.Series, *, dates: bool) -> list[dict[str, object]]:
    """First, middle and last value per class, as a person reads them."""
    out: list[dict[str, object]] = []
    for k, name in enumerate(subject.classes):
        mine = np.sort(values.to_numpy()[subject.y == k])
        if len(mine):
            marks = {"first": mine[0], "median": mine[len(mine) // 2], "last": mine[-1]}
            shown = {
                m: str(date.fromordinal(EPOCH + int(v))) if dates else int(v)
                for m, v in marks.items()
            }
            out.append({"class": name, "records": len(mine), **shown})
    return out


CHECK = Time()
