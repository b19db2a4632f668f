"""Can the claims be checked at all? Three answers: feasible, feasible with web search, not feasible.

Answers come from people (annotation table, question "feasibility") or from a model handed in as a judge. With neither,
it is not measured. People are combined as the guide does: with and without search both count as feasible; a tie is
"not feasible" for the lower bound and "feasible" for the upper; the average of the two is the figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from claimlab.audit.check import Context, not_measured
from claimlab.audit.hints import hints
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding, Verdict
from claimlab.core.labels import fold
from claimlab.core.stats.agreement import kappa
from claimlab.core.stats.interval import mean_interval

THRESHOLD = 0.75
MIN_RECORDS = 30
QUESTION = "feasibility"
# How datasets and people spell the three answers; LIAR-New calls them possible, hard and impossible.
ANSWERS = {
    "feasible": "feasible", "possible": "feasible", "yes": "feasible",
    "feasible with web search": "search", "feasible with search": "search", "hard": "search",
    "not feasible": "no", "infeasible": "no", "impossible": "no", "no": "no",
}  # fmt: skip
WORDS = {"feasible": "feasible", "search": "feasible with web search", "no": "not feasible"}


@dataclass(frozen=True)
class Combined:
    """Per record: share of feasible votes turned into the lower, upper and average reading."""

    ids: list[str]
    lower: np.ndarray[Any, np.dtype[np.float64]]
    upper: np.ndarray[Any, np.dtype[np.float64]]

    @property
    def average(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return (self.lower + self.upper) / 2


class Feasibility:
    name = "feasibility"
    title = "Feasibility"
    question = "Can the claims be checked at all?"
    protocols = ("fair",)
    rule = (
        f"Fail when the 95 % interval of the feasible share lies below {100 * THRESHOLD:.0f} %, warn when it straddles "
        "it, pass when it lies above. A model judge that nobody has compared with people can only warn."
    )

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        found = []
        votes = people_votes(subject)
        if votes is not None:
            found.append(self._by_people(subject, votes))
        if context.judge is not None:
            found += self._by_judge(subject, context)
        if not found:
            why = "Nobody has judged it: there are no feasibility annotations, and no model judge was handed in."
            missing = not_measured(self.name, "fair", why, n=subject.n)
            missing.details = hint_counts(subject)
            found.append(missing)
        return found

    def _by_people(self, subject: Subject, votes: pl.DataFrame) -> Finding:
        combined = combine(votes)
        n = len(combined.ids)
        if n < MIN_RECORDS:
            why = f"People judged {n} records; at least {MIN_RECORDS} are needed."
            return not_measured(self.name, "fair", why, n=n, feature="people")
        rate, interval = float(combined.average.mean()), mean_interval(combined.average) or (0.0, 1.0)
        agreement = agreement_of(votes)
        low, high = float(combined.lower.mean()), float(combined.upper.mean())
        return Finding(
            check=self.name,
            protocol="fair",
            verdict=verdict_of(interval),
            why=f"People found {100 * rate:.1f} % of {n:,} records feasible with search (lower bound {100 * low:.1f}, "
            f"upper {100 * high:.1f}, 95 % interval {100 * interval[0]:.1f} to {100 * interval[1]:.1f}); "
            "75 % is the threshold. "
            + agreement_words(agreement),
            score=rate,
            interval=interval,
            n=n,
            feature="people",
            records=[i for i, v in zip(combined.ids, combined.lower, strict=True) if v == 0][:50],
            details={
                "lower": low, "upper": high, "average": rate, "agreement": agreement,
                "answers": answer_counts(votes), **hint_counts(subject),
            },
        )  # fmt: skip

    def _by_judge(self, subject: Subject, context: Context) -> list[Finding]:
        """One finding with web search and one without; answers that failed are null and counted."""
        out = []
        for search in (True, False):
            answers = context.judge.judge(subject, search=search, seed=context.seed)
            label = f"{context.judge.name}, {'with' if search else 'without'} search"
            known = np.array([a for a in answers.values() if a is not None], dtype=np.float64)
            nulls = len(answers) - len(known)
            if len(known) < MIN_RECORDS:
                why = f"The judge answered for {len(known)} of {len(answers)} records; {MIN_RECORDS} are needed."
                out.append(not_measured(self.name, "fair", why, n=len(known), feature=label))
                continue
            interval = mean_interval(known) or (0.0, 1.0)
            out.append(
                Finding(
                    check=self.name,
                    protocol="fair",
                    verdict=verdict_of(interval) if context.judge.validated else capped(verdict_of(interval)),
                    why=f"{label}: {100 * known.mean():.1f} % of {len(known):,} records judged feasible (95 % interval "
                    f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f}); {nulls} answers failed. "
                    f"{context.judge.standing}",
                    score=float(known.mean()),
                    interval=interval,
                    n=len(known),
                    feature=label,
                    records=[i for i, a in answers.items() if a is False][:50],
                    details={"failed_answers": nulls, "validated": context.judge.validated},
                )
            )
        return out


def people_votes(subject: Subject) -> pl.DataFrame | None:
    """record_id, annotator, answer (feasible | search | no) from the annotation table; null when there are none."""
    table = subject.table("annotations")
    if table is None:
        return None
    asked = table.filter((pl.col("question") == QUESTION) & (pl.col("annotator_kind") == "human")).join(
        subject.dataset.records.select(record_id="id"), on="record_id", how="semi"
    )
    known = {v: ANSWERS.get(fold(v)) for v in asked["value"].drop_nulls().unique().to_list()}
    votes = asked.with_columns(
        pl.col("value").replace_strict(known, default=None, return_dtype=pl.String).alias("answer")
    ).drop_nulls("answer")
    return votes.select("record_id", "annotator", "answer") if votes.height else None


def combine(votes: pl.DataFrame) -> Combined:
    grouped = (
        votes.group_by("record_id", maintain_order=True)
        .agg((pl.col("answer") != "no").mean().alias("share"))
        .sort("record_id")
    )
    share = grouped["share"].to_numpy()
    return Combined(grouped["record_id"].to_list(), (share > 0.5).astype(float), (share >= 0.5).astype(float))


def agreement_of(votes: pl.DataFrame) -> dict[str, float | int] | None:
    """Plain agreement and Cohen's kappa over all pairs of annotators who judged the same record."""
    pairs = []
    for _, group in votes.group_by("record_id"):
        answers = [a != "no" for a in group.sort("annotator")["answer"].to_list()]
        pairs += list(combinations(answers, 2))
    if not pairs:
        return None
    one, other = (list(answers) for answers in zip(*pairs, strict=True))
    agree = float(np.mean([a == b for a, b in pairs]))
    # Which of two annotators comes first means nothing: each pair counts both ways round.
    beyond = kappa(one + other, other + one)
    return {"pairs": len(pairs), "agreement": agree, "kappa": 1.0 if beyond is None else beyond}


def agreement_words(agreement: dict[str, float | int] | None) -> str:
    if agreement is None:
        return "Each record has one annotator, so agreement is not known."
    return f"Annotators agree on {100 * agreement['agreement']:.0f} % of pairs (kappa {agreement['kappa']:.2f})."


def answer_counts(votes: pl.DataFrame) -> list[dict[str, Any]]:
    tally = dict(votes["answer"].value_counts().iter_rows())
    return [{"answer": WORDS[k], "votes": int(tally.get(k, 0))} for k in WORDS]


def hint_counts(subject: Subject) -> dict[str, Any]:
    found = hints(subject.rows.filter(pl.col("text").is_not_null()))
    tally = dict(found["signals"].explode().drop_nulls().value_counts().sort("signals").iter_rows())
    return {"hints": [{"signal": k, "records": v} for k, v in tally.items()]}


def verdict_of(interval: tuple[float, float]) -> Verdict:
    return "fail" if interval[1] < THRESHOLD else "pass" if interval[0] >= THRESHOLD else "warn"


def capped(verdict: Verdict) -> Verdict:
    """A judge that nobody has compared with people can raise a doubt, not settle it: no pass and no fail."""
    return "warn" if verdict in ("pass", "fail") else verdict


CHECK = Feasibility()
