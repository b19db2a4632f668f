"""`claimlab labels`: the label maps, and claims that have different labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from claimlab.cli import options as o
from claimlab.cli.output import (
    echo,
    emit,
    note,
    progress_bar,
    say,
    screen,
    several,
    show_blocks,
    suggest,
    verb,
)
from claimlab.core.words import several_of

app = verb()
MOST_PAIRS = 10  # of datasets: what they share is said of these, however few conflicts are shown


@app.callback()
def labels() -> None:
    """Look up label maps, and find claims that have different labels."""


@app.command()
def maps(as_json: o.JsonFlag = False) -> None:
    """List every label map: the general one, and those of each dataset."""
    from claimlab.catalog.maps import all_maps, summary
    from claimlab.pages.blocks import Table
    from claimlab.pages.terminal import grid

    known = {address: summary(one) for address, one in all_maps().items()}
    if as_json:
        emit({"maps": [{"map": address, **values} for address, values in known.items()]})
        return
    columns = ("Map", "Version", "True", "False", "Mixed", "Unknown", "Note")
    rows = [(address, *values.values()) for address, values in known.items()]
    width, colour = screen()
    for line in grid(
        Table(columns, rows), width=width, colour=colour, whole=columns[:-1], cut=True
    ):
        echo(line, styled=True)
    echo(
        f"\n{len(rows)} maps; the figures count the values that each knows. One in full: claimlab"
        " labels show MAP"
    )


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(help="A map: ratings, liar/a5, or a TOML file; claimlab labels maps")
    ],
    as_json: o.JsonFlag = False,
) -> None:
    """Show one label map: what a source may write, and the label it means."""
    from claimlab.catalog.maps import find_map
    from claimlab.catalog.views.card import by_verdict, map_json
    from claimlab.pages.blocks import Section, Table, Text

    verdicts = find_map(name)
    if as_json:
        emit(map_json(verdicts))
        return
    rule = (
        "Compared letter by letter."
        if verdicts.exact
        else "Compared after folding case, accents, hyphens and whitespace."
    )
    table = Table(("Label", "What the source wrote"), by_verdict(verdicts))
    note = [Text(verdicts.note)] if verdicts.note else []
    page = Section(f"{verdicts.name}, version {verdicts.version}", [*note, Text(rule), table])
    show_blocks([page], most=100)


@app.command()
def conflicts(
    folders: Annotated[list[Path], o.folders_argument("One or more claimlab dataset folders.")],
    near: Annotated[
        bool,
        typer.Option(
            "--near/--exact", help="Also texts that are nearly the same; or only the same."
        ),
    ] = False,
    threshold: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=1.0,
            metavar="J",
            help="How near: Jaccard similarity of 5-grams, with --near.",
        ),
    ] = 0.7,
    by: Annotated[
        str,
        typer.Option(
            metavar="KEY", help="What makes a claim the same: 'text', or 'tweet' (its id)."
        ),
    ] = "text",
    shown: Annotated[
        int,
        typer.Option(
            "--show", min=0, metavar="N", help="How many to print; files and JSON have all."
        ),
    ] = 20,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write them all to this CSV file.")
    ] = None,
    force: o.ForceFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """List claims that have different labels, across datasets and within one."""
    with progress_bar() as progress:
        from claimlab.catalog.conflicts import labels as find_conflicts

        conflicting = find_conflicts(
            folders,
            output=output,
            by=by,
            near=near,
            threshold=threshold,
            force=force,
            progress=progress,
        )
    what = "text" if by == "text" else "tweet id"
    lacking = [
        f"{several(n, 'record')} of {name} without" for name, n in conflicting.left_out.items() if n
    ]
    note((f"{those} {what} or label: not compared." for those in lacking), "labels conflicts")
    if as_json:
        emit(
            {
                "conflicts": [c.to_json() for c in conflicting.conflicts],
                "counts": conflicting.counts(),
            }
        )
        return
    print_conflicts(conflicting, shown, sameness(by, near))
    if output is not None:
        say(f"Wrote {output}: {several(len(conflicting.conflicts), 'conflict')}.")
    suggest("claimlab clean DIR -o DIR", as_json=as_json)


def sameness(by: str, near: bool) -> str:
    """What a shared record has in the other dataset."""
    from claimlab.text.near import ASIDE

    if by == "tweet":
        return "the same tweet id"
    return f"the same text ({ASIDE})" + (" or a near-duplicate" if near else "")


def print_conflicts(conflicts: Any, shown: int, same: str) -> None:
    from claimlab.pages.blocks import Table
    from claimlab.pages.terminal import grid

    counts = conflicts.counts()
    rows = [
        (
            number if at == 0 else "",
            f"{c.similarity:.2f}" if at == 0 else "",
            s.dataset,
            s.veracity,
            s.records,
            s.text or ", ".join(s.ids),
        )
        for number, c in enumerate(conflicts.conflicts[:shown], 1)
        for at, s in enumerate(c.sides)
    ]
    if rows:
        width, colour = screen()
        columns = ("No.", "Same", "Dataset", "Label", "Records", "Text")
        for line in grid(
            Table(columns, rows), width=width, colour=colour, whole=columns[:-1], cut=True
        ):
            echo(line, styled=True)
        echo()
    for (one, other), n in list(conflicts.shared.items())[: max(shown, MOST_PAIRS)]:
        of = several_of(n, conflicts.compared[other], "record")
        echo(f"{of} of {other} {'has' if n == 1 else 'have'} {same} in {one}.")
    hidden = (
        f" ({len(conflicts.conflicts) - shown:,} not shown; see --show and -o)"
        if len(conflicts.conflicts) > shown
        else ""
    )
    compared = several(counts["compared"], "record")
    echo(
        f"{several(counts['conflicts'], 'conflict')}{hidden} in {compared} with a label: "
        f"{counts['across']:,} between datasets, {counts['within']:,} within one."
    )
