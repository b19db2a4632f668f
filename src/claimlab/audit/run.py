"""Run checks on a dataset: `audit(dataset)` gives findings; a check that breaks is a finding, not
the end.

The end of an audit: p-values corrected for all tests together, and one finding for one fact.


"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.audit.advice import Conclusion
from claimlab.audit.check import CHECKS, PROTOCOLS, Check, not_applicable, not_measured
from claimlab.audit.result import Audit, Example, pointed_at
from claimlab.audit.rule import CDL_RULE, GAIN, AuditSettings, Context, ProtocolName, Rule
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.run import run_stage
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.places import named
from claimlab.core.progress import progress
from claimlab.core.run import dataset_in
from claimlab.core.stats.correction import false_discovery
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import excerpt

LEAKS = ("near-duplicates", "paraphrases", "media")  # checks that compare the sides of a split
IN_ALL = 400
TEXT = 300  # characters


class Audited(Audit):
    """An audit that was just run; it can write its report, and knows where the dataset is."""

    place: str | None = None  # the path of the dataset, which nothing that is written holds
    also: tuple[Audited, ...] = ()  # the audits of the other datasets in the same report

    @property
    def conclusion(self) -> Conclusion:
        """What it comes to, and what to do about it, as calls on the dataset where it is."""
        return self.concluded(self.place)

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the report: `audit.json`, and the same as HTML, Markdown, LaTeX and figures."""
        from claimlab.audit.views.page import write_audits

        write_audits([self], folder, force=force)


def audit(  # noqa: PLR0913
    dataset: Dataset,
    *,
    checks: Sequence[str] | None = None,
    protocol: ProtocolName = "fair",
    target: str | None = None,
    columns: Sequence[str] = (),
    seed: int = 0,
    settings: AuditSettings | None = None,
    judge: Any = None,
    debug: bool = False,
    published: Dataset | None = None,
) -> Audited:
    """Put `dataset` to the named checks (all by default). Where it was cleaned, `published` is what
    it was before: leaks across a given split are measured there.
    """
    if protocol not in PROTOCOLS:
        raise UsageError(
            f"'{protocol}' is not a valid protocol.", f"Use one of: {', '.join(PROTOCOLS)}."
        )
    names = list(checks) if checks else default_checks(protocol)
    chosen = [CHECKS.get(name) for name in names]
    context = Context(protocol, seed, settings or AuditSettings(), tuple(columns), judge, debug)
    subject = Subject.of(dataset, target, context)
    result = Audited(
        dataset=dataset.name,
        digest=dataset.digest(),
        protocol=protocol,
        target=subject.target,
        seed=seed,
        records=dataset.records.height,
        labelled=subject.n,
        card=dataset.card,
        rule=context.settings.rule.words() if protocol == "fair" else CDL_RULE,
        folder=dataset.name if dataset.path is None else dataset.path.name,
        split={"train", "test"} <= set(dataset.records["split"].unique()),
    )
    result.place = None if dataset.path is None else named(str(dataset.path))
    shared = _shared(dataset, subject.target, [check.name for check in chosen], context)
    for number, check in enumerate(chosen):
        progress(f"{dataset.name}: {check.name}", number, len(chosen))
        findings = shared.get(check.name)
        result.findings += run_one(check, subject, context) if findings is None else findings
    whole = subject
    if published is not None and published.digest() != dataset.digest():
        whole = Subject.of(published, target, context)
        result.findings = as_published(result.findings, whole, context)
    result.findings = settle(result.findings, context.settings.rule)
    result.examples = collect(whole, result.findings)
    progress(f"{dataset.name}: report", len(chosen), len(chosen))
    return result


def _shared(
    dataset: Dataset, target: str, checks: list[str], context: Context
) -> dict[str, list[Finding]]:
    """The findings of the checks that ask no judge, each check a shard, where the run shares its
    work.
    """
    names = sorted({name for name in checks if context.judge is None or name != "feasibility"})
    if not shares() or len(names) < 2:
        return {}
    with place() as here:
        data = {"data": dataset_in(here, dataset), "target": target}
        words = {**asdict(replace(context, judge=None)), **data}
        shards = [{"check": name, **words} for name in names]
        outputs = run_stage(
            do_check,
            shards,
            folder=here,
            name=f"checks-{dataset.fingerprint()[:8]}",
        )
        rows = [json.loads(output.read_text("utf-8")) for output in outputs]
    return {
        name: [Finding(**row) for row in findings]
        for name, findings in zip(names, rows, strict=True)
    }


def do_check(shard: JsonObject, output: Path) -> None:
    """One check of an audit."""
    settings = AuditSettings(**{**shard["settings"], "rule": Rule(**shard["settings"]["rule"])})
    columns = tuple(shard["columns"])
    context = Context(shard["protocol"], shard["seed"], settings, columns, debug=shard["debug"])
    subject = Subject.of(Dataset.open(shard["data"]), shard["target"], context)
    findings = run_one(CHECKS.get(shard["check"]), subject, context)
    output.write_text(
        json.dumps([finding.model_dump() for finding in findings], ensure_ascii=False),
        encoding="utf-8",
    )


