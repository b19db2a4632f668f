"""`claimlab catalog`: what exists, what it is worth, how to get it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from claimlab.catalog.cite import bibtex
from claimlab.catalog.front import Listing
from claimlab.catalog.front import catalog as find
from claimlab.catalog.load import DATASETS
from claimlab.catalog.views.card import card_blocks, heading, to_full_json, to_json
from claimlab.catalog.views.overview import LEGEND
from claimlab.catalog.views.overview import listing as lines_of
from claimlab.cli.command import Call, OpenPage, WholeSummaries, verb
from claimlab.cli.flags import in_flags
from claimlab.cli.output import (
    echo,
    emit,
    note,
    open_in_browser,
    refuse_nothing_to_open,
    say,
    screen,
    several,
    show_blocks,
    wants_json,
)
from claimlab.core.errors import UsageError
from claimlab.core.options import Argument
from claimlab.pages.blocks import Section, Text

app = verb()
DatasetName = Annotated[
    str, Argument("Name of a dataset; claimlab catalog lists them.", complete="datasets")
]


class CatalogGroup(WholeSummaries):
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A dataset's name where a sub-command belongs is the likeliest slip: say how to see it."""
        command = super().get_command(ctx, cmd_name)
        if command is None:
            raise UsageError(
                f"'catalog' has no sub-command '{cmd_name}'.",
                f"To see a dataset: claimlab catalog show {cmd_name}",
            )
        return command


@app.of(find, group=CatalogGroup)
def catalog(call: Call[Listing], ctx: typer.Context, open_page: OpenPage = False) -> None:
    """List the catalogue's datasets; without a sub-command, those that match every option given."""
    refuse_nothing_to_open(open_page, call["output"])
    if ctx.invoked_subcommand is None:
        _list(call(), open_page)
    elif any(call.options.values()):
        raise UsageError(
            f"Options before '{ctx.invoked_subcommand}' belong to the list, not to it.",
            "Write them after it.",
        )


def _list(listing: Listing, open_page: bool) -> None:
    if listing.path is not None:
        say(f"Wrote {listing.path}: {several(len(listing), 'dataset')}.")
    note(listing.notes, "catalog")
    if wants_json():
        emit({"datasets": [to_json(entry) for entry in listing.entries]})
    elif listing.path is None:
        show_list(listing)
    if listing.path is not None and open_page:
        open_in_browser(listing.path)


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
    verdict maps.
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
