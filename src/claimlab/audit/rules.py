"""Which findings call for what: written rules, each of them data, a sentence and what carries it
out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from claimlab.audit.remedy import (
    Remedy,
    baseline,
    clean,
    draw_again,
    fix,
    hold_out,
    look,
    mask,
    mask_typing,
    review,
    scored,
    scored_by_feature,
    show,
    split_by,
    with_and_without_evidence,
)
from claimlab.core.finding import Finding, Verdict

Action = Literal["split", "drop", "report", "review", "collect", "clean"]
ALARMS: tuple[Verdict, ...] = ("fail", "warn")


@dataclass(frozen=True)
class Rule:
    """Findings of `checks` (of all their features, or those that begin with `feature`) call for
    `sentence`, which `remedy` carries out.

    The fields of a sentence: `names` and `scored` (features, the latter with scores), `first` (the
    most severe), `top` (its score), `each` and `them` ("it" for one), `counts`, and `share`,
    `column` and `words` of the most severe finding. `reason` is what a table says of a single
    finding. `labelled`: only where there is a labelled record, or only where there is none.
    """

    checks: tuple[str, ...]
    action: Action
    sentence: str
    remedy: Remedy
    reason: str = "{difference} points"
    feature: str | tuple[str, ...] = ""
    verdicts: tuple[Verdict, ...] = ALARMS
    labelled: bool | None = None

    def matches(self, finding: Finding) -> bool:
        named = not self.checks or finding.check in self.checks
        fits = self.labelled is None or self.labelled == bool(finding.n)
        return (
            named
            and fits
            and finding.verdict in self.verdicts
            and (finding.feature or "").startswith(self.feature)
        )


RULES = (
    Rule(
        ("one-class",),
        "collect",
        "No record has a label that this audit knows. If the files have one, import them again and"
        " name its column; these are the labels as they were written:",
        show("label_raw"),
        "no labels",
        verdicts=("fail",),
        labelled=False,
    ),
    Rule(
        ("one-class",),
        "collect",
        "Add records of another class: a detector cannot be trained on one class. These are the"
        " labels as they were written, where another may be left out:",
        show("label_raw"),
        "fewer than two classes",
        verdicts=("fail",),
    ),
    Rule(
        ("one-class",),
        "report",
        "Report results per class: one class is rare.",
        scored,
        "a class under 5%",
    ),
    Rule(
        ("copies",),
        "clean",
        "Clean first: {count} records are copies of an earlier one ({share} of all), and how often"
        " a text occurs gives its label away (macro-F1 {top}).",
        clean,
        "{share} are copies",
    ),
    Rule(
        ("near-duplicates",),
        "split",
        "Do not report a random-split score: {share} of the test records have a near-duplicate in"
        " train. Keep near-duplicates on one side.",
        split_by("near-duplicates"),
        "{share} of test leaks",
        feature="across a random",
    ),
    Rule(
        ("near-duplicates",),
        "split",
        "Do not report a score on the given split: {share} of the test records have a"
        " near-duplicate in train. Keep near-duplicates on one side, or remove them from the test"
        " set.",
        split_by("near-duplicates"),
        "{share} of test leaks",
        feature="across",
    ),
    Rule(
        ("paraphrases",),
        "report",
        "Report the score without paraphrases, too: {share} of the test records are paraphrases of"
        " a training record. Review which of them to keep.",
        review("keep"),
        "{share} of test leaks",
    ),
    Rule(
        ("source", "author", "topic", "event"),
        "split",
        "{Columns} {give} the label away ({scored}): do not give {them} to a model, and hold out"
        " whole values or report results per value.",
        hold_out,
        "{pure} one-class values",
    ),
    Rule(
        ("url",),
        "split",
        "The site behind a URL gives the label away (macro-F1 {top}): hold out whole sites or"
        " report results per site.",
        split_by("domain"),
        "{pure} one-class sites",
        feature="domain",
    ),
    Rule(
        ("url",),
        "clean",
        "Remove URLs from the texts: their presence gives the label away (macro-F1 {top}).",
        mask("urls"),
    ),
    Rule(
        ("time",),
        "report",
        "The classes differ in the time of day or week ({scored}): do not give times to a model,"
        " and report what they reach alone.",
        baseline,
        feature=("hour", "weekday"),
    ),
    Rule(
        ("time",),
        "split",
        "The classes were collected at different times ({scored}): train on the past and test on"
        " what comes later.",
        split_by("time"),
    ),
    Rule(
        ("language",),
        "report",
        "Report results by 'language': the language alone gives the label away (macro-F1 {top}).",
        scored_by_feature,
        "{pure} one-class values",
    ),
    Rule(
        ("identifiers",),
        "drop",
        "Do not give {columns} to a model: {each} alone gives the label away (macro-F1 {top}), and"
        " no split changes that. Report what {each} reaches alone.",
        baseline,
    ),
    Rule(
        ("order",),
        "split",
        "Shuffle the records before you split them: the position in the file gives the label away"
        " (macro-F1 {top}). A split by group shuffles.",
        draw_again,
    ),
    Rule(
        ("text-columns",),
        "report",
        "Next to every score, report what a model reaches that reads {columns} instead of the claim"
        " (macro-F1 {top}).",
        baseline,
    ),
    Rule(
        ("columns",),
        "drop",
        "Drop {columns} before training: {each} alone gives the label away (macro-F1 {top}). No"
        " detector here reads {them}; report what {each} would reach.",
        baseline,
    ),
    Rule(
        ("missing",),
        "drop",
        "Drop the column '{column}', or fill it for every class: which columns are filled gives the"
        " label away (macro-F1 {top}). Report what that alone reaches.",
        baseline,
        "mostly '{column}'",
    ),
    Rule(
        ("balance",),
        "split",
        "Draw the split again with the same label shares on every side.",
        draw_again,
        "label shares differ",
        feature="split",
    ),
    Rule(
        ("balance",),
        "report",
        "Report results by {names}: label shares differ between these subgroups.",
        scored_by_feature,
        "Cramér's V {v}",
    ),
    Rule(
        ("giveaways",),
        "clean",
        "Mask words that occur almost only in one class ({words}), report the score with and"
        " without them, and audit the masked data again.",
        mask("giveaways"),
        "{words}",
        feature="one-sided words",
    ),
    Rule(
        ("giveaways",),
        "clean",
        "Mask words that occur almost only in one class ({words}), report the score with and"
        " without them, and audit the masked data again: together they reach a macro-F1 of {top}.",
        mask("giveaways"),
        "{words}",
    ),
    Rule(
        ("surface",),
        "clean",
        "Normalise how the texts are typed before training, and audit the result again: it gives"
        " the label away ({scored}).",
        mask_typing,
    ),
    Rule(
        ("length", "keywords"),
        "report",
        "Next to every score of a model, report what simple features reach on the same split:"
        " {scored}.",
        baseline,
    ),
    Rule(
        ("identical-texts", "near-duplicates", "url-conflicts"),
        "review",
        "Review records whose labels contradict each other ({counts}), or set them aside.",
        fix,
        "{count} records conflict",
    ),
    Rule(
        ("label-errors",),
        "review",
        "Review the {count} labels that a text model doubts; the surest come first in the table.",
        review("label"),
        "{share} are suspect",
    ),
    Rule(
        ("evidence",),
        "report",
        "Next to every score with evidence, report the score without it: the claim alone reaches a"
        " macro-F1 of {top}.",
        with_and_without_evidence,
        feature="claim",
    ),
    Rule(
        ("evidence",),
        "report",
        "Next to every score, report what a model reaches that reads the evidence alone (macro-F1"
        " {top}), and check how the evidence was collected.",
        baseline,
        feature="evidence",
    ),
    Rule(
        ("evidence",),
        "review",
        "Review the {count} labels whose rationale reads like that of another label.",
        review("label"),
        "{share} are suspect",
    ),
    Rule(
        ("feasibility",),
        "report",
        "Report results separately for claims that can be checked: only {top}% of the claims can."
        " Review the others.",
        review("feasibility"),
        "can be checked",
    ),
    # A check of another package, or one that has no rule of its own yet.
    Rule(
        (),
        "report",
        "Look at {checks} before you report a score, and say what was found.",
        look,
        "see the full sentence",
    ),
)


def rule_for(finding: Finding) -> Rule:
    """The first rule that is meant for this finding; the last rule is meant for all."""
    return next(rule for rule in RULES if rule.matches(finding))
