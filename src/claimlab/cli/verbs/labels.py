"""`claimlab labels`: the label maps."""

from __future__ import annotations

from typing import Annotated

from claimlab.catalog.maps import all_maps, find_map, meanings, summary
from claimlab.catalog.views import by_verdict, map_json
from claimlab.cli.command import verb
from claimlab.cli.output import echo, emit, show_blocks, show_grid, wants_json
from claimlab.core.labels import general
from claimlab.core.options import Argument
from claimlab.core.record import VERACITIES
from claimlab.pages.blocks import Block, Section, Table, Text

app = verb()


@app.callback()
def labels() -> None:
    """Look up label maps."""


@app.of(None)
def maps() -> None:
    """List every label map: the general one, and those of each dataset."""
    summaries = {address: summary(label_map) for address, label_map in all_maps().items()}
    if wants_json():
        emit({"maps": [{"map": address, **values} for address, values in summaries.items()]})
        return
    columns = ("Map", "Version", "True", "False", "Mixed", "Unknown", "Note")
    rows = [(address, *values.values()) for address, values in summaries.items()]
    show_grid(Table(columns, rows))
    echo(
        f"\n{len(rows)} maps; the figures count the values that each knows. One in full: claimlab"
        " labels show MAP"
    )


@app.of(None)
def show(
    name: Annotated[
        str,
        Argument(
            "A map: ratings, liar/a5, or a TOML file; claimlab labels maps. Or a rating: fiction"
        ),
    ],
) -> None:
    """Show one label map: what a source may write, and the label it means. Of a rating, show what
    each map says that it means.
    """
    meant = {} if name in all_maps() or name.endswith(".toml") else meanings(name)
    if meant:
        show_rating(name, meant)
    else:
        show_map(name)


def show_rating(rating: str, meant: dict[str, str]) -> None:
    """What each map that knows the rating says that it means."""
    if wants_json():
        emit({"rating": rating, "meanings": meant})
        return
    maps = {v: ", ".join(a for a, one in meant.items() if one == v) for v in VERACITIES}
    table = Table(("Label", "In these maps"), [(v, which) for v, which in maps.items() if which])
    show_blocks([Section(rating, [table])], most=100)


def show_map(name: str) -> None:
    """What a source may write, and the label it means."""
    verdicts = find_map(name)
    otherwise = verdicts.against(general())
    if wants_json():
        emit({**map_json(verdicts), "in_ratings": otherwise})
        return
    rule = (
        "Compared letter by letter."
        if verdicts.exact
        else "Compared after folding case, accents, hyphens and whitespace."
    )
    table = Table(("Label", "What the source wrote"), by_verdict(verdicts))
    about = [Text(verdicts.note)] if verdicts.note else []
    conflicts = [(raw, verdicts.verdicts[raw], theirs) for raw, theirs in otherwise.items()]
    apart = Table(("What the source wrote", "Here", "In ratings"), sorted(conflicts))
    blocks: list[Block] = [*about, Text(rule), table, *([apart] if conflicts else [])]
    page = Section(f"{verdicts.name}, version {verdicts.version}", blocks)
    show_blocks([page], most=100)
