"""`claimlab evolve worth`: how check-worthy claims are, under stated conditions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import (
    echo,
    page,
    progress_bar,
    several,
    show_blocks,
    show_estimate,
    suggest,
    wants_json,
    written,
)

if TYPE_CHECKING:
    from claimlab.evolve.worth.views import Worth


BackgroundOption = Annotated[
    str | None,
    typer.Option(help="Such as time_node=sensitive,regulatory_pressure=high,trust_climate=low."),
]
UserOption = Annotated[
    list[str] | None,
    typer.Option("--user", help="ATTRIBUTE=VALUE that users must have; may be repeated."),
]
PerspectiveOption = Annotated[
    str | None,
    typer.Option(help="Content values that count, optionally with weights: controversy=2,novelty."),
]
ByOption = Annotated[
    str | None,
    typer.Option(help="Score under each value of this attribute or part of the background, too."),
]


def worth(
    data: o.DatasetArgument,
    output: o.OutputOption,
    reading: Annotated[
        str, typer.Option(help="'free' (ours, unrounded), 'paper' or 'released'.")
    ] = "free",
    background: BackgroundOption = None,
    user: UserOption = None,
    perspective: PerspectiveOption = None,
    content_weight: Annotated[
        float | None, typer.Option(min=0, help="Weight of the content value.")
    ] = None,
    propagation_weight: Annotated[
        float | None, typer.Option(min=0, help="Weight of the propagation ability.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="A claim with at least this score is worthy.")
    ] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="How deep a cascade may go (3).")] = None,
    fan_out: Annotated[
        int | None, typer.Option(min=1, help="How many others a user tells at most (3).")
    ] = None,
    population: Annotated[str, typer.Option(help="A file of users, or how many to draw.")] = "90",
    network: Annotated[str, typer.Option(help="A file, or a kind of network.")] = "dunbar",
    values: Annotated[
        Path | None, typer.Option(help="Your own questions and backgrounds (TOML).")
    ] = None,
    by: ByOption = None,
    people: Annotated[
        Path | None,
        typer.Option(help="Annotators' scores to compare with: a table with id and score."),
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Model profile that plays the users (needed).")
    ] = None,
    prompts: o.PromptOption = None,
    calls: o.Calls = o.CALLS,
    estimate: o.EstimateFlag = False,
    seed: o.SeedOption = 0,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    open_page: o.OpenFlag = False,
) -> None:
    """Score how check-worthy claims are, given the social background, the users and the
    perspective.
    """
    words = o.arguments(locals())
    from claimlab.evolve.worth.front import REPORT, estimate_worth
    from claimlab.evolve.worth.front import worth as score

    if estimate:
        show_estimate(estimate_worth(**words))
        return
    with progress_bar() as progress:
        scored = score(**words, progress=progress)
    if wants_json():
        assert scored.dataset is not None
        written(scored.dataset, more={"worth": scored.to_json()})
    else:
        _print(scored, output)
    page(output / REPORT / "index.html", open_page=open_page)
    suggest(f"claimlab export {output} --to csv -o DIR")


def _print(scored: Worth, output: Path) -> None:
    from claimlab.evolve.worth.views import by_topic, top_claims
    from claimlab.pages.blocks import Table

    top = top_claims(scored, 5)
    figures, bounds = scored.to_json(), scored.perspective.bounds
    known = several(figures["claims"] - figures["unscored"], "claim")
    echo(
        f"Wrote {output}: {known} scored ({figures['method']}), {figures['unscored']:,} without a"
        " score."
    )
    echo(
        f"  Highest possible score with depth {bounds.depth} and fan-out {bounds.fan_out}:"
        f" {scored.ceiling:.3f}"
    )
    show_blocks(
        [Table(("Score", "Most check-worthy"), [(f"{score:.3f}", text) for score, _, text in top])]
    )
    echo()
    for row in by_topic(scored).head(10).iter_rows(named=True):
        if row["mean"] is not None:
            echo(
                f"  {row['topic']}: mean {row['mean']:.3f}, quartiles {row['lower']:.3f} to"
                f" {row['upper']:.3f}"
            )
    if figures["worthy"] is not None:
        echo(
            f"  {figures['worthy']:,} at or above the threshold of {scored.perspective.threshold:g}"
        )
    for row in figures["conditions"] or ():
        echo(
            f"  {scored.by} {row['condition']}: mean {row['mean']:.3f}, distance"
            f" {row['distance']:.3f}"
        )
    if scored.people is not None:
        echo(
            "  Wasserstein distance from the annotators' scores:"
            f" {scored.people['wasserstein']:.3f}"
        )
