"""The page of a validation: where each kind of network fails, what was fitted, and the charts."""

from __future__ import annotations

from functools import partial

from claimlab.core.types import JsonObject
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
from claimlab_simulate.evolve.validate.result import CANNOT, Validation
from claimlab_simulate.evolve.validate.trees import MEASURES

STAR = "star (baseline)"
TONES = {"inconclusive": "warn", "not-measured": "plain"}
HOW = (
    "One half of the real cascades, whole events, chose the settings of each kind of network; the"
    " distances are from the other half. The distance is Kolmogorov and Smirnov's: 0 for equal"
    " distributions, 1 for distributions that do not touch. What counts is the 95% interval of the"
    " distance less that of the two real halves: fail when it lies above 5 points, warn when above"
    " 0, pass when it ends below 5 points, otherwise inconclusive. Stars, in which all pass on the"
    " first post and sizes are drawn from the first half, are the baseline."
)
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
    rows = [(kind, *(words.get(name) for name in MEASURES)) for kind, words in by_kind.items()]
    return Table(["Network", *MEASURES], rows)


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
    curves = {m: p for m, p in validation.quantiles[name].items() if m != STAR}
    return Figure(
        lines(curves, across="share of cascades, %", up=MEASURES[name]),
        f"{name.capitalize()}: the share of cascades that is not above each value, to the 95th"
        " percentile.",
        f"Lines of {name} by percentile, real and simulated",
        name.replace(" ", "-"),
    )
