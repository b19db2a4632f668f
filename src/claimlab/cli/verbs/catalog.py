"""`claimlab catalog`: what exists, what it is worth, how to get it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claimlab.cli import options as o
from claimlab.cli.command import WholeSummaries, verb
from claimlab.cli.complete import datasets
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
from claimlab.core.types import JsonObject

if TYPE_CHECKING:
    from claimlab.catalog.front import Listing


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


app = verb(cls=CatalogGroup)


QualityOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MARK=VERDICT",
        help="A published verdict: keywords=pass, time=fail, feasibility=not-assessed.",
    ),
]
PassesOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MARK", help="A published pass: keywords, time or feasibility; may be repeated."
    ),
]


@app.callback(invoke_without_command=True, no_args_is_help=False)
def catalog(
    ctx: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="A topic, such as covid; may be repeated."),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(metavar="LANGUAGE", help="A language in any spelling: pt, por, Portuguese."),
    ] = None,
    modality: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="claims, articles, posts, tweets, images, ..."),
    ] = None,
    region: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="A region, such as Brazil.")
    ] = None,
    licence: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="How the licence starts: MIT, CC, none."),
    ] = None,
    min_size: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="At least N records, as published.")
    ] = None,
    max_size: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="At most N records, as published.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="DATE", help="Data from this year, month or day: 2020-03."),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="DATE", help="Data up to this year, month or day.")
    ] = None,
    quality: QualityOption = None,
    passes: PassesOption = None,
    survey: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="Place in the guide: cdl-claims, cdl-paragraphs, cdl-listed, or cdl.",
        ),
    ] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Only those that come with evidence.")
    ] = False,
    loadable: Annotated[bool, typer.Option("--loadable", help="Only those with a loader.")] = False,
    tested: Annotated[
        bool,
        typer.Option("--tested", help="Only those whose loader is tested on the published files."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write one HTML page: a file .html, or a folder for it."
        ),
    ] = None,
    force: o.ForceFlag = False,
    open_page: o.OpenFlag = False,
) -> None:
    """List the catalogue's datasets; without a sub-command, those that match every option given."""
    words = {
        name: value
        for name, value in locals().items()
        if name not in ("ctx", "output", "force", "open_page")
    }
    wanted = {name: value for name, value in words.items() if value not in (None, False)}
    refuse_nothing_to_open(open_page, output)
    if ctx.invoked_subcommand is not None:
        if wanted or output or force:
            raise UsageError(
                f"Options before '{ctx.invoked_subcommand}' belong to the list, not to it.",
                "Write them after it.",
            )
        return
    listed(wanted, output, force=force, open_page=open_page)


def listed(wanted: JsonObject, output: Path | None, *, force: bool, open_page: bool) -> None:
    from claimlab.catalog.front import catalog as find
    from claimlab.catalog.views.card import to_json

    listing = find(**wanted, output=output, force=force)
    if listing.path is not None:
        say(f"Wrote {listing.path}: {several(len(listing), 'dataset')}.")
    note(listing.notes, "catalog")
    if wants_json():
        emit({"datasets": [to_json(entry) for entry in listing.entries]})
    elif output is None:
        show_list(listing)
    if listing.path is not None and open_page:
        open_in_browser(listing.path)


def show_list(listing: Listing) -> None:
    from claimlab.catalog.views.overview import LEGEND
    from claimlab.catalog.views.overview import listing as lines_of
    from claimlab.pages.blocks import Text

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


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of a dataset; claimlab catalog lists them.", autocompletion=datasets
        ),
    ],
) -> None:
    """Show one dataset's card: what it is, what it is worth, how to get it, its variants and
    verdict maps.
    """
    from claimlab.catalog.load import DATASETS
    from claimlab.catalog.views.card import card_blocks, heading, to_full_json
    from claimlab.pages.blocks import Section

    entry = DATASETS.get(name)
    if wants_json():
        emit(to_full_json(entry))
        return
    show_blocks([Section(heading(entry), card_blocks(entry))], most=100)


@app.command()
def cite(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of a dataset; claimlab catalog lists them.", autocompletion=datasets
        ),
    ],
) -> None:
    """Print how to cite a dataset, as BibTeX."""
    from claimlab.catalog.cite import bibtex
    from claimlab.catalog.load import DATASETS

    card = DATASETS.get(name).card
    if wants_json():
        emit(
            {
                "name": card.name,
                "citation": card.citation,
                "homepage": card.homepage,
                "bibtex": bibtex(card),
            }
        )
    else:
        echo(bibtex(card))
