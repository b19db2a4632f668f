"""`cl.audit` and its siblings: open datasets, run the checks, and write the report, through the run
folder.

findings = cl.audit("data/liar", output="report")
fixed = cl.audit("data/liar", fix=True, output="data/liar-fixed").fixed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Unpack, get_args

from claimlab.audit.diff import Diff, record_changes
from claimlab.audit.fix import repair
from claimlab.audit.judge import SAMPLE, FeasibilityJudge, open_judge
from claimlab.audit.result import FILE as AUDIT_FILE
from claimlab.audit.result import Audit, read_audits
from claimlab.audit.rule import AuditSettings, ProtocolName
from claimlab.audit.run import Audited, Fixed
from claimlab.audit.run import audit as run_checks
from claimlab.audit.subject import Subject
from claimlab.audit.views.compare import diff_page
from claimlab.audit.views.page import KIND, REPORT, both, contents
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.options import (
    Argument,
    DataCalls,
    Engine,
    Force,
    Limit,
    Option,
    OptionalFolder,
    PromptFiles,
    Seed,
    Setting,
    columns_of,
    is_capped,
)
from claimlab.core.places import cache_folder
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.settings import one_of
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.pages.folder import Contents, fill
from claimlab.search.terms import Searches

DIFF = "diff report"


Checks = Annotated[
    Sequence[str] | None,
    Option("Run only this check; may be repeated.", flag="--check", complete="checks"),
]
Protocol = Annotated[
    str, Option("The protocol: 'fair', or 'cdl' and 'cdl-holdout' for published numbers.")
]
Target = Annotated[
    str | None, Option("A task or any column; what the labels are about, by default.")
]
TestedColumns = Annotated[
    Sequence[str], Option("Test this column, too (meta.KEY for meta).", flag="--column")
]


@repeatable()
def audit(
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    *,
    also: Sequence[Source] = (),
    output: OptionalFolder = None,
    checks: Checks = None,
    protocol: Protocol = "fair",
    target: Target = None,
    columns: TestedColumns = (),
    fix: Annotated[
        bool,
        Option("Write a dataset without what a split can remove, audited before and after."),
    ] = False,
    judge: Annotated[
        str | FeasibilityJudge | None,
        Option("Model profile that judges whether claims can be checked (feasibility)."),
    ] = None,
    judge_sample: Annotated[
        int, Setting("Number of records that the judge is asked about.", least=1)
    ] = SAMPLE,
    prompts: PromptFiles = (),
    provider: Annotated[
        str | Sequence[str],
        Setting(
            "Search provider for the evidence that the judge sees; may be repeated (fallbacks)."
        ),
    ] = (),
    settings: AuditSettings | None = None,
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
    engine: Engine = None,
    debug: bool = False,
    **calls: Unpack[DataCalls],
) -> Audited:
    """Test datasets for shortcuts, leaks and contradictions, each next to its baselines.

    The result is the audit of `data`; datasets in `also` are audited with the same options, are in
    the same report, and are `also` of the result. A judge is asked within the caps, and from here
    where an engine shares the checks among processes or machines. `settings` are the margins of the
    verdicts. With `fix=True`, the dataset without what a split can remove (conflicting labels,
    copies, leaks) is `fixed` of the result, which then is its audit; with `output`, it is written
    there, with a report on both audits inside.
    """
    _refuse_unused(judge, provider, fix=fix, also=bool(also), capped=is_capped(calls))
    named = one_of(get_args(ProtocolName), protocol, "protocol")
    run_all = partial(
        run_checks,
        checks=checks,
        protocol=named,
        target=target,
        columns=columns,
        seed=seed,
        settings=settings,
        debug=debug,
    )
    if fix:
        with Run(
            "audit",
            data,
            output,
            limit=limit,
            force=force,
            seed=seed,
            engine=engine,
            **columns_of(calls),
        ) as run:
            return _fixed(run, run_all, target)
    if calls.get("cache") is None and output is None and calls.get("mode") != "live":
        calls["cache"] = cache_folder()
    with Run(
        "audit",
        None,
        output,
        kind=KIND,
        reads=folders_of(data, *also),
        force=force,
        seed=seed,
        engine=engine,
        **calls,
    ) as run:
        with open_judge(run, judge, judge_sample, provider, prompts) as model:
            datasets = [Dataset.of(source, limit, **columns_of(calls)) for source in (data, *also)]
            if run.estimate:
                run.estimated(_cost(run, model, [Subject.of(one, target) for one in datasets]))
            done = [run_all(one, judge=model) for one in datasets]
        run.fill(lambda folder: fill(contents(done), folder))
    done[0].also = tuple(done[1:])
    return done[0]


def _refuse_unused(
    judge: str | FeasibilityJudge | None,
    provider: str | Sequence[str],
    *,
    fix: bool,
    also: bool,
    capped: bool,
) -> None:
    if fix and (judge is not None or also):
        raise UsageError(
            "`fix=True` repairs one dataset and asks no judge.", "Leave out `judge` and `also`."
        )
    if judge is None and capped:
        raise UsageError(
            "A cap was set, but an audit without a judge spends nothing.", "Pass `judge`."
        )
    if judge is None and provider:
        raise UsageError("A search is made for a judge, and none was named.", "Pass `judge`.")


def _cost(
    run: Run, judge: FeasibilityJudge | None, subjects: Sequence[Subject]
) -> dict[str, Priced]:
    """What the judge and its searches would cost at most."""
    if judge is None:
        return {}
    seed = run.seed or 0
    requests = (request for subject in subjects for request in judge.requests(subject, seed))
    endpoint = judge.model.provider.profile
    parts: dict[str, Priced] = {
        "judge": estimate_calls(requests, endpoint, recording=run.calls.existing())
    }
    if judge.search is not None:
        searches = sum(judge.searches(subject, seed) for subject in subjects)
        parts["search"] = Searches(judge.search.providers[0].name, 0, searches)
    return parts


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


def _fixed(run: Run, audit: Callable[[Dataset], Audited], target: str | None) -> Audited:
    before = audit(run.dataset)
    repaired = repair(run.dataset, target=target, seed=run.seed or 0)
    after = audit(repaired.dataset)
    run.finish(
        repaired.dataset, lambda folder: fill(both(repaired, before, after), folder / REPORT)
    )
    after.fixed = Fixed(repaired.dataset, repaired.removed, before, after)
    return after


@repeatable()
def diff(
    before: Annotated[
        Source, Argument("A report folder of `claimlab audit`, a dataset folder, or a study.")
    ],
    after: Annotated[Source, Argument("The one to compare it with, of the same kind.")],
    *,
    output: OptionalFolder = None,
    checks: Checks = None,
    target: Target = None,
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
) -> Diff:
    """Which findings came, went or changed between two saved audits, or between two versions of a
    dataset.

    Two datasets are audited alike, and their records are compared by id; for other protocols or
    columns, save two audits and compare those. `checks` names the checks to compare (all by
    default). With `output`, a report is written there.
    """
    with Run(
        "diff", None, output, kind=DIFF, reads=folders_of(before, after), force=force, seed=seed
    ) as run:
        saved = [_saved(source) for source in (before, after)]
        records = None
        if saved[0] is not None and saved[1] is not None:
            audits = [
                replace(
                    one, findings=[f for f in one.findings if checks is None or f.check in checks]
                )
                for one in saved
                if one is not None
            ]
        elif any(saved):
            Dataset.of(
                before if saved[0] is None else after
            )  # one that is not there, or is neither, says so itself
            raise UsageError(
                "One of the two is a saved audit, the other a dataset.", "Compare two of one kind."
            )
        else:
            data = [Dataset.of(source, limit) for source in (before, after)]
            audits = [run_checks(d, checks=checks, target=target, seed=seed) for d in data]
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
    if not isinstance(source, str | Path) or not (
        (Path(source) / AUDIT_FILE).is_file() or Path(source).suffix == ".json"
    ):
        return None
    audits = read_audits(Path(source))
    if len(audits) != 1:
        raise UsageError(
            f"'{source}' holds {len(audits)} audits.", "Compare reports on one dataset each."
        )
    return audits[0]
