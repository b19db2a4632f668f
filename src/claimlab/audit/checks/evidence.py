"""For data with evidence: does the label follow from both, or does the claim or the evidence alone
give it away?

One text model reads the claim, the evidence, and both (with the words of the claim that the
evidence lacks). Rationales of annotators are compared with the labels: those that read like another
label are rows to review.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from claimlab.audit import fair
from claimlab.audit.check import Context
from claimlab.audit.checks.label_errors import MIN_ROWS, review
from claimlab.audit.judge import stored
from claimlab.audit.rule import GAIN
from claimlab.audit.shortcut import FairCheck, noted, sampled
from claimlab.audit.subject import Subject
from claimlab.audit.text_model import TextScore, tested, text_score
from claimlab.core.finding import Finding
from claimlab.core.stats.interval import difference
from claimlab.core.types import JsonObject

MAX_ROWS = 2_000
CLAIM, EVIDENCE, BOTH = "claim alone", "evidence alone", "claim and evidence"
_WORD = re.compile(r"\w\w+")


class Evidence(FairCheck):
    name = "evidence"
    title = "Evidence"
    question = "Does the claim alone, or the evidence alone, give the label away?"
    rule = (
        "A text model reads the claim, the evidence, and both. Evidence alone: fail or warn by the"
        " rule of shortcuts. Claim alone: warn when it beats its best baseline by that rule and the"
        " evidence adds surely less than 5 points, pass when it does not beat it or the evidence"
        " surely adds to it, otherwise inconclusive. Rationales: the rule of `label-errors`."
    )

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        findings = [*self._texts(subject, context), *self._rationales(subject, context)]
        why = "The records have no evidence with a text, and no rationales."
        return findings or [self.unmeasured(why, subject.n)]

    def _texts(self, subject: Subject, context: Context) -> list[Finding]:
        pieces = stored(subject)
        has = subject.rows["id"].is_in(list(pieces)) & subject.rows["text"].is_not_null()
        if not has.any():
            return []
        whole = subject.take(np.flatnonzero(has.to_numpy()))
        read = pl.Series([" ".join(pieces[record]) for record in whole.ids], dtype=pl.String)
        part = sampled(whole, context, MAX_ROWS, texts=whole.normal_text + "\n" + read).subject
        reason = fair.unmeasurable(part, "groups", context.settings, context.seed)
        if reason is not None:
            return [noted(self.unmeasured(reason, part.n), part)]
        claims = part.rows["text"]
        evidence = pl.Series([" ".join(pieces[record]) for record in part.ids], dtype=pl.String)
        texts = {CLAIM: claims, EVIDENCE: evidence, BOTH: together(claims, evidence)}
        scores = {name: text_score(part, context, text) for name, text in texts.items()}
        details = {
            "readings": [_row(name, score) for name, score in scores.items()],
            "with_evidence": part.n,
        }
        return [
            self._claim(part, context, scores, details),
            noted(
                fair.finding(
                    self.name,
                    tested(part, context, scores[EVIDENCE]),
                    context.settings.rule,
                    why="A text model that reads the evidence alone",
                    feature=EVIDENCE,
                    details=details,
                ),
                part,
            ),
        ]

    def _claim(
        self, part: Subject, context: Context, scores: dict[str, TextScore], details: JsonObject
    ) -> Finding:
        rule, claim, both = context.settings.rule, scores[CLAIM], scores[BOTH]
        groups = fair.deal_of(part, "groups", context.settings, context.seed).groups
        gain, ends = difference(
            part.y, claim.answers, both.answers, groups, len(part.classes), seed=context.seed
        )
        finding = fair.finding(
            self.name,
            tested(part, context, claim),
            rule,
            why="A text model that reads the claim alone",
            feature=CLAIM,
            details={**details, "gain": gain, GAIN: ends},
        )
        low, high = (100 * end for end in ends)
        finding.verdict = rule.given(finding.verdict, ends)
        finding.why += (
            f" With the evidence it is {100 * gain:+.1f} points ({low:+.1f} to {high:+.1f})."
        )
        return noted(finding, part)

    def _rationales(self, subject: Subject, context: Context) -> list[Finding]:
        written = rationales(subject)
        if written is None:
            return []
        whole = subject.take(np.flatnonzero(written.is_not_null().to_numpy()))
        read = whole.normal_text.fill_null("") + "\n" + written.drop_nulls()
        part = sampled(whole, context, MAX_ROWS, texts=read).subject
        known = dict(zip(subject.ids, written.to_list(), strict=True))
        texts = pl.Series([known[record] for record in part.ids], dtype=pl.String)
        return [
            review(
                self.name,
                part,
                context,
                texts,
                reader="reads only the rationale",
                feature="rationale",
            )
        ]


def together(claims: pl.Series, evidence: pl.Series) -> pl.Series:
    """Claim, evidence, and how they meet: marked words of the evidence, words of the claim that it
    lacks, the share of those that it has. A bag of words without these could not tell whether the
    evidence is about the claim.
    """
    out = []
    for claim, piece in zip(
        claims.fill_null("").to_list(), evidence.fill_null("").to_list(), strict=True
    ):
        claim_words, there = _WORD.findall(claim.lower()), _WORD.findall(piece.lower())
        lacking = [word for word in claim_words if word not in set(there)]
        share = round(10 * (1 - len(lacking) / max(1, len(claim_words))))
        marked = [
            f"shared_{share}",
            *(f"lacking_{word}" for word in lacking),
            *(f"evidence_{word}" for word in there),
        ]
        out.append(" ".join([claim, *marked]))
    return pl.Series(out, dtype=pl.String)


def rationales(subject: Subject) -> pl.Series | None:
    """What annotators wrote on each record, joined; null where nothing was, or too few records have
    any.
    """
    table = subject.table("annotations")
    if table is None:
        return None
    written = table.drop_nulls("rationale").select("record_id", "rationale")
    joined = (
        written.sort("record_id", "rationale")
        .group_by("record_id")
        .agg(pl.col("rationale").str.join(" "))
    )
    of_row = subject.rows.select(record_id="id").join(
        joined, on="record_id", how="left", maintain_order="left"
    )
    return of_row["rationale"] if of_row["rationale"].count() >= MIN_ROWS else None


def _row(name: str, score: TextScore) -> JsonObject:
    low, high = score.interval
    return {"reads": name, "macro_f1": score.score, "low": low, "high": high}


CHECK = Evidence()
