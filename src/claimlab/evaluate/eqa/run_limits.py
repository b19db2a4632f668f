"""What was not checked of the runs: shifts that none tests, answers that are missing, models that
may have known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from claimlab.core.words import several, several_of, verb
from claimlab.detect.detector import DETECTORS
from claimlab.evaluate.contamination.result import TITLES
from claimlab.evaluate.eqa.limit import Limit
from claimlab.evaluate.eqa.runs import EXAMPLES, Run
from claimlab.evaluate.eqa.shifts import SHIFTS, is_known_detector
from claimlab.evaluate.eqa.study import is_empty

if TYPE_CHECKING:
    from claimlab.evaluate.eqa.evidence import Evidence

IN_WORDS = (
    "The shifts are in free text, so that no run could be held against them. Write them as a form"
    " in the EQA file: "
    f'[shifts], and for each of {", ".join(SHIFTS)} a line such as time = "in scope" (or "out of'
    ' scope", "left open").'
)


def scope_limits(evidence: Evidence) -> Iterator[Limit]:
    """Shifts that were promised and not tested, and what the author left open."""
    if evidence.study.shifts is None:
        yield Limit("scope", "", IN_WORDS)
    for result in evidence.scope:
        if result.outcome == "not-tested":
            yield Limit("shift", "", result.sentence())
        for sentence in result.contradicted:
            yield Limit("shift", "", sentence)
    undecided = [
        f"{r.shift} ({SHIFTS[r.shift].words})" for r in evidence.scope if r.outcome == "left-open"
    ]
    if undecided:
        yield Limit(
            "scope",
            "",
            f"Neither in nor out of scope, by the author's own word: {', '.join(undecided)}.",
        )


def run_limits(evidence: Evidence) -> Iterator[Limit]:
    if not evidence.runs:
        yield Limit("run", "", "No evaluation run was given: no prediction was examined.")
        return
    if len(evidence.runs) == 1:
        yield Limit(
            "run",
            evidence.runs[0].name,
            "There is one run: how much the score depends on the seed is not known.",
        )
    audited = {a.digest for a in evidence.every_audit()}
    for run in evidence.runs:
        for sentence in _of_run(run):
            yield Limit("run", run.name, sentence)
        if run.digest not in audited:
            yield Limit(
                "run",
                run.name,
                f"The records it was evaluated on ('{run.dataset}') were not audited.",
            )


def _of_run(run: Run) -> Iterator[str]:
    n, withheld = run.table.height, int(run.table["abstained"].is_not_null().sum())
    missing = int((run.table["said"].is_null() & run.table["abstained"].is_null()).sum())
    trained = int((run.table["split"] == "train").fill_null(False).sum())
    if run.table["split"].null_count() == n:
        yield (
            "The records name no split: those that the method was trained on may be among those"
            " scored."
        )
    elif trained:
        yield f"{several_of(trained, n, 'scored record')} {verb(trained)} in the training set."
    if run.untouched:
        lacking = several(run.untouched, "labelled record")
        yield f"{lacking} without a prediction: left out, because no split was named."
    if missing:
        yield f"No answer for {several_of(missing, n, 'labelled record')}: counted as wrong."
    if withheld:
        yield (
            f"No verdict, for lack of evidence, on {several_of(withheld, n, 'labelled record')}:"
            " counted as wrong."
        )
    strange = run.table["said"].is_not_null() & ~run.table["said"].is_in(list(run.classes))
    others = int((strange & run.table["abstained"].is_null()).sum())
    if others:
        yield (
            f"{several(others, 'answer')} outside the labels ({', '.join(run.classes)}): counted as"
            " wrong."
        )
    if run.unlabelled:
        yield f"{several(run.unlabelled, 'record')} without a usable label: left out of the score."
    if run.strangers:
        yield (
            f"{several(run.strangers, 'prediction')} for records that the dataset does not have:"
            " left out."
        )
    if run.repeated:
        yield (
            f"{several(run.repeated, 'repeated prediction')} or without a record: the first of each"
            " was used."
        )
    if run.table["rationale"].null_count() == n:
        yield "It gives no rationale: a right answer for a wrong reason cannot be detected."


def contamination_limits(evidence: Evidence) -> Iterator[Limit]:
    """What is known of models that may have read the test records; by default, nothing."""
    measured = {report.digest for report in evidence.contamination}
    for dataset in evidence.datasets:
        if dataset.digest() not in measured and _may_know(evidence, dataset.digest()):
            sentence = (
                "Whether a pre-trained model has met the test records before was not checked."
            )
            yield Limit("contamination", dataset.name, sentence)
    own = {dataset.digest() for dataset in evidence.datasets}
    for report in evidence.contamination:
        if report.digest not in own:
            yield Limit(
                "contamination",
                report.dataset,
                "A contamination report on other records was not used.",
            )
            continue
        checks = {finding.check for finding in report.findings}
        for finding in report.findings:
            sentence = (
                f"{TITLES[finding.check]} ({finding.verdict.replace('-', ' ')}): {finding.why}"
            )
            yield Limit("contamination", report.dataset, sentence)
        unmeasured = (
            [name for name in TITLES if name not in checks]
            if _may_know(evidence, report.digest)
            else []
        )
        for check in unmeasured:
            yield Limit("contamination", report.dataset, f"{TITLES[check]}: not measured.")


def _may_know(evidence: Evidence, digest: str) -> bool:
    """Whether a run on these records may come from a pre-trained model: one that learned from
    training rows only cannot. Without a run on them, that of any other counts."""
    runs = [run for run in evidence.runs if run.digest == digest] or evidence.runs
    known = [
        is_known_detector(run) and DETECTORS.get(str(run.about.detector)).from_scratch
        for run in runs
    ]
    return not (known and all(known))


def inspection_limits(evidence: Evidence) -> Iterator[Limit]:
    if not evidence.runs:
        return
    for run in evidence.runs:
        for what, drawn in (("correct", run.correct), ("wrong", run.wrong)):
            if len(drawn) < EXAMPLES:
                yield Limit(
                    "inspection",
                    run.name,
                    f"Only {several(len(drawn), f'{what} prediction')} to inspect.",
                )
        if run.judgements or run.unused:
            yield from (Limit("inspection", run.name, sentence) for sentence in _judged(run))
    judged = any(_open_examples(run) < len(run.examples) for run in evidence.runs)
    if is_empty(evidence.study.inspection.notes) and not judged:
        yield Limit("inspection", "", "No notes on the example predictions were given.")


def _judged(run: Run) -> Iterator[str]:
    if missing := _open_examples(run):
        yield (
            "No judgement of an annotator on"
            f" {several_of(missing, len(run.examples), 'example prediction')}."
        )
    if run.unused:
        yield (
            f"{several(run.unused, 'judgement')} of other texts or predictions than this run's: not"
            " used."
        )


def _open_examples(run: Run) -> int:
    """How many of the example predictions were not decided in a review."""
    decided = {
        record for record, judgement in run.judgements.items() if judgement.value is not None
    }
    return sum(row["id"] not in decided for row in run.examples)
