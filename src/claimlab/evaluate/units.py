"""One unit for all runs of a table, and which columns were looked at.

The unit is fixed by the split and the data, before any detector runs. How much the errors of a
detector go together within the values of another column is its design effect: the variance of its
accuracy by that column over that by the unit. It differs by detector, and above 1.5 in any of them
all runs are measured by that column, so that no row of a table looks surer than another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from claimlab.core.stats.scores import Floats, Ints
from claimlab.core.types import JsonObject
from claimlab.core.units import LEAST_RECURRING, Units
from claimlab.evaluate.scored_run import Runs, ScoredRun
from claimlab.text.unit import TIME, Unit, days_of, periods, stretch

WIDER = 1.5  # design effect


@dataclass(frozen=True)
class Considered:
    """A column that might be the unit: its units among the records of a run, the design effect
    against the unit, and why it is the unit or is not."""

    units: Units
    design_effect: float | None
    chosen: bool
    why: str

    def to_json(self) -> JsonObject:
        effect = None if self.design_effect is None else round(self.design_effect, 2)
        return {
            **self.units.to_json(),
            "design_effect": effect,
            "chosen": self.chosen,
            "why": self.why,
        }


def in_one_unit(runs: Runs, named: str | None = None) -> list[ScoredRun]:
    """The runs of one table, all measured by the same unit: the one that was `named`, or else the
    coarsest of those that their splits held out, or a column by which the errors of a run go
    together and that is wider."""
    if not runs:
        return []
    if named is not None:
        return [replace(run, unit=Unit(named, named=True)) for run in runs]
    alike = common_units(runs)
    wider = None if alike[0].unit.column == TIME else _wider(alike)
    return alike if wider is None else with_unit(alike, Unit(wider))


def common_units(runs: Sequence[ScoredRun]) -> list[ScoredRun]:
    """The runs by the coarsest of their own units; of time, by stretches that are long enough for
    each of them."""
    alike = with_unit(runs, _coarsest(runs))
    if alike and alike[0].unit == Unit(TIME):
        return with_unit(alike, Unit(TIME, max(_stretch(run) for run in alike)))
    return alike


def with_unit(runs: Runs, unit: Unit) -> list[ScoredRun]:
    return [run if run.unit == unit else replace(run, unit=unit) for run in runs]


def considered(run: ScoredRun) -> list[Considered]:
    """The unit of a run first, and then the role columns of its records."""
    out = [Considered(run.units, None, True, _why_unit(run))]
    for column, codes in run.roles.items():
        if column == run.unit.column:
            continue
        units = Units(column, codes)
        effect = design_effect(run, codes)
        out.append(Considered(units, effect, False, _why_not(units, effect)))
    return out


def design_effect(run: ScoredRun, codes: Ints) -> float:
    """The variance of a run's accuracy by other units over that by its own."""
    error = run.answers.right - run.answers.right.mean()
    own = _variance(run.answers.cluster, error)
    return _variance(codes, error) / own if own > 0 else 1.0


def _variance(codes: Ints, error: Floats) -> float:
    """Of a sum over records, when whole units are drawn."""
    unit = np.unique(codes, return_inverse=True)[1].ravel()
    sums = np.bincount(unit, weights=error)
    return float(np.square(sums).sum() * len(sums) / max(1, len(sums) - 1))


def _coarsest(runs: Runs) -> Unit:
    units = dict.fromkeys(run.unit for run in runs)
    if len(units) == 1:
        return next(iter(units))
    return min(units, key=lambda unit: replace(runs[0], unit=unit).units.effective)


def _wider(runs: Runs) -> str | None:
    """The column with the largest design effect above 1.5 in any run, if its units are enough. The
    errors of a run that always gives one answer are the labels, and say nothing of a detector."""
    effects: dict[str, float] = {}
    for run in runs:
        if len(np.unique(run.answers.guess)) == 1:
            continue
        for column, codes in run.roles.items():
            units = Units(column, codes)
            if column != run.unit.column and units.enough and _recurs(units):
                effects[column] = max(effects.get(column, 0.0), design_effect(run, codes))
    widest = max(effects, key=lambda column: effects[column], default=None)
    return widest if widest is not None and effects[widest] > WIDER else None


def _recurs(units: Units) -> bool:
    """Whether most records share their value with another."""
    return bool(units.sizes[units.sizes > 1].sum() >= LEAST_RECURRING * len(units.codes))


def _stretch(run: ScoredRun) -> int:
    days = days_of(run.table)
    if days is None:
        return 1
    dated = days.is_not_null().to_numpy()
    return stretch(periods(days).drop_nulls().to_numpy(), run.answers.right[dated])


def _why_unit(run: ScoredRun) -> str:
    unit = run.unit
    if unit.named:
        return "named by the user"
    if unit.column == run.about.unit:
        return "held out by the split"
    if unit.column == "group":
        return "the split held out no column"
    return f"errors go together by it (design effect above {WIDER})"


def _why_not(units: Units, effect: float) -> str:
    if not units.enough:
        return f"only {units.words}"
    if not _recurs(units):
        return "fewer than half of the records share a value"
    return f"the design effect {effect:.1f} is not above {WIDER}"
