"""`cl.audit` and its siblings: open datasets, run the checks, and write the report, through the run
folder.

findings = cl.audit("data/liar", output="report")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Unpack, get_args

from claimlab.audit.diff import Diff, record_changes
from claimlab.audit.gate import (
    MAX_GROWTH_POINTS,
    MAX_LABEL_CHANGES_PERCENT,
    MAX_LOST_PERCENT,
    GateLimits,
    allowed,
    gate,
)
from claimlab.audit.judge import SAMPLE_RECORDS, FeasibilityJudge, open_judge
from claimlab.audit.result import FILE as AUDIT_FILE
from claimlab.audit.result import Audit, read_audits
from claimlab.audit.rule import AuditSettings, Context, ProtocolName
from claimlab.audit.run import Audited
from claimlab.audit.run import audit as run_checks
from claimlab.audit.subject import Subject
from claimlab.audit.trial import tried
from claimlab.audit.views.ci import ANNOTATIONS_FILE, JUNIT_FILE, github_lines, junit
from claimlab.audit.views.compare import diff_page
from claimlab.audit.views.page import KIND, contents
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced
from claimlab.core.choices import one_of
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.finding import Finding
from claimlab.core.options import (
    Argument,
    DataCalls,
    DataOptions,
    Engine,
    Force,
    InPython,
    Limit,
    Option,
    OptionalFolder,
    Place,
    PromptFiles,
    Sample,
    Seed,
    Setting,
    columns_of,
    is_capped,
)
from claimlab.core.places import cache_folder
from claimlab.core.progress import reporting, silent
from claimlab.core.run import Run, Source, folders_of
from claimlab.files.line_numbers import lines_of
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


@repeatable(word="called")
def audit(  # noqa: PLR0913
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    *,
    also: Annotated[
        Sequence[Source], InPython("Further datasets, audited alike and in the same report.")
    ] = (),
    output: OptionalFolder = None,
    checks: Checks = None,
    protocol: Protocol = "fair",
    target: Target = None,
    columns: TestedColumns = (),
    judge: Annotated[
        str | FeasibilityJudge | None,
        Option("Model profile that judges whether claims can be checked (feasibility)."),
    ] = None,
    judge_sample: Annotated[
        int, Setting("Number of records that the judge is asked about.", least=1)
    ] = SAMPLE_RECORDS,
    prompts: PromptFiles = (),
    provider: Annotated[
        str | Sequence[str],
        Setting(
            "Search provider for the evidence that the judge sees; may be repeated (fallbacks)."
        ),
    ] = (),
    settings: Annotated[
        AuditSettings | None, InPython("The margins of the verdicts; without them, the usual.")
    ] = None,
    seed: Seed = 0,
    limit: Sample = None,
    force: Force = False,
    engine: Engine = None,
    debug: Annotated[
        bool, InPython("Let a check that breaks raise its error, where it is a finding otherwise.")
    ] = False,
    published: Annotated[
        Dataset | None,
        InPython("What `data` was before it was cleaned: leaks are measured there."),
    ] = None,
    called: Annotated[
        str | None,
        InPython("What the report's commands call `data`; by default, the name of its folder."),
    ] = None,
    **calls: Unpack[DataCalls],
) -> Audited:
    """Test datasets for shortcuts, leaks and contradictions, each next to its baselines.

    The result is the audit of `data`; datasets in `also` are audited with the same options, are in
    the same report, and are `also` of the result. A judge is asked within the caps, and from here
    where an engine shares the checks among processes or machines. `settings` are the margins of the
    verdicts. `prepare` applies what an audit advises.
    """
    _refuse_unused(judge, provider, capped=is_capped(calls))
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
        published=published,
    )
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
            whole = [Dataset.of(source, None, **columns_of(calls)) for source in (data, *also)]
            datasets = [dataset.sampled(limit, seed) for dataset in whole]
            if run.estimate:
                run.estimated(
                    _cost(run, model, [Subject.of(dataset, target) for dataset in datasets])
                )
            audits = [
                _tried(run_all(dataset, judge=model), dataset, run_all) for dataset in datasets
            ]
        audits[0].folder = called or audits[0].folder
        run.fill(lambda folder: fill(contents(audits), folder))
    audits[0].also = tuple(audits[1:])
    return audits[0]


def _tried(audited: Audited, dataset: Dataset, run_all: partial[Audited]) -> Audited:
    """The audit, with what it advises tried: a split made, a copy cleaned and audited again."""
    chosen = run_all.keywords
    if chosen["protocol"] == "fair":
        context = Context("fair", audited.seed, chosen["settings"] or AuditSettings())

        def again(data: Dataset, checks: Sequence[str]) -> Sequence[Finding]:
            return run_all(data, checks=checks).findings

        with reporting(silent):
            audited.grounds = tried(
                dataset,
                audited.findings,
                Subject.of(dataset, audited.target, context),
                again,
                checks=len(chosen["checks"] or ()) or None,
            )
    return audited


def _refuse_unused(
    judge: str | FeasibilityJudge | None,
    provider: str | Sequence[str],
    *,
    capped: bool,
) -> None:
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
        audits = [audit for path in saved for audit in read_audits(Path(path))]
        run.fill(lambda folder: fill(contents(audits), folder))
    return audits


@repeatable()
def diff(  # noqa: PLR0913
    before: Annotated[
        Source, Argument("A report folder of `claimlab audit`, a dataset folder, or a study.")
    ],
    after: Annotated[Source, Argument("The one to compare it with, of the same kind.")],
    *,
    output: OptionalFolder = None,
    checks: Checks = None,
    target: Target = None,
    label: Annotated[str | None, Option("Of tables: the column of the label.")] = None,
    map: Annotated[
        Mapping[str, str] | Place | None,
        Option("Of tables: what labels mean, such as fishy=false, a file or a name.", kind=str),
    ] = None,
    allow: Annotated[
        Sequence[str],
        Option(
            "An amount that may be too much: NAME, or NAME=AMOUNT up to a figure; may be repeated.",
            metavar="NAME",
        ),
    ] = (),
    max_growth: Annotated[
        float, Option("Points by which a share, such as a leak, may grow.", least=0)
    ] = MAX_GROWTH_POINTS,
    max_label_changes: Annotated[
        float, Option("Percent of the records whose label may change.", least=0)
    ] = MAX_LABEL_CHANGES_PERCENT,
    max_lost: Annotated[
        float,
        Option("Percent of the records, or of a part of the split, that may go.", least=0),
    ] = MAX_LOST_PERCENT,
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
) -> Diff:
    """Which findings came, went or changed between two saved audits, or between two versions of a
    dataset.

    Two datasets are audited alike, and their records are compared by id; for other protocols or
    columns, save two audits and compare those. `checks` names the checks to compare (all by
    default). `gate` of the result has every amount before and after (shares, sizes of parts and
    classes, labels that changed), and says which are too much: `gate.failed`. With `output`, a
    report is written there, with `annotations.txt` and `junit.xml`.
    """
    with Run(
        "diff", None, output, kind=DIFF, reads=folders_of(before, after), force=force, seed=seed
    ) as run:
        saved = [_saved(source) for source in (before, after)]
        records = None
        data: list[Dataset] = []
        limits = GateLimits(max_growth, max_label_changes, max_lost, allowed(allow))
        if saved[0] is not None and saved[1] is not None:
            audits = [
                replace(
                    entry,
                    findings=[f for f in entry.findings if checks is None or f.check in checks],
                )
                for entry in saved
                if entry is not None
            ]
        elif any(saved):
            Dataset.of(
                before if saved[0] is None else after
            )  # one that is not there, or is neither, says so itself
            raise UsageError(
                "One of the two is a saved audit, the other a dataset.", "Compare two of one kind."
            )
        else:
            given: DataOptions = {"label": label, "map": map}
            data = [_version(source, limit, columns_of(given)) for source in (before, after)]
            audits = [run_checks(d, checks=checks, target=target, seed=seed) for d in data]
            records = record_changes(*data)
        difference = Diff(
            audits[0],
            audits[1],
            records,
            gate((audits[0], audits[1]), (data[0], data[1]) if data else None, limits),
            *(_lines(after, data[1]) if data else ()),
        )
        if data:
            difference = replace(difference, maps=(data[0].label_map, data[1].label_map))
        views = {ANNOTATIONS_FILE: github_lines(difference), JUNIT_FILE: junit(difference)}
        data_files = {
            "diff.json": difference.to_json(),
            "audit.json": {"audits": [a.to_json() for a in audits]},
        }
        run.fill(
            lambda folder: fill(
                Contents(DIFF, [diff_page(difference)], data=data_files, files=views), folder
            )
        )
    return difference


def _version(source: Source, limit: int | None, columns: DataOptions) -> Dataset:
    """One of the two versions; what its columns are is for data that is imported first."""
    read = isinstance(source, str | Path) and not Path(source).is_file()
    given = DataOptions() if read or isinstance(source, Dataset) else columns
    return Dataset.of(source, limit, **given)


def _lines(source: Source, data: Dataset) -> tuple[str, dict[str, int]]:
    """The table that a version was read from, and the line of each record; nothing of a folder."""
    if not isinstance(source, str | Path) or not Path(source).is_file() or not data.lineage:
        return "", {}
    read = data.lineage[0].parameters
    layouts = read.get("layouts") or [{}]
    column = read.get("columns", {}).get("id")
    lines = lines_of(Path(source), layouts[0], column, data.name)
    known = set(data.records["id"])
    return str(source), lines if known <= set(lines) else {}


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
