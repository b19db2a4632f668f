"""`claimlab demo`: the whole job on a built-in dataset with planted defects, offline, to one HTML
page.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from claimlab.cli.asked import OPEN, is_asked
from claimlab.cli.command import ALWAYS, verb
from claimlab.cli.output import (
    echo,
    emit,
    page,
    progress_bar,
    several,
    show_blocks,
    suggest,
    wants_json,
)
from claimlab.core.errors import UsageError
from claimlab.core.options import Force, Option, Seed

app = verb()


@app.of(None, page=ALWAYS)
def demo(
    output: Annotated[Path, Option("Folder to write the demo to.", short="-o")] = Path(
        "claimlab-demo"
    ),
    data_only: Annotated[bool, Option("Write the synthetic data, and stop.")] = False,
    seed: Seed = 20,
    force: Force = False,
) -> None:
    """Run everything on a synthetic dataset with planted defects, and write one HTML page."""
    if data_only and is_asked(OPEN):
        raise UsageError(
            "There is no page to open, because only data is written.", "Leave out --open."
        )
    with progress_bar():
        from claimlab.cli.tour import KIND, run
        from claimlab.core.atomic import atomic_folder
        from claimlab.core.guard import refuse_taken

        refuse_taken(output, force=force, kind=KIND)
        with atomic_folder(output) as building:
            tour = run(building, seed=seed, data_only=data_only)
    if wants_json():
        emit(
            {
                "output": str(output),
                "planted": list(tour.truth.defects),
                "found": tour.found,
                "enriched": tour.enriched,
                "reviewed": tour.reviewed,
            }
        )
    elif data_only:
        echo(f"Wrote {output}/planted.csv, {output}/planted and {output}/clean-twin.")
    else:
        for defect, what in tour.truth.defects.items():
            echo(f"  {'found' if defect in tour.found else 'not yet':<8} {what}")
        echo(f"{len(tour.found)} of {len(tour.truth.defects)} planted defects found.")
        if tour.prepared is not None:
            echo("\nWhat `claimlab prepare` makes of them:")
            show_blocks([tour.prepared.side_by_side()])
            echo(tour.prepared.remains)
        if tour.reviewed:
            pairs, finding = several(tour.reviewed["items"], "pair"), tour.reviewed["finding"]
            end = f"the next audit {'finds none' if finding == 'pass' else f'still says {finding}'}"
            echo(f"Invented annotators decided {pairs} with conflicting labels: {end}.")
    if not data_only:
        page(output / "index.html")
    suggest(f"claimlab audit {output}/planted" if data_only else _serving(output))


def _serving(output: Path) -> str:
    """The command that shows the demo, after the one that it needs in a base installation."""
    serve = f"claimlab serve {output} --open"
    return serve if find_spec("uvicorn") else f"pip install 'claimlab[web]' && {serve}"
