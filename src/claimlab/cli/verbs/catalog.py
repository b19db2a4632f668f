"""`claimlab catalog`: what exists, what it is worth, how to get it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import claimlab as cl
from claimlab.catalog.citation import bibtex
from claimlab.catalog.decay import decay as decay_of
from claimlab.catalog.front import Listing
from claimlab.catalog.listing import LEGEND
from claimlab.catalog.listing import listing as lines_of
from claimlab.catalog.load import DATASETS
from claimlab.catalog.terms import licence as terms_of
from claimlab.catalog.views import card_blocks, heading, to_full_json, to_json
from claimlab.cli.command import Call, WholeSummaries, verb
from claimlab.cli.flags import in_flags
from claimlab.cli.output import (
    echo,
    emit,
    note,
    screen,
    several,
    show_blocks,
    show_grid,
    wants_json,
)
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.options import Argument
from claimlab.pages.blocks import Section, Table, Text

app = verb()
DatasetName = Annotated[
    str, Argument("Name of a dataset; claimlab catalog lists them.", complete="datasets")
]


class CatalogGroup(WholeSummaries):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """A dataset's name where a command belongs is the likeliest slip: say how to see it."""
        try:
            return super().resolve_command(ctx, args)
        except UnknownName as error:
            if len(args) > 1:
                raise
            todo = f"To see a dataset: claimlab catalog show {args[0]}"
            raise UsageError(error.problem, todo) from None


@app.of(cl.catalog, group=CatalogGroup)
def catalog(call: Call[Listing], ctx: typer.Context) -> None:
    """List the catalogue's datasets; without a sub-command, those that match every option given."""
    if ctx.invoked_subcommand is None:
        _list(call())
    elif any(call.options.values()):
        raise UsageError(
            f"Options before '{ctx.invoked_subcommand}' belong to the list, not to it.",
            "Write them after it.",
        )


def _list(listing: Listing) -> None:
    note(listing.notes, "catalog")
    if wants_json():
        emit({"datasets": [to_json(entry) for entry in listing.entries]})
    else:
        show_list(listing)


def show_list(listing: Listing) -> None:
    if not listing.entries:
        counts = "; ".join(f"{words}: {n}" for words, n in listing.alone())
        echo(f"No dataset matches all of this. Each by itself: {in_flags(counts, 'catalog')}.")
        return
    width, colour = screen()
    for line in lines_of(listing.entries, width=width, colour=colour):
        echo(line, styled=True)
    total = several(len(listing.pool), "dataset")
    echo()
    show_blocks([Text(" ".join(LEGEND))])
    of = f"{len(listing)} of " if len(listing) < len(listing.pool) else ""
    echo(f"{of}{total}. One in full: claimlab catalog show {listing.entries[0].card.name}")


@app.of(None)
def show(name: DatasetName) -> None:
    """Show one dataset's card: what it is, what it is worth, how to get it, its variants and
    label maps.
    """
    entry = DATASETS.get(name)
    if wants_json():
        emit(to_full_json(entry))
        return
    show_blocks([Section(heading(entry), card_blocks(entry))], most=100)


@app.of(None)
def cite(name: DatasetName) -> None:
    """Print how to cite a dataset, as BibTeX."""
    card = DATASETS.get(name).card
    if wants_json():
        about = {"name": card.name, "citation": card.citation, "homepage": card.homepage}
        emit({**about, "bibtex": bibtex(card)})
    else:
        echo(bibtex(card))


@app.of(None)
def licence(
    names: Annotated[list[str], Argument("Names of datasets.", complete="datasets")],
) -> None:
    """Say whether datasets may be merged, published, trained on and sold, by their licences."""
    terms = terms_of(names)
    if wants_json():
        emit({"datasets": terms.table.to_dicts(), "notes": list(terms.notes)})
        return
    columns = ("Dataset", "Licence", "Merge", "Publish", "Train", "Sell")
    show_blocks([Table(columns, [row[:-1] for row in terms.table.iter_rows()])])
    note(terms.notes, "catalog")
    note(["Terms in short, with their sources under --json; not legal advice."], "catalog")


@app.of(None)
def decay(
    name: DatasetName, source: Annotated[Path, Argument("The zip, folder or file that is at hand.")]
) -> None:
    """Show what is left of a dataset, by class, and the bias that the loss causes."""
    left = decay_of(name, source)
    if wants_json():
        emit({**asdict(left), "day": str(left.day), "table": left.table.to_dicts()})
        return
    echo(f"{left.sentence()}.")
    columns = ["label", "published", "listed", "at_hand"]
    rows = [(label, *map("{:,}".format, n)) for label, *n in left.table.select(columns).rows()]
    show_grid(Table(("Label", "On the card", "Listed", "With a text"), rows))
    if left.score is None or left.interval is None or left.baseline is None:
        echo("Bias by loss: not measured (nothing or all is missing, or there is one class).")
        return
    low, high = (100 * end for end in left.interval)
    echo(
        f"The class from 'is missing' alone: macro-F1 {100 * left.score:.1f} ({low:.1f} to"
        f" {high:.1f}); best baseline {100 * left.baseline:.1f}."
    )
