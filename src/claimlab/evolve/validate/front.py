"""The Python twin of `claimlab evolve validate`.

validated = cl.validate_cascades("pheme", output="validation")

One half of the real cascades (whole events) chooses fan-out, threshold, reach and density for each
kind of network: those of the smallest mean Kolmogorov-Smirnov distance over size, depth, breadth
and structural virality. The other half tests them. Two things are shown beside every distance: that
of the first half from the second, which no simulation can be expected to beat, and that of stars,
in which all pass on the first post: the simplest cascade there is.

Cascades are collected because they grew: simulated ones smaller than the smallest real one are left
out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import product
from typing import Annotated, NamedTuple

import numpy as np
import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.options import Argument, Force, Limit, OptionalFolder, Seed, Setting
from claimlab.core.run import Run, Source
from claimlab.core.settings import each_of
from claimlab.core.shown import Shown
from claimlab.core.stats.deal import codes_of, deal
from claimlab.core.stats.interval import unit_interval
from claimlab.core.stats.rule import Rule
from claimlab.core.types import JsonObject
from claimlab.evolve.propagation import Scene
from claimlab.evolve.society.engine import Fresh, Model, Visits, numbers, travel
from claimlab.evolve.society.network import MEAN_DEGREE, Flags, Floats, Longs, open_network
from claimlab.evolve.society.population import Population
from claimlab.pages.blocks import (
    Column,
    Figure,
    Items,
    Report,
    Section,
    Table,
    Text,
    decimal,
    points_span,
)
from claimlab.pages.charts import Dot, dots, lines
from claimlab.pages.folder import Contents, fill

# Cascades as trees, and their figures. Structural virality is the mean distance of two posts of a
# cascade: 2 in a star, more where claims pass from one to the next. Time to half is when half of
# the posts were there.

MEASURES = {
    "size": "posts",
    "depth": "hops from the first post",
    "breadth": "most posts at one depth",
    "virality": "mean distance of two posts",
    "time to half": "minutes to half of the posts",
}


class Trees(NamedTuple):
    """One row for each post, tree by tree; `parent` is a row, -1 that of the first post."""

    tree: Longs
    parent: Longs
    depth: Longs
    delay: Floats

    def only(self, keep: Flags) -> Trees:
        """Without some posts; a post that stays keeps its parent."""
        row = np.cumsum(keep) - 1
        parent = np.where(self.parent < 0, -1, row[self.parent])
        return Trees(self.tree[keep], parent[keep], self.depth[keep], self.delay[keep])


def real_trees(cascade: pl.DataFrame, records: pl.DataFrame) -> Trees:
    """The side table `cascade`; trees are numbered as `records` are."""
    numbers = records.select(record_id="id").with_row_index("tree")
    posts = cascade.join(numbers, on="record_id").sort("tree", "depth", maintain_order=True)
    rows = posts.with_row_index("row").select("record_id", "row", parent="child")
    posts = posts.join(rows, on=["record_id", "parent"], how="left", maintain_order="left")
    first = posts["parent"].is_null()
    if posts["depth"].null_count() or (posts["row"].is_null() & ~first).any():
        raise DataError(
            "The table 'cascade' has posts without a depth, or whose parent is not in it.",
            "Make the dataset again.",
        )
    return Trees(
        posts["tree"].to_numpy().astype(np.int64),
        posts["row"].cast(pl.Int64).fill_null(-1).to_numpy(),
        posts["depth"].to_numpy().astype(np.int64),
        posts["delay"].to_numpy(),
    )


def simulated_trees(visits: Visits) -> Trees:
    begin = np.searchsorted(visits.claim, visits.claim)
    parent = np.where(visits.parent < 0, -1, begin + visits.parent)
    return Trees(visits.claim, parent, visits.depth, np.full(len(parent), np.nan))


def hop_delays(trees: Trees) -> Floats:
    """How long each post came after its parent, where that is known."""
    hops = trees.parent >= 0
    waits = trees.delay[hops] - trees.delay[trees.parent[hops]]
    known: Floats = waits[~np.isnan(waits)]
    return known


def delayed(trees: Trees, waits: Floats, seed: int) -> Trees:
    """Every hop takes one of `waits`, drawn at random."""
    if not len(waits):
        return trees
    delay = np.random.default_rng(seed).choice(waits, len(trees.tree))
    delay[trees.parent < 0] = 0.0
    for depth in range(1, int(trees.depth.max(initial=0)) + 1):
        rows = np.flatnonzero(trees.depth == depth)
        delay[rows] += delay[trees.parent[rows]]
    return trees._replace(delay=delay)


def figures(trees: Trees) -> pl.DataFrame:
    """`MEASURES` of every tree, in the order of their numbers."""
    below = np.ones(len(trees.tree))  # posts at or below each
    deepest = int(trees.depth.max(initial=0))
    for depth in range(deepest, 0, -1):
        rows = np.flatnonzero(trees.depth == depth)
        np.add.at(below, trees.parent[rows], below[rows])
    posts = pl.DataFrame({**trees._asdict(), "below": below}, nan_to_null=True)
    size = pl.len().over("tree")
    across = pl.col("below") * (size - pl.col("below"))  # pairs that the hop above a post joins
    posts = posts.with_columns(across=across, level=pl.len().over("tree", "depth"))
    measured = posts.group_by("tree").agg(
        size=pl.len().cast(pl.Float64),
        depth=pl.col("depth").max().cast(pl.Float64),
        breadth=pl.col("level").max().cast(pl.Float64),
        virality=2 * pl.col("across").sum() / (pl.len() * (pl.len() - 1)),
        **{"time to half": pl.col("delay").quantile(0.5, "lower")},
    )
    return measured.sort("tree").with_columns(pl.col("virality").fill_nan(0.0))


KINDS = ("random", "scale-free", "clustered", "dunbar")
FIT_TO = ("size", "depth", "breadth", "virality")
FAN_OUTS = (1, 2, 3, 5, 10, 30)
THRESHOLDS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95)
REACHES = (0.5, 0.75, 0.9, 1.0)  # quantiles of the real sizes
DENSE = 48.0  # ties per agent, beside the default of all kinds
FEWEST = 20  # cascades in each half
DRAWS = 400
REPORT = "validation of cascades"
TRIALS = 60  # cascades for each setting that is tried


STAR = "star (baseline)"
CANNOT = (
    "The simulator cannot foresee how far a claim goes: every agent starts alike, so that no"
    " first post has the audience of a famous account, nothing reaches strangers through"
    " search, trends or the news, hops take no time of their own (delays are drawn from real"
    " ones), and agents take no stance."
)


@dataclass(frozen=True)
class Choice:
    """The settings of simulated cascades."""

    mean_degree: float
    fan_out: int
    threshold: float
    reach: int


@dataclass(frozen=True)
class Fit:
    """What suits the first half best, and its mean distance; `small` is the share of simulated
    cascades below the smallest real one.
    """

    choice: Choice
    distance: float
    small: float


@dataclass(repr=False)
class Validation(Shown):
    """`rows`: one for each kind of network and measure; `fits`: what was chosen for each kind."""

    rows: list[JsonObject]
    fits: dict[str, Fit]
    counts: JsonObject
    quantiles: dict[str, dict[str, list[tuple[float, float]]]]
    notes: list[str] = field(default_factory=list)

    @property
    def table(self) -> pl.DataFrame:
        return pl.DataFrame(self.rows, infer_schema_length=None)

    def headline(self) -> str:
        return "; ".join(f"{kind}: {words}" for kind, words in self.failures.items())

    @property
    def failures(self) -> dict[str, str]:
        """Where each kind of network fails, in words."""
        words = {}
        for kind in self.fits:
            verdicts = {r["measure"]: r["verdict"] for r in self.rows if r["network"] == kind}
            fails, warns = (
                [name for name, verdict in verdicts.items() if verdict == wanted]
                for wanted in ("fail", "warn")
            )
            words[kind] = f"fails on {', '.join(fails) or 'no measure'}"
            words[kind] += f", is above the real halves on {', '.join(warns)}" if warns else ""
        return words

    def to_json(self) -> JsonObject:
        return {
            "counts": self.counts,
            "fits": {kind: asdict(fit) for kind, fit in self.fits.items()},
            "failures": self.failures,
            "rows": self.rows,
            "notes": self.notes,
            "cannot": CANNOT,
        }


def distance(one: Floats, other: Floats) -> float:
    """Kolmogorov and Smirnov's: the largest difference of two distributions, from 0 to 1."""
    values = np.concatenate([one, other])
    shares = [np.searchsorted(np.sort(side), values, "right") / len(side) for side in (one, other)]
    return float(np.abs(shares[0] - shares[1]).max())


