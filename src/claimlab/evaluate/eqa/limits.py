"""What was NOT checked, written by the program from what it did not find. No author can leave a
line out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from claimlab.audit.check import CHECKS, PROTOCOLS, caveats
from claimlab.audit.result import Audit
from claimlab.audit.views.wording import check_title, finding_title, ordered
from claimlab.claims.contamination.result import TITLES, Contamination
from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.core.finding import UNMEASURED
from claimlab.core.words import several, several_of, verb
from claimlab.detect.detector import DETECTORS
from claimlab.evaluate.eqa.shifts import SHIFTS, is_known_detector
from claimlab.evaluate.eqa.study import EXAMPLES_SHOWN, is_empty
from claimlab.tasks import own_task

if TYPE_CHECKING:
    from claimlab.evaluate.eqa.evidence import StudyEvidence
    from claimlab.evaluate.eqa.runs import ExaminedRun

_WORDS = packaged.toml("claimlab.evaluate.eqa", "limits.toml")
KINDS: dict[str, str] = _WORDS["kinds"]
BEYOND: list[str] = _WORDS["beyond"]
IN_WORDS = (
    "The shifts are in free text, so that no run could be held against them. Write them as a form"
    " in the EQA file: "
    f'[shifts], and for each of {", ".join(SHIFTS)} a line such as time = "in scope" (or "out of'
    ' scope", "left open").'
)
STRAY = (
    "A saved audit of this name was made on other records than the study's datasets: it was not"
    " used."
)
NO_AUDIT, ONLY_STANDARD, NOT_PUBLISHED = (
    "No audit was given.",
    "No column other than the standard ones was tested.",
    "The published protocol (cdl) was not run: do not compare these scores with published ones.",
)


@dataclass(frozen=True)
class Limit:
    """One thing that was not checked, or was found and not ruled out. `about` names the dataset or
    run.
    """

    kind: str
    about: str
    sentence: str


Gap = tuple[str, str]  # the kind of a limit, and its sentence


def limits(evidence: StudyEvidence) -> list[Limit]:
    """Every limit of the study's assurance, grouped in the order of `KINDS`."""
    gaps = [Limit(kind, "", sentence) for kind, sentence in _scope(evidence)]
    for dataset, audits in zip(evidence.datasets, evidence.audits, strict=True):
        rules = (
            _of_data(dataset, audits, evidence),
            _of_checks(audits),
            _of_findings(audits),
            _problems(audits),
            _answered_by_models(dataset),
        )
        gaps += [Limit(kind, dataset.name, words) for rule in rules for kind, words in rule]
    gaps += [Limit("not-audited", audit.dataset, STRAY) for audit in evidence.strays]
    gaps += [*_runs(evidence), *_contamination(evidence), *_inspection(evidence)]
    gaps += [Limit("beyond", "", sentence) for sentence in BEYOND]
    return sorted(gaps, key=lambda limit: list(KINDS).index(limit.kind))


def _scope(evidence: StudyEvidence) -> Iterator[Gap]:
    """Shifts that were promised and not tested, and what the author left open."""
    if evidence.study.shifts is None:
        yield "scope", IN_WORDS
    for result in evidence.scope:
        if result.outcome == "not-tested":
            yield "shift", result.sentence()
        yield from (("shift", sentence) for sentence in result.contradicted)
    undecided = [
        f"{r.shift} ({SHIFTS[r.shift].words})" for r in evidence.scope if r.outcome == "left-open"
    ]
    if undecided:
        words = ", ".join(undecided)
        yield "scope", f"Neither in nor out of scope, by the author's own word: {words}."


