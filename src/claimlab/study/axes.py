"""The axes of a study: the values of each, by part, and the table that shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from claimlab.core.errors import UsageError
from claimlab.study.file import Axes, AxisValues, StudyFile, TableView, Value
from claimlab.study.step import OF_DETECT, OF_SPLIT, REFERENCES, STEPS

PART = "part"
AXES = ("dataset", *STEPS, *OF_SPLIT, *OF_DETECT)  # in this order


def parts_of(study: StudyFile) -> dict[str, StudyFile]:
    """Each grid of the study as a study of its own; one without a name where it has a single
    grid.
    """
    if bool(study.grid) == bool(study.part):
        raise UsageError("A study has one [grid], or several as [[part]].", "Give one of the two.")
    names = [part.name for part in study.part]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"Two parts are called '{twice[0]}'.", "Rename one of them.")
    parts = {
        part.name: study.model_copy(
            update={
                "grid": part.grid,
                "table": part.table,
                "exceptions": [*study.exceptions, *part.exceptions],
            }
        )
        for part in study.part
    }
    return parts or {"": study}


def all_axes(study: StudyFile) -> AxisValues:
    """Every axis of all grids, each with all of its values."""
    parts = parts_of(study)
    axes: AxisValues = {PART: [*parts]} if study.part else {}
    grids = [axes_of(part) for part in parts.values()]
    names = dict.fromkeys(axis for grid in grids for axis in grid if axis != "seed")
    ordered = [axis for axis in AXES if axis in names]
    for axis in dict.fromkeys([*ordered, *names, "seed"]):
        axes[axis] = list(dict.fromkeys(value for grid in grids for value in grid.get(axis, ())))
    return axes


def axes_of(study: StudyFile) -> AxisValues:
    """Every axis with its values: the datasets first, the seeds last; references join the
    detectors.
    """
    grid = {axis: list(values) for axis, values in study.grid.items()}
    for axis, values in grid.items():
        _check_axis(axis, values)
    if "detector" not in grid:
        raise UsageError(
            "The grid names no detector.", 'Add one: detector = ["tfidf"] under [grid].'
        )
    if study.references:
        missing = [name for name in REFERENCES if name not in grid["detector"]]
        grid["detector"] = [*missing, *grid["detector"]]
    datasets = grid.pop("dataset", list(study.datasets))
    for name in datasets:
        if name not in study.datasets:
            raise UsageError(
                f"The grid names the dataset '{name}', which has no table.",
                f"Add [datasets.{name}].",
            )
    ordered = {axis: grid[axis] for axis in AXES if axis in grid}
    return {"dataset": datasets, **ordered, **grid, "seed": list(study.seeds)}


def _check_axis(axis: str, values: Sequence[Value]) -> None:
    verb, _, option = axis.partition(".")
    if axis not in AXES and not (option and verb in STEPS):
        raise UsageError(
            f"'{axis}' is not an axis of a study.",
            f"The axes are {', '.join(AXES)}, or STEP.OPTION.",
        )
    if not values:
        raise UsageError(f"The axis '{axis}' has no values.", "Give it one, or leave the axis out.")


def view_of(study: StudyFile) -> TableView:
    """The table that the study shows first, both of its axes known; an error where it names one
    that there is not.
    """
    axes = {axis: values for axis, values in axes_of(study).items() if axis != "seed"}
    view = study.table
    for name, axis in (("rows", view.rows), ("columns", view.columns)):
        if axis and axis not in axes:
            raise UsageError(
                f"[table]: `{name}` is '{axis}', which is not an axis.",
                f"The axes are {', '.join(axes)}.",
            )
    if view.columns == view.rows:
        raise UsageError(
            f"[table]: rows and columns are both '{view.rows}'.",
            "Name another axis for one of them.",
        )
    rest = [axis for axis in axes if axis != view.rows]
    varied = [axis for axis in rest if len(axes[axis]) > 1]
    return view.model_copy(
        update={"columns": view.columns or ("split" if "split" in rest else [*varied, *rest][0])}
    )


def check_only(axes: Mapping[str, list[Value]], axis: str, value: str) -> None:
    if axis not in axes:
        raise UsageError(
            f"'{axis}' is not an axis of this study.", f"Its axes are {', '.join(axes)}."
        )
    if value not in map(str, axes[axis]):
        raise UsageError(
            f"The axis '{axis}' has no value '{value}'.",
            f"It has {', '.join(map(str, axes[axis]))}.",
        )


def matches(chosen: Axes, exception: Mapping[str, Value | list[Value]]) -> bool:
    for axis, values in exception.items():
        if axis not in chosen:
            raise UsageError(
                f"An exception names '{axis}', which is not an axis.",
                f"The axes are {', '.join(chosen)}.",
            )
        if chosen[axis] not in (values if isinstance(values, list) else [values]):
            return False
    return True
