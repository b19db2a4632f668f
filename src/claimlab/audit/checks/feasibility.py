"""Can the claims be checked at all? Three answers: feasible, feasible with web search, not
feasible.

Answers come from annotators (annotation table, question "feasibility") or from a model that is
passed as a judge. With neither, it is not measured. Annotators are combined as the guide does: with
and without search both count as feasible; a tie is "not feasible" for the lower bound and
"feasible" for the upper; the average of the two is the figure.

What annotators said about feasibility, and how their answers are combined and compared.

A cheap list of signals that a text may be impossible to check. Shown as hints, never as a
score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

import numpy as np
import polars as pl

from claimlab.audit.check import FairCheck, Findings
from claimlab.audit.judge import ALONE, PROMISED, RESULTS, Answer, Kind, Opinion, Reading
from claimlab.audit.rule import FEASIBLE
from claimlab.audit.subject import Subject
from claimlab.core import packaged
from claimlab.core.finding import Finding, Verdict
from claimlab.core.labels import fold
from claimlab.core.stats.agreement import bounds, kappa
from claimlab.core.stats.interval import mean_interval
from claimlab.core.stats.scores import Floats
from claimlab.core.types import JsonObject

QUESTION = "feasibility"
# How datasets and annotators spell the three answers; LIAR-New calls them possible, hard and
# impossible.
ANSWERS = {
    "feasible": "feasible",
    "possible": "feasible",
    "yes": "feasible",
    "feasible with web search": "search",
    "feasible with search": "search",
    "hard": "search",
    "not feasible": "no",
    "infeasible": "no",
    "impossible": "no",
    "no": "no",
}
WORDS = {"feasible": "feasible", "search": "feasible with web search", "no": "not feasible"}
# kappa from which a judge counts as agreeing with annotators (Landis and Koch, 1977)
MODERATE = 0.4
MIN_COMPARED = 30
MIN_RECORDS = 30
SHOWN = 50  # explanations of a judge
WITH = {ALONE: "without search", PROMISED: "with search (promised)", RESULTS: "with search results"}


class Feasibility(FairCheck):
    name = "feasibility"
    title = "Feasibility"
    question = "Can the claims be checked at all?"
    rule = (
        f"Fail when the 95% interval of the feasible share lies below {100 * FEASIBLE:.0f}%, warn"
        " when it straddles it, pass when it lies above. A model judge that was not compared with"
        f" annotators on at least {MIN_COMPARED} records, or agrees with them with a kappa below"
        f" {MODERATE}, is unvalidated: it can warn, but neither fail nor pass."
    )

    def measure(self, subject: Subject) -> list[Finding]:
        votes, judge = votes_of(subject), subject.context.judge
        findings = [] if votes is None else [self._by_annotators(subject, votes)]
        if judge is not None:
            findings += self._by_judge(subject, votes)
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

    def _by_annotators(self, subject: Subject, votes: pl.DataFrame) -> Finding:
        combined, alone = combine(votes), combine(votes, ALONE)
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
            f"Annotators found {100 * rate:.1f}% of {n:,} records feasible with search (lower bound"
            f" {100 * low:.1f}, upper {100 * high:.1f}, 95% interval {100 * ends[0]:.1f} to"
            f" {100 * ends[1]:.1f}) and {100 * alone.average.mean():.1f}% without;"
            f" {100 * FEASIBLE:.0f}% is the threshold. {agreement_words(agreement)}",
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

    def _by_judge(self, subject: Subject, votes: pl.DataFrame | None) -> Findings:
        """One finding for each reading."""
        judge = subject.context.judge
        for reading in (PROMISED, RESULTS, ALONE):
            if reading in judge.readings(subject):
                yield self._judged(subject, reading, votes)
                continue
            why = (
                "There are no search results to show the judge: pass `provider`, or audit an"
                " enriched dataset."
            )
            yield self.unmeasured(subject, why, f"{judge.name}, {WITH[reading]}", 0)

    def _judged(self, subject: Subject, reading: Reading, votes: pl.DataFrame | None) -> Finding:
        """What the judge answered; answers that failed are null and counted."""
        judge, seed = subject.context.judge, subject.seed
        label = f"{judge.name}, {WITH[reading]}"
        replies: Mapping[str, Opinion | None] = judge.opinions(subject, reading, seed)
        opinions = {record: one for record, one in replies.items() if one is not None}
        n, nulls = len(opinions), len(replies) - len(opinions)
        if n < MIN_RECORDS:
            why = f"The judge answered for {n} of {len(replies)} records; {MIN_RECORDS} are needed."
            return self.unmeasured(subject, why, label, n)
        judged = {record: one.feasible(reading) for record, one in opinions.items()}
        known = np.array([*judged.values()], dtype=np.float64)
        ends, rate = mean_interval(known) or (0.0, 1.0), float(known.mean())
        beside = compare(judged, votes, reading)
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
                    (one.answer for one in opinions.values()), get_args(Answer), "answer"
                ),
                "missing": _tally(
                    (kind for one in opinions.values() for kind in set(one.missing)),
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
                    for record in no[:SHOWN]
                ],
                "readings": [_row(judge.name, WITH[reading], n, rate, rate, rate)],
            },
        )


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


CHECK = Feasibility()


@dataclass(frozen=True)
class Combined:
    """Per record: share of feasible votes turned into the lower, upper and average reading."""

    ids: list[str]
    lower: Floats
    upper: Floats

    @property
    def average(self) -> Floats:
        return (self.lower + self.upper) / 2

    def means(self) -> tuple[float, float, float]:
        """The lower bound, the average and the upper bound of the feasible share."""
        return float(self.lower.mean()), float(self.average.mean()), float(self.upper.mean())

    def settled(self) -> dict[str, bool]:
        """The records without a tie."""
        rows = zip(self.ids, self.lower.tolist(), self.upper.tolist(), strict=True)
        return {record: low == 1.0 for record, low, high in rows if low == high}


@dataclass(frozen=True)
class Comparison:
    """A judge beside annotators, on the records that both answered for."""

    records: int
    agreement: float | None
    kappa: float | None

    @property
    def validated(self) -> bool:
        return self.records >= MIN_COMPARED and self.kappa is not None and self.kappa >= MODERATE

    def sentence(self) -> str:
        if self.records < MIN_COMPARED:
            return (
                f"The judge is unvalidated: it could be compared with annotators on {self.records}"
                f" records, and {MIN_COMPARED} are needed."
            )
        beyond = "not defined" if self.kappa is None else f"{self.kappa:.2f}"
        numbers = (
            f"{100 * (self.agreement or 0.0):.0f}% agreement with annotators on {self.records}"
            f" records, kappa {beyond}"
        )
        if self.validated:
            return f"The judge was compared: {numbers}."
        return f"The judge is unvalidated: {numbers}, and at least {MODERATE} is needed."


def votes_of(subject: Subject) -> pl.DataFrame | None:
    """record_id, annotator, answer (feasible | search | no) from the annotation table; null when
    there are none.
    """
    table = subject.table("annotations")
    if table is None:
        return None
    here = pl.col("record_id").is_in(subject.dataset.records["id"].implode())
    answers = table.filter(here, question=QUESTION, annotator_kind="human")
    known = {v: ANSWERS.get(fold(v)) for v in answers["value"].drop_nulls().unique()}
    votes = answers.with_columns(
        answer=pl.col("value").replace_strict(known, default=None, return_dtype=pl.String)
    ).drop_nulls("answer")
    return votes.select("record_id", "annotator", "answer") if votes.height else None


def combine(votes: pl.DataFrame, reading: Reading | None = None) -> Combined:
    """A tie goes down for the lower bound and up for the upper. Both kinds of feasible count, but
    for the reading without search."""
    feasible = pl.col("answer") == "feasible" if reading == ALONE else pl.col("answer") != "no"
    grouped = votes.group_by("record_id").agg(share=feasible.mean()).sort("record_id")
    return Combined(grouped["record_id"].to_list(), *bounds(grouped["share"].to_numpy()))


def agreement_of(votes: pl.DataFrame) -> dict[str, float | int] | None:
    """Plain agreement and Cohen's kappa over all pairs of annotators who judged the same record."""
    groups = votes.sort("record_id", "annotator").group_by("record_id", maintain_order=True)
    pairs = [
        pair for _, group in groups for pair in combinations((group["answer"] != "no").to_list(), 2)
    ]
    if not pairs:
        return None
    one, other = (list(answers) for answers in zip(*pairs, strict=True))
    agree = float(np.mean([a == b for a, b in pairs]))
    # Which of two annotators comes first means nothing: each pair counts both ways round.
    beyond = kappa(one + other, other + one)
    return {"pairs": len(pairs), "agreement": agree, "kappa": 1.0 if beyond is None else beyond}