def _of_data(dataset: Dataset, audits: Sequence[Audit], evidence: StudyEvidence) -> Iterator[Gap]:
    """Data that was not audited for the target, and records left out."""
    wanted, targets = own_task(dataset, evidence.study.data.target), {a.target for a in audits}
    if not audits:
        why = "No audit given was made on these records." if evidence.strays else NO_AUDIT
        if any(a.dataset == dataset.name for a in evidence.strays):
            why = "The audit given was made on other records."
        yield "not-audited", f"{why} Nothing is known of its shortcuts, leaks and contradictions."
    elif wanted not in targets:
        words = ", ".join(sorted(targets))
        yield "not-audited", f"Audited for the target {words} only, not for {wanted}."
    records = dataset.records
    gaps = [a.records - a.labelled for a in audits if a.target == wanted]
    if missing := next(filter(None, gaps), 0):
        tally = records["veracity"].fill_null("no verdict").value_counts().sort("veracity")
        labels = ", ".join(f"{name} {n:,}" for name, n in tally.iter_rows())
        of = several_of(missing, records.height, "record")
        unused = f"No label of the target {wanted} ({labels}) on {of}: not used by the checks."
        yield "left-out", unused
    if records["split"].null_count() == records.height:
        yield "left-out", "It has no split: leaks were measured on a random one, if at all."
    if dataset.synthetic:
        yield "left-out", "Its texts are synthetic: the results may not carry over to real ones."


def _of_checks(audits: Sequence[Audit]) -> Iterator[Gap]:
    """Checks that were not run, and what the protocols, seeds and samples of others leave open."""
    if audits:
        yield from _of_protocols(audits)
    ran = {f.check for a in audits for finding in a.findings for f in finding.every}
    for name, check in CHECKS.all().items():
        question = f"{check_title(name)}: {check.question}"
        if audits and name not in ran:
            yield "not-run", ONLY_STANDARD if name == "columns" else question


def _of_protocols(audits: Sequence[Audit]) -> Iterator[Gap]:
    used, seeds = {a.protocol for a in audits}, {a.seed for a in audits}
    if "fair" not in used:
        yield "protocol", "The fair protocol was not used: no interval, no shuffled control."
    published = [f"Protocol cdl: {sentence}" for sentence in caveats("cdl")]
    yield from (("protocol", words) for words in (published if "cdl" in used else [NOT_PUBLISHED]))
    for stranger in sorted(used - set(PROTOCOLS)):
        yield "protocol", f"The protocol '{stranger}' is not known here."
    if len(seeds) == 1:
        yield "protocol", f"Every audit used one seed ({next(iter(seeds))})."
    for audit in audits:
        cut = next((f.details for f in audit.findings if "sampled_rows" in f.details), None)
        if cut is not None:
            sampled = f"{cut['sampled_rows']:,} of {cut['of_rows']:,} records"
            yield "protocol", f"Some checks used a sample: {sampled}."


def _of_findings(audits: Sequence[Audit]) -> Iterator[Gap]:
    """What could not be measured, and judges that were not compared with annotators."""
    findings = [f for audit in audits for f in audit.findings]
    measured = {(f.check, f.feature) for f in findings if f.verdict not in UNMEASURED}
    checks = {check for check, _ in measured}
    for f in findings:
        answered = (f.check, f.feature) in measured or (f.feature is None and f.check in checks)
        if f.verdict == "inconclusive" or (f.verdict == "not-measured" and not answered):
            yield f.verdict, f"{finding_title(f)}: {f.why}"
        if f.details.get("validated") is False:
            yield "judge", f"{finding_title(f)}: the judge was not compared with annotators."


def _problems(audits: Sequence[Audit]) -> Iterator[Gap]:
    for f in (f for audit in audits for f in ordered(audit.findings)):
        if f.verdict in ("fail", "warn"):
            yield "found", f"{finding_title(f)} ({f.verdict}, protocol {f.protocol}): {f.why}"


def _answered_by_models(dataset: Dataset) -> Iterator[Gap]:
    notes = dataset.tables.get("annotations")
    if notes is None:
        return
    by_model, by_people = (
        set(notes.filter(annotator_kind=kind)["question"].drop_nulls())
        for kind in ("model", "human")
    )
    for question in sorted(by_model - by_people):
        yield "judge", f"“{question}” was answered by a model only; no annotator checked it."


def _runs(evidence: StudyEvidence) -> Iterator[Limit]:
    if not evidence.runs:
        yield Limit("run", "", "No evaluation run was given: no prediction was examined.")
        return
    if len(evidence.runs) == 1:
        alone = "There is one run: how much the score depends on the seed is not known."
        yield Limit("run", evidence.runs[0].name, alone)
    audited = {a.digest for a in evidence.every_audit()}
    for run in evidence.runs:
        yield from (Limit("run", run.name, sentence) for sentence in _of_run(run))
        if run.digest not in audited:
            unseen = f"The records it was evaluated on ('{run.dataset}') were not audited."
            yield Limit("run", run.name, unseen)


