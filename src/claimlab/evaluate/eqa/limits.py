"""What was NOT checked, written by the program from what it did not find. No author can leave a
line out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from claimlab.audit.check import CHECKS, PROTOCOLS, caveats
from claimlab.audit.result import Audit
from claimlab.audit.views.wording import check_title, finding_title, ordered
from claimlab.core.dataset import Dataset
from claimlab.core.words import several_of
from claimlab.evaluate.eqa.evidence import Evidence
from claimlab.evaluate.eqa.limit import KINDS, Limit
from claimlab.evaluate.eqa.run_limits import (
    contamination_limits,
    inspection_limits,
    run_limits,
    scope_limits,
)

# What no check of this program looks at, whatever the study.
BEYOND = (
    (
        "Whether the labels are right was not checked: no check here reads the evidence behind a"
        " verdict."
    ),
    "Images, video and audio were not examined: only texts and columns were.",
    (
        "Whether the data is a fair sample of what the method will meet is the author's statement;"
        " it was not measured."
    ),
)


def limits(evidence: Evidence) -> list[Limit]:
    """Every limit of the study's assurance, grouped in the order of `KINDS`."""
    gaps: list[Limit] = [*scope_limits(evidence)]
    for dataset, audits in zip(evidence.datasets, evidence.audits, strict=True):
        for rule in DATA_RULES:
            gaps += rule(dataset, audits, evidence)
    for audit in evidence.strays:
        sentence = (
            "A saved audit of this name was made on other records than the study's datasets: it was"
            " not used."
        )
        gaps.append(Limit("not-audited", audit.dataset, sentence))
    gaps += run_limits(evidence)
    gaps += contamination_limits(evidence)
    gaps += inspection_limits(evidence)
    gaps += [Limit("beyond", "", sentence) for sentence in BEYOND]
    return sorted(gaps, key=lambda limit: list(KINDS).index(limit.kind))


def _not_audited(dataset: Dataset, audits: Sequence[Audit], evidence: Evidence) -> Iterator[Limit]:
    if not audits:
        known = any(a.dataset == dataset.name for a in evidence.strays)
        if known:
            why = "The audit given was made on other records."
        else:
            why = (
                "No audit given was made on these records."
                if evidence.strays
                else "No audit was given."
            )
        yield Limit(
            "not-audited",
            dataset.name,
            f"{why} Nothing is known of its shortcuts, leaks and contradictions.",
        )
        return
    wanted = evidence.study.data.target
    if all(a.target != wanted for a in audits):
        targets = ", ".join(sorted({a.target for a in audits}))
        yield Limit(
            "not-audited", dataset.name, f"Audited for the target {targets} only, not for {wanted}."
        )


def _not_run(dataset: Dataset, audits: Sequence[Audit], evidence: Evidence) -> Iterator[Limit]:  # noqa: ARG001
    if not audits:
        return
    ran = {f.check for a in audits for finding in a.findings for f in finding.every}
    for name in CHECKS.all():
        if name == "columns" and name not in ran:
            yield Limit(
                "not-run", dataset.name, "No column other than the standard ones was tested."
            )
        elif name not in ran:
            yield Limit("not-run", dataset.name, f"{check_title(name)}: {_question(name)}")


def _not_measured(dataset: Dataset, audits: Sequence[Audit], evidence: Evidence) -> Iterator[Limit]:  # noqa: ARG001
    measured = {
        (f.check, f.feature) for a in audits for f in a.findings if f.verdict != "not-measured"
    }
    checks = {check for check, _ in measured}
    for audit in audits:
        for f in audit.findings:
            answered = (f.check, f.feature) in measured or (f.feature is None and f.check in checks)
            if f.verdict == "not-measured" and not answered:
                yield Limit("not-measured", dataset.name, f"{finding_title(f)}: {f.why}")
            if f.verdict == "inconclusive":
                yield Limit("inconclusive", dataset.name, f"{finding_title(f)}: {f.why}")


