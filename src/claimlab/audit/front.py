"""`cl.audit` and its siblings: open datasets, run the checks, and write the report, through the run
folder.

findings = cl.audit("data/liar", output="report")
fixed = cl.fix("data/liar", output="data/liar-fixed")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import polars as pl

from claimlab.audit.check import ProtocolName
from claimlab.audit.diff import Diff, record_changes
from claimlab.audit.fix import Repaired, repair
from claimlab.audit.judge import SAMPLE, FeasibilityJudge, open_judge
from claimlab.audit.result import FILE as AUDIT_FILE
from claimlab.audit.result import Audit, read_audits
from claimlab.audit.rule import Settings
from claimlab.audit.run import Audited
from claimlab.audit.run import audit as run_checks
from claimlab.audit.subject import Subject
from claimlab.audit.views.compare import diff_page
from claimlab.audit.write import KIND, REPORT, both, contents
from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.budget import Caps
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced, estimated
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.places import cache_folder
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.settings import one_of
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.prompts import Given
from claimlab.pages.folder import Contents, fill
from claimlab.search.terms import Searches

DIFF = "diff report"


@repeatable()
def audit(
    data: Source,
    *,
    output: str | Path | None = None,
    checks: Sequence[str] | None = None,
    protocol: str = "fair",
    target: str = "veracity",
    columns: Sequence[str] = (),
    settings: Settings | None = None,
    judge: str | FeasibilityJudge | None = None,
    judge_sample: int = SAMPLE,
    prompts: Given = (),
    provider: str | Sequence[str] = (),
    cache: str | Path | None = None,
    mode: str = "record",
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    engine: str | None = None,
    debug: bool = False,
    progress: Progress = silent,
) -> Audited:
    """Audit a dataset for shortcuts, leaks and contradictions, each beside its baselines.

    `checks` names the checks to run (all by default); `protocol` is "fair", or "cdl" to reproduce
    published numbers; `target` is "veracity", "veracity-mixed" or any column; `columns` are tested,
    too ("meta.KEY" for meta). `judge` names a model profile that says of `judge_sample` records
    whether they can be checked at all, within the caps and by the words of `prompts` (claimlab llm
    prompts); `provider` names where to search for what it is shown ("brave", "local:FOLDER"). With
    `output`, the report is written there. With `engine`, checks are shared among processes or
    machines; a judge is asked from here.
    """
    return audit_all(**{**locals(), "data": [data]})[0]


@repeatable()
def audit_all(
    data: Sequence[Source],
    *,
    output: str | Path | None = None,
    checks: Sequence[str] | None = None,
    protocol: str = "fair",
    target: str = "veracity",
    columns: Sequence[str] = (),
    settings: Settings | None = None,
    judge: str | FeasibilityJudge | None = None,
    judge_sample: int = SAMPLE,
    prompts: Given = (),
    provider: str | Sequence[str] = (),
    cache: str | Path | None = None,
    mode: str = "record",
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    engine: str | None = None,
    debug: bool = False,
    progress: Progress = silent,
) -> list[Audited]:
    """Audit several datasets, with one report on all of them; the arguments are those of
    `audit`.
    """
    caps = Caps(max_cost, max_calls, max_tokens)
    if judge is None and caps != Caps():
        raise UsageError(
            "A cap was set, but an audit without a judge spends nothing.", "Pass `judge`."
        )
    if judge is None and provider:
        raise UsageError("A search is made for a judge, and none was named.", "Pass `judge`.")
    if not data:
        raise UsageError("There is no dataset to audit.", "Pass at least one.")
    named = one_of(get_args(ProtocolName), protocol, "protocol")
    if cache is None and output is None and mode != "live":
        cache = cache_folder()
    with Run(
        "audit",
        None,
        output,
        kind=KIND,
        reads=folders_of(*data),
        force=force,
        seed=seed,
        caps=caps,
        mode=mode,
        cache=cache,
        engine=engine,
        progress=progress,
    ) as run:
        with open_judge(run, judge, judge_sample, provider, prompts) as model:
            done = [
                run_checks(
                    Dataset.of(source, limit),
                    checks=checks,
                    protocol=named,
                    target=target,
                    columns=columns,
                    seed=seed,
                    settings=settings,
                    judge=model,
                    debug=debug,
                    progress=progress,
                )
                for source in data
            ]
        run.fill(lambda folder: fill(contents(done), folder))
    return done


@same_arguments(audit_all)
def estimate_audit(call: Arguments) -> JsonObject:
    """What an audit with a model as judge would cost at most; nothing is sent anywhere."""
    with (
        Run("audit", None, call.output, mode=call.mode, cache=call.cache, estimate=True) as run,
        open_judge(run, call.judge, call.judge_sample, call.provider, call.prompts) as model,
    ):
        if model is None:
            return estimated({})
        subjects = [Subject.of(Dataset.of(source, call.limit), call.target) for source in call.data]
        requests = (
            request for subject in subjects for request in model.requests(subject, call.seed)
        )
        parts: dict[str, Priced] = {
            "judge": estimate_calls(
                requests, model.model.provider.profile, recording=run.calls.existing()
            )
        }
        if model.search is not None:
            searches = sum(model.searches(subject, call.seed) for subject in subjects)
            parts["search"] = Searches(model.search.providers[0].name, 0, searches)
        return estimated(parts)


@repeatable()
def saved_audits(
    saved: Sequence[str | Path], *, output: str | Path | None = None, force: bool = False
) -> list[Audit]:
    """Audits that were saved earlier (`audit.json`, or a report folder); with `output`, in one
    report together.
    """
    with Run("audit", None, output, kind=KIND, reads=list(saved), force=force) as run:
        audits = [one for path in saved for one in read_audits(Path(path))]
        run.fill(lambda folder: fill(contents(audits), folder))
    return audits


@dataclass(frozen=True, repr=False)
class Fixed(Shown):
    """The fixed dataset, how many records each reason took out, and the audit before and after."""

    dataset: Dataset
    removed: dict[str, int]
    before: Audited
    after: Audited

    @property
    def table(self) -> pl.DataFrame:
        """How many checks ended in each verdict, before and after."""
        before, after = self.before.counts(), self.after.counts()
        return pl.DataFrame(
            [{"verdict": v, "before": before[v], "after": after[v]} for v in before]
        )

    def headline(self) -> str:
        removed = sum(self.removed.values())
        return (
            f"of '{self.dataset.name}': {several(len(self.dataset), 'record')}, {removed:,} removed"
        )


@repeatable()
def fix(
    data: Source,
    *,
    output: str | Path | None = None,
    checks: Sequence[str] | None = None,
    protocol: str = "fair",
    target: str = "veracity",
    columns: Sequence[str] = (),
    settings: Settings | None = None,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    engine: str | None = None,
    debug: bool = False,
    progress: Progress = silent,
) -> Fixed:
    """Take out of a dataset what a split can remove (conflicting labels, copies, leaks), and audit
    it before and after.

    With `output`, the fixed dataset is written there, with a report on both audits inside.
    """
    named = one_of(get_args(ProtocolName), protocol, "protocol")
    options: JsonObject = {
        "checks": checks,
        "protocol": named,
        "target": target,
        "columns": columns,
        "seed": seed,
        "debug": debug,
        "settings": settings,
        "progress": progress,
    }
    with Run(
        "audit", data, output, limit=limit, force=force, seed=seed, engine=engine, progress=progress
    ) as run:
        before = run_checks(run.dataset, **options)
        repaired: Repaired = repair(run.dataset, target=target, seed=seed)
        after = run_checks(repaired.dataset, **options)
        run.finish(
            repaired.dataset, lambda folder: fill(both(repaired, before, after), folder / REPORT)
        )
    return Fixed(repaired.dataset, repaired.removed, before, after)


@repeatable()
def diff(
    before: Source,
    after: Source,
    *,
    output: str | Path | None = None,
    checks: Sequence[str] | None = None,
    protocol: str = "fair",
    target: str = "veracity",
    columns: Sequence[str] = (),
    settings: Settings | None = None,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Diff:
    """Which findings came, went or changed between two saved audits, or between two versions of a
    dataset.

    Two datasets are audited with the same settings, and their records are compared by id. `checks`
    names the checks to compare (all by default). With `output`, a report is written there.
    """
    with Run(
        "diff", None, output, kind=DIFF, reads=folders_of(before, after), force=force, seed=seed
    ) as run:
        saved = [_saved(source) for source in (before, after)]
        records = None
        if saved[0] is not None and saved[1] is not None:
            audits = [_only(one, checks) for one in saved if one is not None]
        elif any(saved):
            Dataset.of(
                before if saved[0] is None else after
            )  # one that is not there, or is neither, says so itself
            raise UsageError(
                "One of the two is a saved audit, the other a dataset.", "Compare two of one kind."
            )
        else:
            data = [Dataset.of(source, limit) for source in (before, after)]
            named = one_of(get_args(ProtocolName), protocol, "protocol")
            audits = [
                run_checks(
                    d,
                    checks=checks,
                    protocol=named,
                    target=target,
                    columns=columns,
                    settings=settings,
                    seed=seed,
                    progress=progress,
                )
                for d in data
            ]
            records = record_changes(*data)
        done = Diff(audits[0], audits[1], records)
        data_files = {
            "diff.json": done.to_json(),
            "audit.json": {"audits": [a.to_json() for a in audits]},
        }
        run.fill(lambda folder: fill(Contents(DIFF, [diff_page(done)], data=data_files), folder))
    return done


def _saved(source: Source) -> Audit | None:
    """The audit that was saved in a report folder or file; null for a dataset."""
    if isinstance(source, Dataset) or not (
        (Path(source) / AUDIT_FILE).is_file() or Path(source).suffix == ".json"
    ):
        return None
    audits = read_audits(Path(source))
    if len(audits) != 1:
        raise UsageError(
            f"'{source}' holds {len(audits)} audits.", "Compare reports on one dataset each."
        )
    return audits[0]


def _only(audit: Audit, checks: Sequence[str] | None) -> Audit:
    return replace(
        audit, findings=[f for f in audit.findings if checks is None or f.check in checks]
    )
