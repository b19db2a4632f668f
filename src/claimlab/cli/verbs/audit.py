"""`claimlab audit`: every shortcut, leak and contradiction of a dataset on one page."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.complete import checks as check_names
from claimlab.cli.flags import in_flags
from claimlab.cli.output import (
    complain,
    echo,
    emit,
    listing,
    page,
    progress_bar,
    refuse_nothing_to_open,
    screen,
    show_estimate,
    suggest,
    verb,
    written,
)
from claimlab.core.errors import UsageError
from claimlab.core.places import named
from claimlab.core.words import several

if TYPE_CHECKING:
    from claimlab.audit.front import Fixed
    from claimlab.audit.result import Audit

app = verb()


def _list_checks(as_json: bool) -> None:
    from claimlab.audit.check import CHECKS

    listing(
        "checks",
        {name: check.question for name, check in CHECKS.all().items()},
        as_json=as_json,
        verb="audit",
    )


CheckOption = Annotated[
    list[str] | None,
    typer.Option(
        "--check", help="Run only this check; may be repeated.", autocompletion=check_names
    ),
]
ColumnsOption = Annotated[
    list[str] | None, typer.Option("--column", help="Test this column, too (meta.KEY for meta).")
]
SavedOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--from", help="Show a saved audit.json again instead of auditing; may be repeated."
    ),
]
FixOption = Annotated[
    bool,
    typer.Option(
        "--fix",
        help="Write a dataset to -o without what a split can remove, audited before and after.",
    ),
]
ChecksOption = Annotated[bool, o.listing_option("--checks", "the checks", _list_checks)]
JudgeOption = Annotated[
    str | None,
    typer.Option(help="Model profile that judges whether claims can be checked (feasibility)."),
]
StrictFlag = Annotated[
    bool,
    typer.Option("--strict", help="Exit with 3 unless every check has a verdict and none fails."),
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option(
        help=(
            "Result that --strict accepts: CHECK, or CHECK=fail, =inconclusive or =not-measured;"
            " may be repeated."
        ),
        metavar="CHECK",
    ),
]
ProviderOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Search provider for the evidence that the judge sees; may be repeated (fallbacks)."
    ),
]


@app.command()
def audit(
    folders: Annotated[
        list[Path] | None, o.folders_argument("One or more claimlab dataset folders.")
    ] = None,
    output: o.OptionalOutput = None,
    checks: CheckOption = None,
    protocol: Annotated[
        str, typer.Option(help="'fair', or 'cdl' and 'cdl-holdout' for published numbers.")
    ] = "fair",
    target: Annotated[
        str, typer.Option(help="'veracity' (true/false), 'veracity-mixed', or any column.")
    ] = "veracity",
    columns: ColumnsOption = None,
    saved: SavedOption = None,
    fix: FixOption = False,
    judge: JudgeOption = None,
    judge_sample: Annotated[
        int, typer.Option(min=30, help="Number of records that the judge is asked about.")
    ] = 300,
    prompts: o.PromptOption = None,
    provider: ProviderOption = None,
    calls: o.Calls = o.CALLS,
    estimate: o.EstimateFlag = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print every finding in full sentences.")
    ] = False,
    _list: ChecksOption = False,
    strict: StrictFlag = False,
    allow: AllowOption = None,
    seed: o.SeedOption = 0,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    engine: o.EngineOption = None,
    open_page: o.OpenFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Test datasets for shortcuts, leaks and contradictions, each next to its baselines."""
    words = o.arguments(locals(), "folders", "saved", "fix", "verbose", "strict", "allow")
    _refuse_unclear(folders, saved, fix, output, judge, open_page)
    accepted = _accepted(strict, allow)
    from claimlab.audit import front

    words["debug"] = bool(os.environ.get("CLAIMLAB_DEBUG"))
    paths: list[Path] = folders or []
    if estimate:
        show_estimate(front.estimate_audit(paths, **words), as_json)
        return
    if fix:
        with progress_bar() as progress:
            of_fix = {
                name: words[name]
                for name in inspect.signature(front.fix).parameters
                if name in words
            }
            fixed = front.fix(paths[0], **of_fix, progress=progress)
        _show_fixed(fixed, open_page, as_json)
        _fail([fixed.after], accepted)
        return
    with progress_bar() as progress:
        audits: Sequence[Audit] = (
            front.saved_audits(saved, output=output, force=force)
            if saved
            else front.audit_all(paths, **words, progress=progress)
        )
    _show(audits, paths, output, open_page, verbose, as_json)
    _fail(audits, accepted)


