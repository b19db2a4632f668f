"""`claimlab evolve seed`: claims to start from, written by a model from contexts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import (
    echo,
    note,
    progress_bar,
    show_estimate,
    suggest,
    wants_json,
    written,
)


def seed(
    contexts: Annotated[
        Path,
        typer.Argument(
            help="Source texts: a file (abstracts, or a column 'text') or a dataset folder."
        ),
    ],
    output: o.OutputOption,
    profile: o.ProfileOption = None,
    model: o.ModelOption = None,
    member: Annotated[
        str | None, typer.Option(help="The file inside an archive or folder that holds several.")
    ] = None,
    claims: Annotated[int, typer.Option(min=0, help="Claims from each context.")] = 5,
    non_claims: Annotated[
        int, typer.Option(min=0, help="Sentences that are not claims from each context.")
    ] = 2,
    gray: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the sentences to make harder.")
    ] = 0.25,
    name: Annotated[str, typer.Option(help="Name of the dataset.")] = "seeds",
    prompts: o.PromptOption = None,
    calls: o.Calls = o.CALLS,
    estimate: o.EstimateFlag = False,
    seed: o.SeedOption = 0,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Use only the first N contexts.")
    ] = None,
    force: o.ForceFlag = False,
) -> None:
    """Let a model write claims and non-claims from texts, each with its label, origin and change
    log.
    """
    words = o.arguments(locals())
    from claimlab.evolve.claims.front import estimate_seed_claims, seed_claims

    if estimate:
        show_estimate(estimate_seed_claims(**words))
        return
    with progress_bar() as progress:
        seeded = seed_claims(**words, progress=progress)
    more = {"seeded": seeded.counts, "dropped": seeded.dropped, "calls": seeded.calls}
    written(seeded.dataset, more=more)
    if not wants_json():
        for what, count in {**seeded.counts, **seeded.dropped}.items():
            echo(f"  {count:>8,} {what.replace('_', ' ')}")
    note(seeded.dataset.notes, "evolve seed")
    suggest(f"claimlab evolve run {output} -o {output}-evolved")
