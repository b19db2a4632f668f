"""`claimlab diff`: what changed between two audits, two versions of a dataset, or two studies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from claimlab.cli import options as o
from claimlab.cli.output import (
    emit,
    page,
    progress_bar,
    refuse_nothing_to_open,
    show_blocks,
    suggest,
    verb,
)
from claimlab.core.errors import UsageError

app = verb()


@app.command()
def diff(
    before: Annotated[
        Path,
        typer.Argument(help="A report folder of `claimlab audit`, a dataset folder, or a study."),
    ],
    after: Annotated[Path, typer.Argument(help="The one to compare it with, of the same kind.")],
    output: o.OptionalOutput = None,
    checks: Annotated[
        list[str] | None, typer.Option("--check", help="Only this check; may be repeated.")
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="Of the audits that are made: 'fair' or 'cdl'.")
    ] = "fair",
    target: Annotated[
        str, typer.Option(help="'veracity' (true/false), 'veracity-mixed', or any column.")
    ] = "veracity",
    columns: Annotated[
        list[str] | None, typer.Option("--column", help="Test this column, too.")
    ] = None,
    seed: o.SeedOption = 0,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    open_page: o.OpenFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Compare two saved audits, two versions of a dataset (both are audited), or two studies (score
    by score).
    """
    refuse_nothing_to_open(open_page, output)
    studies = _are_studies(before, after)
    if studies:
        audits_only = {"--check": checks, "--column": columns, "--limit": limit}
        if flags := [flag for flag, value in audits_only.items() if value]:
            raise UsageError(
                f"{flags[0]} is for audits; '{before}' is a study.", f"Leave out {flags[0]}."
            )
        _diff_studies(before, after, output, force=force, as_json=as_json)
    else:
        _diff_audits(
            before,
            after,
            as_json=as_json,
            output=output,
            checks=checks,
            protocol=protocol,
            target=target,
            columns=columns or (),
            seed=seed,
            limit=limit,
            force=force,
        )
    if output is not None:
        page(output / "index.html", open_page=open_page)
    suggest(
        f"claimlab study table {after}" if studies else f"claimlab show {after}", as_json=as_json
    )


def _are_studies(before: Path, after: Path) -> bool:
    from claimlab.study.diff import is_study

    if is_study(before) != is_study(after):
        raise UsageError("One of the two is a study, the other is not.", "Compare two of one kind.")
    return is_study(before)


def _diff_studies(
    before: Path, after: Path, output: Path | None, *, force: bool, as_json: bool
) -> None:
    with progress_bar() as progress:
        from claimlab.study.diff import diff_blocks, study_diff

        difference = study_diff(before, after, output=output, force=force, progress=progress)
    if as_json:
        emit(difference.to_json())
    else:
        show_blocks(diff_blocks(difference, everything=False))


def _diff_audits(before: Path, after: Path, *, as_json: bool, **options: Any) -> None:
    with progress_bar() as progress:
        from claimlab.audit.front import diff as compare
        from claimlab.audit.views.compare import diff_blocks

        difference = compare(before, after, **options, progress=progress)
    if as_json:
        emit(difference.to_json())
    else:
        show_blocks(diff_blocks(difference, everything=False), most=120)