class Halves:
    """The real cascades, dealt by event: `fit` chooses, `test` judges."""

    def __init__(self, dataset: Dataset, seed: int) -> None:
        table = dataset.tables.get("cascade")
        if table is None or not table.height:
            raise DataError(
                f"'{dataset.name}' has no cascades: the table `cascade` is missing or empty.",
                "Load a dataset with propagation trees, such as twitter15 or pheme.",
            )
        trees = real_trees(table, dataset.records)
        groups = codes_of(dataset.records["group"])
        self.events = dataset.records["group"].drop_nulls().n_unique()
        side = deal(np.zeros_like(groups), groups, (0.5, 0.5), seed)
        measured = figures(trees)
        first = side[measured["tree"].to_numpy()] == 0
        self.fit, self.test = measured.filter(first), measured.filter(~first)
        if min(self.fit.height, self.test.height) < FEWEST:
            raise DataError(
                f"{measured.height:,} cascades are too few to fit on one half and test on the"
                " other.",
                f"Give at least {FEWEST} in each half, from two events or more.",
            )
        self.waits = hop_delays(trees.only(side[trees.tree] == 0))
        self.smallest = float(np.min(self.fit["size"].to_numpy()))
        self.deepest = int(np.max(self.fit["depth"].to_numpy()))
        self.reaches = sorted({int(np.quantile(self.fit["size"], q)) for q in REACHES})

    def describe(self) -> JsonObject:
        return {"fit": self.fit.height, "test": self.test.height, "events": self.events}

    def large(self, simulation: pl.DataFrame) -> pl.DataFrame:
        """The simulated cascades that could have been collected."""
        return simulation.filter(pl.col("size") >= self.smallest)

    def misfit(self, simulation: pl.DataFrame) -> float:
        """The mean distance from the first half."""
        each = [distance(simulation[name].to_numpy(), self.fit[name].to_numpy()) for name in FIT_TO]
        return float(np.mean(each))


