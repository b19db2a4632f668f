"""Can the claims be checked at all? Three answers: feasible, feasible with web search, not
feasible.

Answers come from annotators (annotation table, question "feasibility") or from a model that is
passed as a judge. With neither, it is not measured. Annotators are combined as the guide does: with
and without search both count as feasible; a tie is "not feasible" for the lower bound and
"feasible" for the upper; the average of the two is the figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import get_args

import numpy as np
import polars as pl

from claimlab.audit.asking import ALONE, PROMISED, RESULTS, Answer, Kind, Opinion, Reading
from claimlab.audit.check import Context, not_measured
from claimlab.audit.hints import hints
from claimlab.audit.subject import Subject
from claimlab.audit.votes import (
    MIN_COMPARED,
    MODERATE,
    agreement_of,
    agreement_words,
    answer_counts,
    combine,
    compare,
    votes_of,
)
from claimlab.core.finding import Finding, Verdict
from claimlab.core.stats.interval import mean_interval
from claimlab.core.types import JsonObject

THRESHOLD = 0.75
MIN_RECORDS = 30
SHOWN = 50  # explanations of a judge
WITH = {ALONE: "without search", PROMISED: "with search (promised)", RESULTS: "with search results"}


class Feasibility:
    name = "feasibility"
    title = "Feasibility"
    question = "Can the claims be checked at all?"
    protocols = ("fair",)
    rule = (
        f"Fail when the 95% interval of the feasible share lies below {100 * THRESHOLD:.0f}%, warn"
        " when it straddles it, pass when it lies above. A model judge that was not compared with"
        f" annotators on at least {MIN_COMPARED} records, or agrees with them with a kappa below"
        f" {MODERATE}, is unvalidated: it can warn, but neither fail nor pass."
    )

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        votes = votes_of(subject)
        findings = [] if votes is None else [self._by_annotators(subject, votes)]
        if context.judge is not None:
            findings += self._by_judge(subject, context, votes)
        if not findings:
            why = (
                "There are no feasibility annotations, and no model was named to judge: pass"
                " `judge`."
            )
            missing = not_measured(self.name, "fair", why, n=subject.n)
            missing.details = hint_counts(subject)
            return [missing]
        table = [row for finding in findings for row in finding.details.pop("readings", [])]
        for finding in findings:
            finding.details["side_by_side"] = table
        return findings

    def _by_annotators(self, subject: Subject, votes: pl.DataFrame) -> Finding:
        combined, alone = combine(votes), combine(votes, ALONE)
        n = len(combined.ids)
        if n < MIN_RECORDS:
            why = f"Annotators judged {n} records; at least {MIN_RECORDS} are needed."
            return not_measured(self.name, "fair", why, n=n, feature="annotators")
        interval = mean_interval(combined.average) or (0.0, 1.0)
        agreement = agreement_of(votes)
        low, rate, high = combined.means()
        return Finding(
            check=self.name,
            protocol="fair",
            verdict=verdict_of(interval),
            why=(
                f"Annotators found {100 * rate:.1f}% of {n:,} records feasible with search (lower"
                f" bound {100 * low:.1f}, upper {100 * high:.1f}, 95% interval"
                f" {100 * interval[0]:.1f} to {100 * interval[1]:.1f}) and"
                f" {100 * alone.average.mean():.1f}% without; {100 * THRESHOLD:.0f}% is the"
                " threshold. "
            )
            + agreement_words(agreement),
            score=rate,
            interval=interval,
            n=n,
            feature="annotators",
            records=[i for i, v in zip(combined.ids, combined.lower, strict=True) if v == 0],
            details={
                "lower": low,
                "upper": high,
                "average": rate,
                "agreement": agreement,
                "answers": answer_counts(votes),
                **hint_counts(subject),
                "readings": [
                    _row("annotators", "with search", n, low, rate, high),
                    _row("annotators", WITH[ALONE], n, *alone.means()),
                ],
            },
        )

    def _by_judge(
        self, subject: Subject, context: Context, votes: pl.DataFrame | None
    ) -> list[Finding]:
        """One finding for each reading; answers that failed are null and counted."""
        judge, out = context.judge, []
        readings = judge.readings(subject)
        for reading in (PROMISED, RESULTS, ALONE):
            label = f"{judge.name}, {WITH[reading]}"
            if reading not in readings:
                why = (
                    "There are no search results to show the judge: pass `provider`, or audit an"
                    " enriched dataset."
                )
                out.append(not_measured(self.name, "fair", why, feature=label))
                continue
            opinions = judge.opinions(subject, reading, context.seed)
            out.append(self._judged(opinions, reading, label, votes, judge.standing))
        return out

    def _judged(
        self,
        opinions: Mapping[str, Opinion | None],
        reading: Reading,
        label: str,
        votes: pl.DataFrame | None,
        standing: str | None,
    ) -> Finding:
        judged = {
            record: one.feasible(reading) for record, one in opinions.items() if one is not None
        }
        known, nulls = (
            np.array(list(judged.values()), dtype=np.float64),
            len(opinions) - len(judged),
        )
        if len(known) < MIN_RECORDS:
            why = (
                f"The judge answered for {len(known)} of {len(opinions)} records; {MIN_RECORDS} are"
                " needed."
            )
            return not_measured(self.name, "fair", why, n=len(known), feature=label)
        interval, rate = mean_interval(known) or (0.0, 1.0), float(known.mean())
        beside = compare(judged, votes, reading)
        no = [record for record, feasible in judged.items() if not feasible]
        return Finding(
            check=self.name,
            protocol="fair",
            verdict=verdict_of(interval) if beside.validated else capped(verdict_of(interval)),
            why=(
                f"{label}: {100 * rate:.1f}% of {len(known):,} records judged feasible (95%"
                f" interval {100 * interval[0]:.1f} to {100 * interval[1]:.1f}); {nulls} answers"
                f" failed. {beside.sentence()}"
            )
            + (f" It is {standing}." if standing else ""),
            score=rate,
            interval=interval,
            n=len(known),
            feature=label,
            records=no,
            details={
                "failed_answers": nulls,
                "validated": beside.validated,
                "compared": vars(beside),
                "answers": _tally(
                    (one.answer for one in opinions.values() if one), get_args(Answer), "answer"
                ),
                "missing": _tally(
                    (k for o in opinions.values() if o for k in set(o.missing)),
                    get_args(Kind),
                    "kind",
                ),
                "explanations": [
                    {
                        "record": r,
                        "answer": o.answer,
                        "missing": ", ".join(o.missing),
                        "explanation": o.rationale,
                    }
                    for r in no[:SHOWN]
                    if (o := opinions[r]) is not None
                ],
                "readings": [
                    _row(label.rsplit(", ", 1)[0], WITH[reading], len(known), rate, rate, rate)
                ],
            },
        )


def _row(by: str, reading: str, n: int, lower: float, average: float, upper: float) -> JsonObject:
    """A line of the table that sets annotators, their bounds and the model beside one another."""
    return {
        "by": by,
        "reading": reading,
        "records": n,
        "lower": lower,
        "average": average,
        "upper": upper,
    }


def _tally(values: Iterable[str], every: tuple[str, ...], name: str) -> list[JsonObject]:
    counts = Counter(values)
    return [{name: value, "records": counts[value]} for value in every]


def hint_counts(subject: Subject) -> JsonObject:
    clues = hints(subject.rows.filter(pl.col("text").is_not_null()))
    tally = dict(clues["signals"].explode().drop_nulls().value_counts().sort("signals").iter_rows())
    return {"hints": [{"signal": k, "records": v} for k, v in tally.items()]}


def verdict_of(interval: tuple[float, float]) -> Verdict:
    return "fail" if interval[1] < THRESHOLD else "pass" if interval[0] >= THRESHOLD else "warn"


def capped(verdict: Verdict) -> Verdict:
    """An unvalidated judge can raise a doubt, not settle it: no pass and no fail."""
    return {"pass": "inconclusive", "fail": "warn"}.get(verdict, verdict)  # type: ignore[return-value]


CHECK = Feasibility()
