"""`claimlab labels`: the label maps, and claims that have different labels."""

from __future__ import annotations

from typing import Annotated

from claimlab.catalog.conflicts import Conflicts
from claimlab.catalog.conflicts import labels as find_conflicts
from claimlab.catalog.load import all_maps, find_map, summary
from claimlab.catalog.views.card import by_verdict, map_json
from claimlab.cli.command import Call, verb
from claimlab.cli.output import (
    echo,
    emit,
    note,
    say,
    screen,
    several,
    show_blocks,
    suggest,
    wants_json,
)
from claimlab.core.calls.calls import without_recordings
from claimlab.core.options import Argument, Option
from claimlab.core.words import several_of
from claimlab.pages.blocks import Section, Table, Text
from claimlab.pages.terminal import grid
from claimlab.text.near import ASIDE

app = verb()
MOST_PAIRS = 10  # of datasets: what they share is said of these, however few conflicts are shown


@app.callback()
def labels() -> None:
    """Look up label maps, and find claims that have different labels."""


@app.of(None)
def maps() -> None:
    """List every label map: the general one, and those of each dataset."""
    known = {address: summary(one) for address, one in all_maps().items()}
    if wants_json():
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


@app.of(None)
def show(
    name: Annotated[str, Argument("A map: ratings, liar/a5, or a TOML file; claimlab labels maps")],
) -> None:
    """Show one label map: what a source may write, and the label it means."""
    verdicts = find_map(name)
    if wants_json():
        emit(map_json(verdicts))
        return
    rule = (
        "Compared letter by letter."
        if verdicts.exact
        else "Compared after folding case, accents, hyphens and whitespace."
    )
    table = Table(("Label", "What the source wrote"), by_verdict(verdicts))
    about = [Text(verdicts.note)] if verdicts.note else []
    page = Section(f"{verdicts.name}, version {verdicts.version}", [*about, Text(rule), table])
    show_blocks([page], most=100)


@app.of(find_conflicts)
def conflicts(
    call: Call[Conflicts],
    shown: Annotated[
        int,
        Option("How many to print; files and JSON have all.", flag="--show", least=0, metavar="N"),
    ] = 20,
) -> None:
    conflicting = call(data=without_recordings(call["data"]))
    by, near, output = call["by"], call["near"], call["output"]
    what = "text" if by == "text" else "tweet id"
    lacking = [
        f"{several(n, 'record')} of {name} without" for name, n in conflicting.left_out.items() if n
    ]
    note((f"{those} {what} or label: not compared." for those in lacking), "labels conflicts")
    if wants_json():
        pairs = [one.to_json() for one in conflicting.conflicts]
        emit({"conflicts": pairs, "counts": conflicting.counts()})
        return
    print_conflicts(conflicting, shown, sameness(by, near))
    if output is not None:
        say(f"Wrote {output}: {several(len(conflicting.conflicts), 'conflict')}.")
    suggest("claimlab clean DIR -o DIR")


def sameness(by: str, near: bool) -> str:
    """What a shared record has in the other dataset."""

    if by == "tweet":
        return "the same tweet id"
    return f"the same text ({ASIDE})" + (" or a near-duplicate" if near else "")


def print_conflicts(conflicts: Conflicts, shown: int, same: str) -> None:
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
