"""`claimlab diff`: which findings came, went or changed between two audits or two versions of a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import emit, page, progress_bar, refuse_nothing_to_open, show_blocks, suggest, verb

app = verb()


@app.command()
def diff(
    before: Annotated[Path, typer.Argument(help="A report folder of `claimlab audit`, or a dataset folder.")],
    after: Annotated[Path, typer.Argument(help="The one to compare it with, of the same kind.")],
    output: o.OptionalOutput = None,
    checks: Annotated[list[str] | None, typer.Option("--check", help="Only this check; may be repeated.")] = None,
    protocol: Annotated[str, typer.Option(help="Of the audits that are made: 'fair' or 'cdl'.")] = "fair",
    target: Annotated[str, typer.Option(help="'veracity' (true/false), 'veracity-mixed', or any column.")] = "veracity",
    columns: Annotated[list[str] | None, typer.Option("--column", help="Test this column, too.")] = None,
    seed: o.SeedOption = 0,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    open_page: o.OpenFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Compare two saved audits, or audit two versions of a dataset and compare findings and records."""
    refuse_nothing_to_open(open_page, output)
    with progress_bar() as progress:
        from claimlab.audit.front import diff as compare
        from claimlab.audit.views.compare import diff_blocks

        difference = compare(
            before, after, output=output, checks=checks, protocol=protocol, target=target, columns=columns or (),
            seed=seed, limit=limit, force=force, progress=progress,
        )  # fmt: skip
    if as_json:
        emit(difference.to_json())
    else:
        show_blocks(diff_blocks(difference, everything=False), most=120)
    if output is not None:
        page(output / "index.html", open_page=open_page)
    suggest(f"claimlab show {after}", as_json=as_json)
