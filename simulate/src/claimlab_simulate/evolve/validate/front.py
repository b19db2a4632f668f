"""The Python twin of `claimlab evolve validate`.

validated = cl.validate_cascades("pheme", output="validation")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.choices import each_of
from claimlab.core.options import Argument, Force, Limit, OptionalFolder, Seed, Setting
from claimlab.core.run import Run, Source
from claimlab.pages.folder import Contents, fill
from claimlab_simulate.evolve.scene import Scene
from claimlab_simulate.evolve.society.open import open_network
from claimlab_simulate.evolve.society.population import Population
from claimlab_simulate.evolve.society.ties import MEAN_DEGREE
from claimlab_simulate.evolve.validate.fit import (
    FEWEST_CASCADES,
    TRIALS,
    Fit,
    Halves,
    compared,
    fitted,
    stars,
)
from claimlab_simulate.evolve.validate.page import STAR, report
from claimlab_simulate.evolve.validate.result import Validation
from claimlab_simulate.evolve.validate.trees import MEASURES

KINDS = ("random", "scale-free", "clustered", "dunbar")
DENSE = 48.0  # ties per agent, beside the default of all kinds
REPORT = "validation of cascades"


@repeatable(recorded="claimlab.evolve.validate.front.validate_cascades")
def validate_cascades(  # noqa: PLR0913
    data: Annotated[Source, Argument("A claimlab dataset folder with a table `cascade`.")],
    *,
    output: OptionalFolder = None,
    network: Annotated[
        Sequence[str], Setting("Kinds of networks to test; by default all four.")
    ] = KINDS,
    agents: Annotated[int, Setting("Agents of each network.", least=10)] = 4000,
    mean_degree: Annotated[
        float | None, Setting("Mean number of ties per agent; by default 6 or 48, whatever suits.")
    ] = None,
    cascades: Annotated[int, Setting("Cascades to simulate.", least=FEWEST_CASCADES)] = 400,
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
) -> Validation:
    """Compare simulated cascades with real ones: fit them on half of the events, test on the other.

    With `output`, a page with charts is written there.
    """
    with Run(
        "evolve validate",
        data,
        output,
        kind=REPORT,
        limit=limit,
        force=force,
        seed=seed,
    ) as run:
        halves = Halves(run.dataset, seed)
        people, kinds = Population.draw(agents, seed), each_of(network)
        models, fits, notes = {STAR: stars(halves, cascades, seed)}, dict[str, Fit](), []
        for number, kind in enumerate(kinds):
            run.progress("networks", number, len(kinds))
            # the ties of a Dunbar network have a number of their own
            denser = None if kind.startswith("dunbar") else DENSE
            degrees = (MEAN_DEGREE, denser) if mean_degree is None else (mean_degree,)
            ties = [open_network(kind, people, seed, degree) for degree in degrees]
            stages = [Scene(people, tie, within=tie.kind == "clustered") for tie in ties]
            best = fitted(stages, halves, cascades, seed)
            if best is None:
                notes.append(
                    f"{kind}: not measured, with no settings do {FEWEST_CASCADES} of {TRIALS}"
                    " cascades grow as large as the smallest real one."
                )
            else:
                fits[kind], models[kind] = best
        rows = [row for name in MEASURES for row in compared(halves, models, name, seed)]
        validation = Validation(rows, fits, halves.describe(), _quantiles(halves, models), notes)
        page = Contents(
            REPORT,
            [report(validation)],
            {"validation.json": validation.to_json()},
            files={"distances.parquet": validation.table.drop("interval")},
        )
        run.fill(lambda folder: fill(page, folder))
    return validation


def _quantiles(
    halves: Halves, models: Mapping[str, pl.DataFrame]
) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Measure -> model -> (percentile, value), for the charts."""
    charted = {"real": halves.test, **models}
    percentiles = range(0, 96, 5)
    return {
        name: {
            model: [(p, float(np.percentile(values, p))) for p in percentiles]
            for model, cascades in charted.items()
            if len(values := cascades[name].drop_nulls().to_numpy())
        }
        for name in MEASURES
    }