def simulated(stage: Scene, choice: Choice, deepest: int, n: int, seed: int) -> Trees:
    """`n` cascades, as `evolve run` lets claims travel."""
    seeds = numbers(np.full(n, seed, dtype=np.uint64), np.arange(n))
    model = Model(stage.starts(seeds), seeds, agents=stage.ties.size)
    travel(model, Fresh(stage.ties, choice.fan_out), deepest, choice.reach, choice.threshold)
    return up_to(simulated_trees(model.visits()), choice.reach)


def up_to(trees: Trees, reach: int) -> Trees:
    """The first posts of every tree: those that a smaller reach would have left."""
    return trees.only(np.arange(len(trees.tree)) - np.searchsorted(trees.tree, trees.tree) < reach)


def choices(stage: Scene, halves: Halves, seed: int) -> Iterator[tuple[Choice, pl.DataFrame]]:
    """Every setting on the grid with the figures of its cascades."""
    density, most = stage.ties.mean_degree, halves.reaches[-1]
    widest = int(stage.ties.degrees.max())
    fan_outs = [n for n in FAN_OUTS if n <= widest]
    for fan_out, threshold in product(fan_outs, THRESHOLDS):
        widely = Choice(density, fan_out, threshold, most)
        trees = simulated(stage, widely, halves.deepest, TRIALS, seed)
        for reach in halves.reaches:
            cascades = halves.large(figures(up_to(trees, reach)))
            if cascades.height >= FEWEST:
                yield replace(widely, reach=reach), cascades


def fitted(
    stages: Sequence[Scene], halves: Halves, cascades: int, seed: int
) -> tuple[Fit, pl.DataFrame] | None:
    """The settings that suit the first half best, and cascades made with them; null where too few
    grow as large as the smallest real one.
    """
    tried = [
        (halves.misfit(cascades), number, choice)
        for number, stage in enumerate(stages)
        for choice, cascades in choices(stage, halves, seed)
    ]
    if not tried:
        return None
    misfit, number, choice = min(tried, key=lambda one: one[0])
    trees = simulated(stages[number], choice, halves.deepest, cascades, seed + 1)
    simulation = figures(delayed(trees, halves.waits, seed))
    large = halves.large(simulation)
    return Fit(choice, misfit, 1 - large.height / cascades), large