def compare(judged: Mapping[str, bool], votes: pl.DataFrame | None, reading: Reading) -> Comparison:
    """The judge beside annotators, on records where they do not tie."""
    settled = combine(votes, reading).settled() if votes is not None else {}
    both = [(judged[record], settled[record]) for record in sorted(judged) if record in settled]
    if not both:
        return Comparison(0, None, None)
    one, other = (list(answers) for answers in zip(*both, strict=True))
    return Comparison(len(both), float(np.mean([a == b for a, b in both])), kappa(one, other))


def agreement_words(agreement: dict[str, float | int] | None) -> str:
    if agreement is None:
        return "Each record has one annotator, so agreement is not known."
    return (
        f"Annotators agree on {100 * agreement['agreement']:.0f}% of pairs (kappa"
        f" {agreement['kappa']:.2f})."
    )


def hints(rows: pl.DataFrame) -> pl.DataFrame:
    """Per record id, the names of the signals its text shows (a list, maybe empty). Unknown
    languages use English.
    """
    if not rows.height:
        return pl.DataFrame(schema={"id": pl.String, "signals": pl.List(pl.String)})
    signals = []
    language = pl.col("language").fill_null("eng")
    for name, by_language in packaged.toml("claimlab.audit", "ambiguity.toml").items():
        others = [code for code in by_language if code not in ("eng", "any")]
        seen = [
            (~language.is_in(others) if code == "eng" else language == code)
            & pl.col("text").str.contains(f"(?i)(?:{'|'.join(patterns)})")
            for code, patterns in by_language.items()
            if patterns
        ]
        signals.append(pl.when(pl.any_horizontal(seen).fill_null(False)).then(pl.lit(name)))
    return rows.select("id", signals=pl.concat_list(signals).list.drop_nulls())
