"""For data with evidence: does the label follow from both, or does the claim or the evidence alone
give it away?

One text model reads the claim, the evidence, and both (with the words of the claim that the
evidence lacks). Rationales of annotators are compared with the labels: those that read like another
label are rows to review.
"""

from __future__ import annotations

import re

import polars as pl

from claimlab.audit import fair
from claimlab.audit.check import Findings, noted, sampled
from claimlab.audit.checks.label_errors import MIN_ROWS, LabelReview
from claimlab.audit.judge import stored
from claimlab.audit.rule import GAIN
from claimlab.audit.subject import Subject
from claimlab.audit.text_model import TextScore, against_baselines, change, text_score
from claimlab.core.finding import Finding
from claimlab.core.types import JsonObject

MAX_ROWS = 2_000
CLAIM, EVIDENCE, BOTH = "claim alone", "evidence alone", "claim and evidence"
_WORD = re.compile(r"\w\w+")


class EvidenceCheck(LabelReview):
    name = "evidence"
    title = "Evidence"
    question = "Does the claim alone, or the evidence alone, give the label away?"
    rule = (
        "A text model reads the claim, the evidence, and both. Evidence alone: fail or warn by the"
        " rule of shortcuts. Claim alone: warn when it beats its best baseline by that rule and the"
        " evidence adds surely less than 5 points, pass when it does not beat it or the evidence"
        " surely adds to it, otherwise inconclusive. Rationales: the rule of `label-errors`."
    )

    def measure(self, subject: Subject) -> list[Finding]:
        findings = [*self._texts(subject), *self._rationales(subject)]
        why = "The records have no evidence with a text, and no rationales."
        return findings or [self.absent(subject, why)]

    def _texts(self, subject: Subject) -> Findings:
        pieces = stored(subject)
        has = subject.rows["id"].is_in(list(pieces)) & subject.rows["text"].is_not_null()
        if not has.any():
            return
        whole = subject.where(has)
        read = pl.Series([" ".join(pieces[record]) for record in whole.ids], dtype=pl.String)
        part = sampled(whole, MAX_ROWS, texts=whole.normal_text + "\n" + read)
        reason = fair.unmeasurable(part)
        if reason is not None:
            yield noted(self.unmeasured(part, reason), part)
            return
        claims, evidence = part.rows["text"], part.aligned(whole, read)
        texts = {CLAIM: claims, EVIDENCE: evidence, BOTH: together(claims, evidence)}
        scores = {name: text_score(part, text) for name, text in texts.items()}
        details = {
            "readings": [
                {"reads": name, "macro_f1": score.score, "low": ends[0], "high": ends[1]}
                for name, score in scores.items()
                for ends in [score.interval]
            ],
            "with_evidence": part.n,
        }
        gain, ends = change(part, scores[CLAIM], scores[BOTH])
        finding = self._alone(part, scores[CLAIM], CLAIM, {**details, "gain": gain, GAIN: ends})
        finding.verdict = part.settings.rule.given(finding.verdict, ends)
        finding.why += (
            f" With the evidence it is {100 * gain:+.1f} points ({100 * ends[0]:+.1f} to"
            f" {100 * ends[1]:+.1f})."
        )
        yield noted(finding, part)
        yield noted(self._alone(part, scores[EVIDENCE], EVIDENCE, details), part)

    def _alone(self, part: Subject, score: TextScore, name: str, details: JsonObject) -> Finding:
        why = f"A text model that reads the {name}"
        return self.judged(part, against_baselines(part, score), why, feature=name, details=details)

    def _rationales(self, subject: Subject) -> Findings:
        written = rationales(subject)
        if written is None:
            return
        whole = subject.where(written.is_not_null())
        read = whole.normal_text.fill_null("") + "\n" + written.drop_nulls()
        part = sampled(whole, MAX_ROWS, texts=read)
        texts = part.aligned(subject, written)
        yield self.review(part, texts, "reads only the rationale", "rationale")


CHECK = EvidenceCheck()


def together(claims: pl.Series, evidence: pl.Series) -> pl.Series:
    """Claim, evidence, and how they meet: marked words of the evidence, words of the claim that it
    lacks, the share of those that it has. A bag of words without these could not tell whether the
    evidence is about the claim.
    """
    out = []
    for claim, piece in zip(claims.fill_null(""), evidence.fill_null(""), strict=True):
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
    of_row = subject.beside(joined)["rationale"]
    return of_row if of_row.count() >= MIN_ROWS else None