def stars(halves: Halves, n: int, seed: int) -> pl.DataFrame:
    """Cascades as large as those of the first half, in which all pass on the first post."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice(halves.fit["size"].to_numpy(), n).astype(np.int64)
    tree = np.repeat(np.arange(n), sizes)
    first = np.searchsorted(tree, tree)
    root = first == np.arange(len(tree))
    trees = Trees(tree, np.where(root, -1, first), (~root).astype(np.int64), np.zeros(len(tree)))
    return figures(delayed(trees, halves.waits, seed))


def compared(
    halves: Halves, models: Mapping[str, pl.DataFrame], name: str, seed: int
) -> Iterator[JsonObject]:
    """One row for each model and measure; the verdict is on what its distance is above that of the
    two real halves.
    """
    real, known = (half[name].drop_nulls().to_numpy() for half in (halves.test, halves.fit))
    if min(len(real), len(known)) < FEWEST:
        return
    floor = distance(known, real)
    for kind, simulation in models.items():
        values = simulation[name].drop_nulls().to_numpy()

        def above(rows: Longs, values: Floats = values) -> float:
            return distance(values, real[rows]) - distance(known, real[rows])

        ends = unit_interval(len(real), above, seed=seed, draws=DRAWS)
        apart = distance(values, real)
        yield {
            "network": kind,
            "measure": name,
            "real": float(np.median(real)),
            "simulated": float(np.median(values)),
            "distance": apart,
            "halves": floor,
            "above": apart - floor,
            "interval": ends,
            "verdict": Rule().verdict(ends, 0.0) if ends else "not-measured",
        }


# The page: where each kind of network fails, what was fitted, and the charts.

TONES = {"inconclusive": "warn", "not-measured": "plain"}
HOW = (
    "One half of the real cascades, whole events, chose the settings of each kind of network; the"
    " distances are from the other half. The distance is Kolmogorov and Smirnov's: 0 for equal"
    " distributions, 1 for distributions that do not touch. What counts is the 95% interval of the"
    " distance less that of the two real halves: fail when it lies above 5 points, warn when above"
    " 0, pass when it ends below 5 points, otherwise inconclusive. Stars, in which all pass on the"
    " first post and sizes are drawn from the first half, are the baseline."
)


def report(validation: Validation) -> Report:
    counts = validation.counts
    failures = [f"{kind}: {words}." for kind, words in validation.failures.items()]
    distances = Table.of(DISTANCES, validation.rows)
    events = f" of {counts['events']:,} events" if counts["events"] else ""
    return Report(
        "Simulated cascades beside real ones",
        f"{counts['fit']:,} real cascades to fit, {counts['test']:,} to test{events}",
        [
            Text(CANNOT, "conclusion"),
            Section(
                "Where each kind of network fails",
                [Items([*failures, *validation.notes]), summary_table(validation)],
            ),
            Section("Distances", [Text(HOW), distances, _distances(validation)]),
            Section("Settings that suit best", [fit_table(validation)]),
            Section("Distributions", [_distribution(validation, name) for name in MEASURES]),
        ],
    )


def summary_table(validation: Validation) -> Table:
    """A row for each kind of network, with distance and verdict by measure."""
    by_kind: dict[str, dict[str, str]] = {}
    for row in validation.rows:
        by_kind.setdefault(row["network"], {})[row["measure"]] = (
            f"{row['distance']:.2f} {row['verdict']}"
        )
    rows = [(kind, *(mine.get(name) for name in MEASURES)) for kind, mine in by_kind.items()]
    return Table(["Network", *MEASURES], rows)


Made = Column[JsonObject]
two_places = partial(decimal, digits=2)
DISTANCES = (
    Made("Network"),
    Made("Measure"),
    Made("Real (median)", "real", decimal),
    Made("Simulated", format=decimal),
    Made("Distance", format=two_places),
    Made("Real halves", "halves", two_places),
    Made("Above, points (95%)", "interval", points_span),
    Made("Result", "verdict"),
)
FITS = (
    Made("Network"),
    Made("Mean degree", "choice.mean_degree", decimal),
    Made("Fan-out", "choice.fan_out"),
    Made("Threshold", "choice.threshold"),
    Made("Reach", "choice.reach"),
    Made("Fit distance", "distance", two_places),
    Made("Left out (%)", "small", lambda share: decimal(100 * share)),
)


def fit_table(validation: Validation) -> Table:
    rows = ({"network": kind, **vars(fit)} for kind, fit in validation.fits.items())
    return Table.of(FITS, rows)


def _distances(validation: Validation) -> Figure:
    rows = [
        Dot(
            f"{row['measure']}: {row['network']}",
            row["distance"],
            tone=str(TONES.get(row["verdict"], row["verdict"])),
        )
        for row in validation.rows
    ]
    return Figure(
        dots(rows, title="distance from the real cascades x 100"),
        "Distance of each kind of network and measure.",
        "Dots of distances by measure and kind of network",
        "distances",
    )


def _distribution(validation: Validation, name: str) -> Figure:
    shown = {m: p for m, p in validation.quantiles[name].items() if m != STAR}
    return Figure(
        lines(shown, across="share of cascades, %", up=MEASURES[name]),
        f"{name.capitalize()}: the share of cascades that is not above each value, to the 95th"
        " percentile.",
        f"Lines of {name} by percentile, real and simulated",
        name.replace(" ", "-"),
    )


@repeatable()
def validate_cascades(
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
    cascades: Annotated[int, Setting("Cascades to simulate.", least=FEWEST)] = 400,
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
            stages = [Scene(people, one, within=one.kind == "clustered") for one in ties]
            best = fitted(stages, halves, cascades, seed)
            if best is None:
                notes.append(
                    f"{kind}: not measured, with no settings do {FEWEST} of {TRIALS} cascades grow"
                    " as large as the smallest real one."
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
    shown = {"real": halves.test, **models}
    percentiles = range(0, 96, 5)
    return {
        name: {
            model: [(p, float(np.percentile(values, p))) for p in percentiles]
            for model, cascades in shown.items()
            if len(values := cascades[name].drop_nulls().to_numpy())
        }
        for name in MEASURES
    }