def _of_run(run: ExaminedRun) -> Iterator[str]:
    table, n = run.table, run.table.height
    trained = int((table["split"] == "train").fill_null(False).sum())
    if table["split"].null_count() == n:
        yield (
            "The records name no split: those that the method was trained on may be among those"
            " scored."
        )
    elif trained:
        yield f"{several_of(trained, n, 'scored record')} {verb(trained)} in the training set."
    silent, withheld = table["said"].is_null(), table["abstained"].is_not_null()
    strange = ~silent & ~table["said"].is_in(list(run.classes)) & ~withheld
    missing, declined, others = (
        int(rows.sum()) for rows in (silent & ~withheld, withheld, strange)
    )
    classes = ", ".join(run.classes)
    wrong = "counted as wrong."
    counted = {
        f"No answer for {several_of(missing, n, 'labelled record')}: {wrong}": missing,
        f"No verdict, for lack of evidence, on {several_of(declined, n, 'labelled record')}:"
        f" {wrong}": declined,
        f"{several(others, 'answer')} outside the labels ({classes}): {wrong}": others,
        f"{several(run.unlabelled, 'record')} without a usable label: left out of the"
        " score.": run.unlabelled,
        "It gives no rationale: a right answer for a wrong reason cannot be detected.": table[
            "rationale"
        ].null_count()
        == n,
    }
    yield from (sentence for sentence, count in counted.items() if count)


def _contamination(evidence: StudyEvidence) -> Iterator[Limit]:
    """What is known of models that may have read the test records; by default, nothing."""
    digests = {report.digest for report in evidence.contamination}
    unmet = "Whether a pre-trained model has met the test records before was not checked."
    own = {dataset.digest(): dataset.name for dataset in evidence.datasets}
    for digest, name in own.items():
        if digest not in digests and _may_know(evidence, digest):
            yield Limit("contamination", name, unmet)
    for report in evidence.contamination:
        sentences = ["A contamination report on other records was not used."]
        if report.digest in own:
            sentences = [*_told(report, complete=_may_know(evidence, report.digest))]
        yield from (Limit("contamination", report.dataset, sentence) for sentence in sentences)


def _told(report: Contamination, *, complete: bool) -> Iterator[str]:
    """What a report found, and, where it has to be `complete`, what it did not measure."""
    checks = {finding.check for finding in report.findings}
    for finding in report.findings:
        yield f"{TITLES[finding.check]} ({finding.verdict.replace('-', ' ')}): {finding.why}"
    for name in TITLES if complete else ():
        if name not in checks:
            yield f"{TITLES[name]}: not measured."


def _may_know(evidence: StudyEvidence, digest: str) -> bool:
    """Whether a run on these records may come from a pre-trained model: one that learned from
    training rows only cannot. Without a run on them, that of any other counts."""
    runs = [run for run in evidence.runs if run.digest == digest] or evidence.runs
    return not runs or any(
        not is_known_detector(run) or not DETECTORS.get(str(run.about.detector)).from_scratch
        for run in runs
    )


def _inspection(evidence: StudyEvidence) -> Iterator[Limit]:
    for run in evidence.runs:
        yield from (Limit("inspection", run.name, sentence) for sentence in _examples(run))
    decided = any(_open_examples(run) < len(run.examples) for run in evidence.runs)
    if evidence.runs and is_empty(evidence.study.inspection.notes) and not decided:
        yield Limit("inspection", "", "No notes on the example predictions were given.")


def _examples(run: ExaminedRun) -> Iterator[str]:
    for what, drawn in (("correct", run.correct), ("wrong", run.wrong)):
        if len(drawn) < EXAMPLES_SHOWN:
            yield f"Only {several(len(drawn), f'{what} prediction')} to inspect."
    if (run.judgements or run.unused) and (left := _open_examples(run)):
        of = several_of(left, len(run.examples), "example prediction")
        yield f"No judgement of an annotator on {of}."
    if run.unused:
        unused = several(run.unused, "judgement")
        yield f"{unused} of other texts or predictions than this run's: not used."


def _open_examples(run: ExaminedRun) -> int:
    """How many of the example predictions were not decided in a review."""
    settled = {i for i, judgement in run.judgements.items() if judgement.value is not None}
    return sum(row["id"] not in settled for row in run.examples)
