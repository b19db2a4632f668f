"""`claimlab audit`: every shortcut, leak and contradiction of a dataset on one page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claimlab.cli.output import (
    ForceFlag,
    JsonFlag,
    LimitOption,
    SeedOption,
    echo,
    emit,
    progress_bar,
    say,
    verb,
    written,
)

if TYPE_CHECKING:
    from claimlab.audit.judge import ModelJudge
    from claimlab.audit.result import Audit
    from claimlab.core.progress import Progress

app = verb()
Caps = tuple[float | None, int | None, int | None]  # money, calls, tokens


@app.command()
def audit(
    folders: Annotated[list[Path] | None, typer.Argument(help="One or more claimlab dataset folders.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the report (HTML, JSON, Markdown, LaTeX, pictures)."),
    ] = None,
    check: Annotated[list[str] | None, typer.Option("--check", help="Run only this check; may be repeated.")] = None,
    protocol: Annotated[str, typer.Option(help="'fair', or 'cdl' to reproduce published numbers.")] = "fair",
    target: Annotated[str, typer.Option(help="'veracity' (true/false), 'veracity-mixed', or any column.")] = "veracity",
    column: Annotated[
        list[str] | None, typer.Option("--column", help="Put this column to the test too (meta.KEY for meta).")
    ] = None,
    saved: Annotated[
        list[Path] | None,
        typer.Option("--from", help="Show a saved audit.json again instead of auditing; may be repeated."),
    ] = None,
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Write a dataset to -o without what a split can remove, audited before and after."),
    ] = False,
    judge: Annotated[
        str | None, typer.Option(help="Model profile that judges whether claims can be checked (feasibility).")
    ] = None,
    judge_sample: Annotated[int, typer.Option(min=30, help="Records that the judge is asked about.")] = 300,
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars that the judge may spend at most.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Calls that the judge may make at most.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Tokens that the judge may use at most.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when a check fails.")] = False,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Audit datasets for shortcuts, leaks and contradictions, each beside its baselines."""
    from claimlab.audit.write import KIND, read_audits, write_audits
    from claimlab.core.errors import UsageError
    from claimlab.core.guard import refuse_taken

    options: dict[str, Any] = {
        "checks": check, "protocol": protocol, "target": target, "columns": column or (), "seed": seed,
        "debug": bool(os.environ.get("CLAIMLAB_DEBUG")),
    }  # fmt: skip
    paths = _inputs(folders, saved, output, fix)
    caps = (max_cost, max_calls, max_tokens)
    if fix:
        if judge is not None:
            raise UsageError("--fix audits twice and asks no judge.", "Leave out --judge, or audit without --fix.")
        _fix(paths[0], output, options, limit=limit, force=force, as_json=as_json)
        return
    if output is not None:
        refuse_taken(output, force=force, kind=KIND, reads=[*paths, *(saved or ())])
    audits = (
        [a for path in saved for a in read_audits(path)]
        if saved
        else _run(paths, options, limit, judge, judge_sample, caps)
    )
    if output is not None:
        write_audits(audits, output, force=force)
        say(f"Report: {output / 'index.html'}")
    if as_json:
        findings = [{"dataset": a.dataset, **f.model_dump(mode="json")} for a in audits for f in a.findings]
        heads = [{k: v for k, v in a.to_json().items() if k not in ("findings", "examples")} for a in audits]
        emit({"findings": findings, "audits": heads})
    else:
        _print(audits)
    if strict and any(f.verdict == "fail" for a in audits for f in a.findings):
        raise typer.Exit(3)


def _inputs(folders: list[Path] | None, saved: list[Path] | None, output: Path | None, fix: bool) -> list[Path]:
    """The dataset folders, once the options are known to go together."""
    from claimlab.core.errors import UsageError

    if bool(folders) == bool(saved):
        raise UsageError("Audit what?", "Name dataset folders, or a saved audit with --from FILE, but not both.")
    if fix and (len(folders or ()) != 1 or output is None):
        raise UsageError("--fix mends one dataset into a new folder.", "Use: claimlab audit DIR --fix -o NEW")
    return folders or []


def _run(
    paths: list[Path], options: dict[str, Any], limit: int | None, judge: str | None, sample: int, caps: Caps
) -> list[Audit]:
    from claimlab.audit.run import audit as run_audit
    from claimlab.core.dataset import Dataset

    with progress_bar() as progress:
        options["judge"] = _judge(judge, sample, caps, progress)
        return [run_audit(Dataset.open(path).limited(limit), progress=progress, **options) for path in paths]


def _fix(
    path: Path, output: Path | None, options: dict[str, Any], *, limit: int | None, force: bool, as_json: bool
) -> None:
    """Audit, mend, audit again; write the mended dataset with both audits beside it."""
    from claimlab.audit.fix.mend import mend
    from claimlab.audit.fix.write import REPORT, write_mended
    from claimlab.audit.run import audit as run_audit
    from claimlab.core.dataset import Dataset, refuse_overwrite

    assert output is not None  # _inputs has seen to it
    refuse_overwrite(output, force, reads=path)
    dataset = Dataset.open(path).limited(limit)
    with progress_bar() as progress:
        before = run_audit(dataset, progress=progress, **options)
        mended = mend(dataset, target=options["target"], seed=options["seed"])
        after = run_audit(mended.dataset, progress=progress, **options)
        write_mended(mended, before, after, output, force=force)
    say(f"Report: {output / REPORT / 'index.html'}")
    counts = {"before": before.counts(), "after": after.counts()}
    if not as_json:
        for reason, n in mended.removed.items():
            echo(f"  {n:,} records taken out: {reason}")
        for name, tally in counts.items():
            echo(f"  {name}: " + ", ".join(f"{n} {verdict}" for verdict, n in tally.items()))
    written(mended.dataset, as_json=as_json, more={"removed": mended.removed, "verdicts": counts})


def _print(audits: list[Audit]) -> None:
    from claimlab.audit.views.wording import headline, ordered

    for one in audits:
        echo(f"{one.dataset}: {headline(one)}")
        for finding in ordered(one.findings):
            name = f"{finding.check}{f' ({finding.feature})' if finding.feature else ''}"
            echo(f"  {finding.verdict:<12} {name}: {finding.why}")


def _judge(profile: str | None, sample: int, caps: Caps, progress: Progress) -> ModelJudge | None:
    """The model that was named to judge feasibility, within its caps; null when none was."""
    from claimlab.core.errors import UsageError

    if profile is None:
        if any(cap is not None for cap in caps):
            raise UsageError("A cap was set, but an audit without a judge spends nothing.", "Add --judge PROFILE.")
        return None
    from claimlab.audit.judge import ModelJudge
    from claimlab.core.budget import Budget
    from claimlab.core.calls.calls import Calls
    from claimlab.core.places import cache_folder
    from claimlab.llm.open import open_provider

    money, calls, tokens = caps
    spending = Budget(money=money, tokens=tokens, calls=calls)
    provider = open_provider(profile, calls=Calls(cache=cache_folder(), budget=spending))
    return ModelJudge(provider, sample, progress=progress)
