"""`claimlab generate run` and `preview`: samples from seeds, by a chain of roles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from claimlab.cli import options as o
from claimlab.cli.output import (
    echo,
    emit,
    progress_bar,
    say,
    several,
    show_blocks,
    show_estimate,
    suggest,
    wants_json,
    written,
)

ChainOption = Annotated[
    list[str] | None,
    typer.Option(help="'real', 'altered', 'translation' or a file; may be repeated. (real)"),
]
LanguageOption = Annotated[
    list[str] | None,
    typer.Option(
        "--language",
        help="English and the languages to go to and from; may be repeated. (eng, por)",
    ),
]
SizeOption = Annotated[int, typer.Option(min=1, help="Samples to make, over all chains.")]
StyleOption = Annotated[
    str, typer.Option(help="'form': one call per sample; 'roles': one call per role.")
]
ByOption = Annotated[
    list[str] | None,
    typer.Option(help="Column to draw evenly over; may be repeated. (language, source, topic)"),
]
ReputationOption = Annotated[
    Path | None, typer.Option(help="Table of sources: source, class (reputable, flagged).")
]
ProfilesOption = Annotated[
    list[str] | None,
    typer.Option("--profile", help="Model profile; may be repeated. See: claimlab llm profiles"),
]


def run(
    data: o.DatasetArgument,
    output: o.OutputOption,
    chain: ChainOption = None,
    languages: LanguageOption = None,
    size: SizeOption = 20,
    style: StyleOption = "form",
    by: ByOption = None,
    reputation: ReputationOption = None,
    profile: ProfilesOption = None,
    model: o.ModelOption = None,
    prompts: o.PromptOption = None,
    originals: Annotated[
        bool, typer.Option("--originals/--no-originals", help="Keep the seeds, as the human class.")
    ] = True,
    calls: o.BatchedCalls = o.BATCHED,
    estimate: o.EstimateFlag = False,
    concurrency: Annotated[int, typer.Option(min=1, max=512, help="Samples to make at once.")] = 16,
    seed: o.SeedOption = 0,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
) -> None:
    """Make labelled samples from the texts of a dataset: an article and a post, each in two
    languages.
    """
    words = o.arguments(locals())
    if estimate:
        from claimlab.generate.front import estimate_generate

        show_estimate(estimate_generate(**words))
        return
    with progress_bar() as progress:
        from claimlab.generate.front import generate

        generated = generate(**words, progress=progress)
    written(
        generated,
        more={"generated": generated.lineage[-1].counts, "coverage": generated.coverage},
    )
    if not wants_json():
        _print(generated)
    suggest(
        f"claimlab generate filter {output} -o {output}-good --report {output}-quality",
    )


def preview(
    data: o.DatasetArgument,
    output: o.OutputOption,
    chain: ChainOption = None,
    languages: LanguageOption = None,
    size: SizeOption = 20,
    style: StyleOption = "form",
    by: ByOption = None,
    reputation: ReputationOption = None,
    profile: ProfilesOption = None,
    model: o.ModelOption = None,
    prompts: o.PromptOption = None,
    calls: o.Calls = o.CALLS,
    seed: o.SeedOption = 0,
    limit: o.LimitOption = None,
) -> None:
    """Make five samples and show them, with what the whole run would cost; nothing is written but
    the recording.
    """
    words = o.arguments(locals())
    with progress_bar() as progress:
        from claimlab.generate.front import preview as look
        from claimlab.generate.views import sample_blocks

        generated, cost = look(**words, progress=progress)
    if wants_json():
        emit(
            {
                "samples": generated.tables["chains"].to_dicts(),
                "texts": generated.records.to_dicts(),
                "estimate": cost,
            }
        )
        return
    show_blocks(sample_blocks(generated), most=110)
    show_estimate(cost)
    suggest(f"claimlab generate run {data} -o {output} ... (the same options)")


def _print(generated: Any) -> None:
    from claimlab.generate.views import coverage_blocks

    counts = generated.lineage[-1].counts
    complete = counts.get("chains: complete", 0)
    echo(f"  {several(counts['samples'], 'sample')}, {complete:,} complete")
    for name, n in counts.items():
        kind, _, what = name.partition(": ")
        if kind == "chains" and what not in ("", "complete"):
            say(f"Note: {several(n, 'chain')} stopped: {what}.")
    if again := counts.get("answers asked for again", 0):
        say(
            f"Note: {several(again, 'answer')} could not be read and had to be asked for once more."
        )
    show_blocks(coverage_blocks(generated), most=100)
    if generated.standing:
        say(f"Note: the model that wrote texts is {generated.standing}.")
