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

from claimlab.audit.check import FairCheck, Findings
from claimlab.audit.feasibility_votes import (
    AGREED,
    MIN_COMPARED,
    MODERATE,
    agreement_of,
    agreement_words,
    combine,
    compare,
    votes_of,
)
from claimlab.audit.judge import ALONE, PROMISED, RESULTS, Answer, Kind, Opinion, Reading
from claimlab.audit.rule import FEASIBLE
from claimlab.audit.subject import Subject
from claimlab.audit.uncheckable import hints
from claimlab.core.finding import Finding, Verdict
from claimlab.core.stats.interval import mean_interval
from claimlab.core.types import JsonObject

WORDS = {"feasible": "feasible", "search": "feasible with web search", "no": "not feasible"}
MIN_RECORDS = 30
EXPLANATIONS_SHOWN = 50  # explanations of a judge
WITH = {ALONE: "without search", PROMISED: "with search (promised)", RESULTS: "with search results"}


class Feasibility(FairCheck):
    name = "feasibility"
    title = "Feasibility"
    question = "Can the claims be checked at all?"
    rule = (
        "The share is of what annotators agreed on, where a dataset has that, else of what most of"
        " them said; the bounds are of all of them and of any."
        f" Fail when the 95% interval of the feasible share lies below {100 * FEASIBLE:.0f}%, warn"
        " when it straddles it, pass when it lies above. A model judge that was not compared with"
        f" annotators on at least {MIN_COMPARED} records, or agrees with them with a kappa below"
        f" {MODERATE}, is unvalidated: it can warn, but neither fail nor pass."
    )

    def measure(self, subject: Subject) -> list[Finding]:
        agreed, judge = votes_of(subject, AGREED), subject.context.judge
        votes = votes_of(subject)
        votes = agreed if votes is None else votes
        findings = [] if votes is None else [self._by_annotators(subject, votes, agreed)]
        if judge is not None:
            findings += self._by_judge(subject, votes, agreed)
        if not findings:
            why = (
                "There are no feasibility annotations, and no model was named to judge: pass"
                " `judge`."
            )
            missing = self.unmeasured(subject, why)
            missing.details = hint_counts(subject)
            return [missing]
        table = [row for finding in findings for row in finding.details.pop("readings", [])]
        for finding in findings:
            finding.details["side_by_side"] = table
        return findings

    def _by_annotators(
        self, subject: Subject, votes: pl.DataFrame, agreed: pl.DataFrame | None
    ) -> Finding:
        combined, alone = combine(votes, agreed=agreed), combine(votes, ALONE, agreed)
        n = len(combined.ids)
        if n < MIN_RECORDS:
            why = f"Annotators judged {n} records; at least {MIN_RECORDS} are needed."
            return self.unmeasured(subject, why, "annotators", n)
        ends = mean_interval(combined.average) or (0.0, 1.0)
        agreement = agreement_of(votes)
        low, rate, high = combined.means()
        return self.found(
            subject,
            verdict_of(ends),
            f"{'Most annotators say' if agreed is None else 'Annotators agreed'} that"
            f" {100 * rate:.1f}% of {n:,} records are feasible with search (95% interval"
            f" {100 * ends[0]:.1f} to {100 * ends[1]:.1f}) and {100 * alone.average.mean():.1f}%"
            f" without; {100 * FEASIBLE:.0f}% is the threshold. All annotators of a record say so"
            f" of {100 * low:.1f}%, and at least one of {100 * high:.1f}%."
            f" {agreement_words(agreement)}",
            score=rate,
            interval=ends,
            n=n,
            classes={},
            feature="annotators",
            records=[i for i, v in zip(combined.ids, combined.lower, strict=True) if v == 0],
            details={
                "lower": low,
                "upper": high,
                "average": rate,
                "agreement": agreement,
                "answers": [
                    {"answer": words, "votes": votes.filter(answer=answer).height}
                    for answer, words in WORDS.items()
                ],
                **hint_counts(subject),
                "readings": [
                    _row("annotators", "with search", n, low, rate, high),
                    _row("annotators", WITH[ALONE], n, *alone.means()),
                ],
            },
        )

    def _by_judge(
        self, subject: Subject, votes: pl.DataFrame | None, agreed: pl.DataFrame | None
    ) -> Findings:
        """One finding for each reading."""
        judge = subject.context.judge
        for reading in (PROMISED, RESULTS, ALONE):
            if reading in judge.readings(subject):
                yield self._judged(subject, reading, votes, agreed)
                continue
            why = (
                "There are no search results to show the judge: pass `provider`, or audit an"
                " enriched dataset."
            )
            yield self.unmeasured(subject, why, f"{judge.name}, {WITH[reading]}", 0)

    def _judged(
        self,
        subject: Subject,
        reading: Reading,
        votes: pl.DataFrame | None,
        agreed: pl.DataFrame | None,
    ) -> Finding:
        """What the judge answered; answers that failed are null and counted."""
        judge, seed = subject.context.judge, subject.seed
        label = f"{judge.name}, {WITH[reading]}"
        replies: Mapping[str, Opinion | None] = judge.opinions(subject, reading, seed)
        opinions = {record: opinion for record, opinion in replies.items() if opinion is not None}
        n, nulls = len(opinions), len(replies) - len(opinions)
        if n < MIN_RECORDS:
            why = f"The judge answered for {n} of {len(replies)} records; {MIN_RECORDS} are needed."
            return self.unmeasured(subject, why, label, n)
        judged = {record: opinion.feasible(reading) for record, opinion in opinions.items()}
        answers = np.array([*judged.values()], dtype=np.float64)
        ends, rate = mean_interval(answers) or (0.0, 1.0), float(answers.mean())
        beside = compare(judged, votes, reading, agreed)
        no = [record for record, feasible in judged.items() if not feasible]
        standing = f" It is {judge.standing}." if judge.standing else ""
        return self.found(
            subject,
            verdict_of(ends) if beside.validated else capped(verdict_of(ends)),
            f"{label}: {100 * rate:.1f}% of {n:,} records judged feasible (95% interval"
            f" {100 * ends[0]:.1f} to {100 * ends[1]:.1f}); {nulls} answers failed."
            f" {beside.sentence()}{standing}",
            score=rate,
            interval=ends,
            n=n,
            classes={},
            feature=label,
            records=no,
            details={
                "failed_answers": nulls,
                "validated": beside.validated,
                "compared": vars(beside),
                "answers": _tally(
                    (opinion.answer for opinion in opinions.values()), get_args(Answer), "answer"
                ),
                "missing": _tally(
                    (kind for opinion in opinions.values() for kind in set(opinion.missing)),
                    get_args(Kind),
                    "kind",
                ),
                "explanations": [
                    {
                        "record": record,
                        "answer": opinions[record].answer,
                        "missing": ", ".join(opinions[record].missing),
                        "explanation": opinions[record].rationale,
                    }
                    for record in no[:EXPLANATIONS_SHOWN]
                ],
                "readings": [_row(judge.name, WITH[reading], n, rate, rate, rate)],
            },
        )


CHECK = Feasibility()


def _row(by: str, reading: str, n: int, lower: float, average: float, upper: float) -> JsonObject:
    """A line of the table that sets annotators, their bounds and the model beside one another."""
    shares = {"lower": lower, "average": average, "upper": upper}
    return {"by": by, "reading": reading, "records": n, **shares}


def _tally(values: Iterable[str], every: tuple[str, ...], name: str) -> list[JsonObject]:
    counts = Counter(values)
    return [{name: value, "records": counts[value]} for value in every]


def hint_counts(subject: Subject) -> JsonObject:
    signs = hints(subject.rows.drop_nulls("text"))["signals"].explode().drop_nulls()
    tally = signs.rename("signal").value_counts(name="records").sort("signal")
    return {"hints": tally.to_dicts()}


def verdict_of(interval: tuple[float, float]) -> Verdict:
    low, high = interval
    return "fail" if high < FEASIBLE else "pass" if low >= FEASIBLE else "warn"


def capped(verdict: Verdict) -> Verdict:
    """An unvalidated judge can raise a doubt, not settle it: no pass and no fail."""
    return {"pass": "inconclusive", "fail": "warn"}.get(verdict, verdict)  # type: ignore[return-value]