def default_checks(protocol: str) -> list[str]:
    """Every check under `fair`; under `cdl` those that its authors' scripts have."""
    return [name for name, check in CHECKS.all().items() if protocol in protocols_of(check)]


def protocols_of(check: Check) -> tuple[str, ...]:
    """A check of another package that declares none follows `fair`."""
    return getattr(check, "protocols", ("fair",))


def run_one(check: Check, subject: Subject, context: Context) -> list[Finding]:
    """A check's findings. An unexpected error in a check becomes "not measured" with its name; the
    others continue.
    """
    if context.protocol not in protocols_of(check):
        others = ", ".join(default_checks(context.protocol))
        why = (
            f"The {context.protocol} protocol does not have this check (it has {others}); use"
            " `protocol='fair'`."
        )
        return [not_measured(check.name, context.protocol, why)]
    try:
        nothing = not_applicable(
            check.name, context.protocol, "The records have nothing that it measures.", n=subject.n
        )
        return check.run(subject, context) or [nothing]
    except ClaimlabError:
        raise
    except (Exception, SystemExit) as error:  # a check of another package may end in sys.exit
        if context.debug:
            raise
        why = (
            f"The check broke ({type(error).__name__}: {error}); run `{check.name}` alone, with"
            " `debug=True`."
        )
        return [not_measured(check.name, context.protocol, why, n=subject.n)]


def as_published(
    findings: Sequence[Finding], published: Subject, context: Context
) -> list[Finding]:
    """The findings, those on leaks across a given split as they are before cleaning: a leak that
    cleaning took out is in every copy of the data that others have.
    """
    here = [name for name in LEAKS if any(finding.check == name for finding in findings)]
    before = {
        (finding.check, finding.feature): finding
        for name in here
        for finding in run_one(CHECKS.get(name), published, context)
    }
    return [
        _published(finding, before.get((finding.check, finding.feature))) for finding in findings
    ]


def _published(cleaned: Finding, before: Finding | None) -> Finding:
    """The finding before cleaning, with what is left of it; the one after it where it is not about
    the two sides of a given split.
    """
    if before is None or "across the given split" not in (before.feature or ""):
        return cleaned
    left = cleaned.details.get("share")
    words = "not measured" if left is None else f"{100 * left:.1f}%"
    why = f"{before.why} This is of the data as published; after cleaning: {words}."
    details = {**before.details, "as_published": True, "share_cleaned": left}
    details["verdict_cleaned"] = cleaned.verdict
    return before.model_copy(update={"why": why, "details": details})


def settle(findings: Sequence[Finding], rule: Rule) -> list[Finding]:
    """Verdicts with p-values adjusted for the number of tests in the audit, and findings of one
    fact merged.
    """
    tested = [f for f in findings if f.p is not None and f.difference_interval is not None]
    for finding, adjusted in zip(
        tested, false_discovery([f.p for f in tested if f.p is not None]), strict=True
    ):
        assert finding.difference_interval is not None
        finding.p_adjusted = adjusted
        finding.verdict = rule.given(
            rule.verdict(finding.difference_interval, adjusted), finding.details.get(GAIN)
        )
        p_value = "below 0.001" if adjusted < 0.001 else f"{adjusted:.3f}"
        count = f"{finding.permutations} permutations"
        source = f", counted on {count}"
        if finding.p_is_fitted:
            tail = "it is the tail of a curve fitted to them (Student's t)"
            source = f": none of {count} comes as high, so {tail}"
        finding.why += (
            f" Adjusted p {p_value}{source}. They give"
            f" {100 * (finding.moved or 0.0):.0f}% of the records another label."
        )
    return one_per_fact(findings)


def one_per_fact(findings: Sequence[Finding]) -> list[Finding]:
    """Several measurements of one fact become the most severe of them, with the others inside; in
    the order given.
    """
    facts: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        facts.setdefault(number if finding.fact is None else finding.fact, []).append(finding)
    out = []
    for measurements in facts.values():
        first, *others = sorted(measurements, key=_severity)
        out.append(first.model_copy(update={"others": others}) if others else first)
    return out


def _severity(finding: Finding) -> tuple[int, bool, float]:
    """The most severe verdict, then what has a score, then the larger difference."""
    return VERDICTS.index(finding.verdict), finding.score is None, -(finding.difference or 0.0)


def collect(subject: Subject, findings: Sequence[Finding]) -> list[Example]:
    """The rows that `findings` point at, in the order in which they do."""
    ids = list(dict.fromkeys(i for f in findings for i in pointed_at(f)))[:IN_ALL]
    text = pl.col("text").str.slice(0, 4 * TEXT + 17)
    records = subject.dataset.records.filter(pl.col("id").is_in(ids)).select("id", "split", text)
    rows = records.join(subject.labels, on="id", how="left").rows_by_key("id", named=True)
    return [_example(i, *rows[i]) for i in ids if i in rows]


def _example(i: str, row: dict[str, str | None]) -> Example:
    text, label = row["text"], row["label"]
    return Example(
        id=i,
        label=label and excerpt(label, 60),
        split=row["split"],
        text=text and excerpt(text, TEXT),
    )