def _accepted(strict: bool, allow: list[str] | None) -> list[str] | None:
    """What --strict accepts, and null without it. An unknown check is refused before the work."""
    if allow and not strict:
        raise UsageError("--allow says what --strict accepts.", "Add --strict.")
    if allow:
        from claimlab.audit.guard import strict as held_against

        held_against([], allow)
    return (allow or []) if strict else None


def _fail(audits: Sequence[Audit], accepted: list[str] | None) -> None:
    """Exit with 3 where a result is not accepted, with the reason of each and the options that
    would accept it.
    """
    if accepted is None:
        return
    from claimlab.audit.guard import strict

    against = strict(audits, accepted)
    for line in against.lines(brief=True):
        complain(f"Failed: {in_flags(line, 'audit')}")
    if against.refused:
        complain(f"To accept: {' '.join(f'--allow {option}' for option in against.options)}")
    if against.lines():
        raise typer.Exit(3)


def _refuse_unclear(
    folders: list[Path] | None,
    saved: list[Path] | None,
    fix: bool,
    output: Path | None,
    judge: str | None,
    open_page: bool,
) -> None:
    refuse_nothing_to_open(open_page, output)
    if bool(folders) == bool(saved):
        raise UsageError(
            "No dataset given.",
            "Name dataset folders, or a saved audit with --from FILE, but not both.",
        )
    if fix and (len(folders or ()) != 1 or output is None or judge is not None):
        raise UsageError(
            "--fix repairs one dataset and asks no judge.", "Use: claimlab audit DIR --fix -o NEW"
        )


def _show(
    audits: Sequence[Audit],
    paths: list[Path],
    output: Path | None,
    open_page: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    if as_json:
        findings = [
            {"dataset": a.dataset, **f.model_dump(mode="json")} for a in audits for f in a.findings
        ]
        heads = [
            {k: v for k, v in a.to_json().items() if k not in ("findings", "examples")}
            for a in audits
        ]
        emit({"findings": findings, "audits": heads})
    else:
        _print(audits, paths, verbose)
    if output is not None:
        page(output / "index.html", open_page=open_page)
    suggest(audits[0].next_step(str(paths[0]) if paths else None).shell, as_json=as_json)


def _show_fixed(fixed: Fixed, open_page: bool, as_json: bool) -> None:
    counts = {"before": fixed.before.counts(), "after": fixed.after.counts()}
    if not as_json:
        for reason, n in fixed.removed.items():
            echo(f"  {several(n, 'record')} removed: {reason}")
        for name, tally in counts.items():
            echo(f"  {name}: " + ", ".join(f"{n} {verdict}" for verdict, n in tally.items()))
    written(fixed.dataset, as_json=as_json, more={"removed": fixed.removed, "verdicts": counts})
    assert fixed.dataset.path is not None
    page(fixed.dataset.path / "report" / "index.html", open_page=open_page)
    suggest(f"claimlab detect {fixed.dataset.path} -o RUN", as_json=as_json)


def _print(audits: Sequence[Audit], paths: Sequence[Path], verbose: bool) -> None:
    from claimlab.audit.views.screen import screen as one_screen

    width, colour = screen()
    for one, path in zip_longest(audits, paths):
        where = None if path is None else named(str(path))
        text = one_screen(
            one,
            width=min(width, 120),
            colour=colour,
            verbose=verbose,
            folder=where,
            more="--verbose",
        )
        echo(text, styled=True)