def _problems(dataset: Dataset, audits: Sequence[Audit], evidence: Evidence) -> Iterator[Limit]:  # noqa: ARG001
    for audit in audits:
        for f in ordered(audit.findings):
            if f.verdict in ("fail", "warn"):
                sentence = f"{finding_title(f)} ({f.verdict}, protocol {f.protocol}): {f.why}"
                yield Limit("found", dataset.name, sentence)


def _protocols(dataset: Dataset, audits: Sequence[Audit], evidence: Evidence) -> Iterator[Limit]:  # noqa: ARG001
    if not audits:
        return
    used = {a.protocol for a in audits}
    if "fair" not in used:
        yield Limit(
            "protocol",
            dataset.name,
            "The fair protocol was not used: no interval, no shuffled control.",
        )
    if "cdl" not in used:
        yield Limit(
            "protocol",
            dataset.name,
            "The published protocol (cdl) was not run: do not compare these scores with published"
            " ones.",
        )
    else:
        for sentence in caveats("cdl"):
            yield Limit("protocol", dataset.name, f"Protocol cdl: {sentence}")
    for stranger in sorted(used - set(PROTOCOLS)):
        yield Limit("protocol", dataset.name, f"The protocol '{stranger}' is not known here.")
    seeds = {a.seed for a in audits}
    if len(seeds) == 1:
        yield Limit("protocol", dataset.name, f"Every audit used one seed ({next(iter(seeds))}).")
    for audit in audits:
        cut = next((f.details for f in audit.findings if "sampled_rows" in f.details), None)
        if cut is not None:
            sentence = (
                f"Some checks used a sample: {cut['sampled_rows']:,} of {cut['of_rows']:,} records."
            )
            yield Limit("protocol", dataset.name, sentence)


def _left_out(dataset: Dataset, audits: Sequence[Audit], evidence: Evidence) -> Iterator[Limit]:
    for audit in audits:
        missing = audit.records - audit.labelled
        if audit.target == evidence.study.data.target and missing:
            of = several_of(missing, audit.records, "record")
            text = (
                f"No label of the target {audit.target} ({_labels(dataset)}) on {of}: not used by"
                " the checks."
            )
            yield Limit("left-out", dataset.name, text)
            break
    if dataset.records["split"].null_count() == dataset.records.height:
        yield Limit(
            "left-out",
            dataset.name,
            "It has no split: leaks were measured on a random one, if at all.",
        )
    if dataset.synthetic:
        yield Limit(
            "left-out",
            dataset.name,
            "Its texts are synthetic: the results may not carry over to real ones.",
        )


def _judges(dataset: Dataset, audits: Sequence[Audit], evidence: Evidence) -> Iterator[Limit]:  # noqa: ARG001
    for audit in audits:
        for f in audit.findings:
            if f.details.get("validated") is False:
                yield Limit(
                    "judge",
                    dataset.name,
                    f"{finding_title(f)}: the judge was not compared with annotators.",
                )
    notes = dataset.tables.get("annotations")
    if notes is not None and notes.height:
        model = notes.filter(pl.col("annotator_kind") == "model")["question"].drop_nulls().unique()
        people = set(
            notes.filter(pl.col("annotator_kind") == "human")["question"].drop_nulls().to_list()
        )
        for question in sorted(set(model.to_list()) - people):
            yield Limit(
                "judge",
                dataset.name,
                f"“{question}” was answered by a model only; no annotator checked it.",
            )


DATA_RULES: tuple[Callable[[Dataset, Sequence[Audit], Evidence], Iterator[Limit]], ...] = (
    _not_audited,
    _not_run,
    _not_measured,
    _problems,
    _protocols,
    _left_out,
    _judges,
)


def _labels(dataset: Dataset) -> str:
    tally = dataset.records["veracity"].fill_null("no verdict").value_counts().sort("veracity")
    return ", ".join(f"{name} {n:,}" for name, n in tally.iter_rows())


def _question(name: str) -> str:
    return CHECKS.get(name).question
