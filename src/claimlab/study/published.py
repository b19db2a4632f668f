"""Published figures beside those of a study: as rows of its tables, and as a list with the
differences.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from claimlab.core.errors import UsageError
from claimlab.core.settings import one_of
from claimlab.pages.blocks import Cell, Table, percent, span
from claimlab.study.entry import Entry
from claimlab.study.file import Published, StudyFile, Value

Row = list[Cell | str | int | float | None]
MEASURES = ("macro_f1", "accuracy")


def figures_of(
    published: Sequence[Published],
) -> Iterator[tuple[str, dict[str, Value], str, float]]:
    """Source, setting, measure and value (0 to 1) of each figure."""
    for part in published:
        for figure in part.figures:
            setting = {axis: value for axis, value in figure.items() if axis not in MEASURES}
            for measure in MEASURES:
                if measure in figure:
                    yield part.source, setting, measure, float(figure[measure]) / 100


def check_figures(study: StudyFile, axes: Sequence[str]) -> None:
    """Refuse a figure that names something other than axes, or no measure."""
    for part in study.published:
        for figure in part.figures:
            if other := [name for name in figure if name not in (*axes, *MEASURES)]:
                raise UsageError(
                    f"A published figure names '{other[0]}', which is neither an axis nor a"
                    " measure.",
                    f"The axes are {', '.join(axes)}; the measures are {', '.join(MEASURES)}.",
                )
            if not part.card and not any(
                isinstance(figure.get(measure), int | float) for measure in MEASURES
            ):
                raise UsageError(
                    "A published figure has no measure.", f"Give one of {', '.join(MEASURES)}."
                )


def with_cards(study: StudyFile) -> list[Published]:
    """The published figures, those on the cards of catalogued datasets filled in."""
    grids = [grid for grid in (study.grid, *(part.grid for part in study.part)) if grid]
    datasets = dict.fromkeys(
        str(name) for grid in grids for name in grid.get("dataset", study.datasets)
    )
    parts = []
    for part in study.published:
        on_cards = {
            name: value
            for name in datasets
            if part.card and (value := card_figure(study, name, part.card))
        }
        filled = [
            {"dataset": n, **figure, "macro_f1": v}
            for figure in part.figures
            for n, v in on_cards.items()
        ]
        parts.append(part.model_copy(update={"figures": filled}) if part.card else part)
    return parts


def beside(study: StudyFile, scored: Sequence[Entry]) -> list[Published]:
    """The published figures that belong in tables of `scored`: those of another dataset do not."""
    here = {str(entry.axes["dataset"]) for entry in scored}
    return [
        part.model_copy(
            update={
                "figures": [f for f in part.figures if str(f.get("dataset", "")) in ("", *here)]
            }
        )
        for part in with_cards(study)
    ]


def card_figure(study: StudyFile, dataset: str, field: str) -> float | None:
    """What the card of a catalogued dataset says was published; null where it says nothing."""
    from claimlab.catalog.card import Published as OnCard
    from claimlab.catalog.load import DATASETS

    one_of(list(OnCard.model_fields), field, "card")
    name = study.datasets[dataset].get("load")
    figures = DATASETS.get(name).card.published if name else None
    value = getattr(figures, field, None)
    return float(value) if isinstance(value, int | float) else None


def published_rows(
    published: Sequence[Published],
    rows: str,
    across: Sequence[Any],
    columns: str,
    measure: str,
    where: Mapping[str, Any],
    known: Mapping[str, Collection[Any]],
) -> list[tuple[Value, Row]]:
    """Rows with the value they are about: the figures that name both axes of the table, and are of
    its setting or of one that the study does not have (a detector of the paper): then the row says
    which."""
    at: dict[tuple[Value, str], dict[Any, Cell]] = {}
    for source, setting, name, value in figures_of(published):
        other = {
            axis: setting[axis]
            for axis, chosen in where.items()
            if setting.get(axis, chosen) != chosen
        }
        here = not any(value in known[axis] for axis, value in other.items())
        if name == measure and here and rows in setting and setting.get(columns) in across:
            name = f"{setting[rows]} ({', '.join([*map(str, other.values()), 'published'])})"
            line = at.setdefault((setting[rows], name), {})
            line[setting[columns]] = Cell(percent(value).text, sort=value, title=source)
    return [
        (about, [name, *(line.get(value, Cell("")) for value in across)])
        for (about, name), line in at.items()
    ]


def published_table(study: StudyFile, scored: Sequence[Entry]) -> Table | None:
    """Every published figure of a setting that the study has measured, with ours: one, or from
    which to which where several settings fit. Null where there is none: then they are rows of the
    tables alone."""
    lines: list[Row] = []
    for source, setting, measure, value in figures_of(with_cards(study)):
        mine = [
            e for e in scored if all(e.axes.get(axis) == chosen for axis, chosen in setting.items())
        ]
        ours = [score for e in mine if (score := getattr(e, measure)) is not None]
        if not ours:
            continue
        low, high = min(ours), max(ours)
        words = ", ".join(f"{axis} {chosen}" for axis, chosen in setting.items())
        one = low == high
        shown, gap = (
            (percent(low), percent(low - value)) if one else (span((low, high)), percent(None))
        )
        lines.append([source, words, measure.replace("_", "-"), percent(value), shown, gap])
    columns = ["source", "setting", "measure", "published", "ours", "difference"]
    return (
        Table(columns, lines, caption="Published figures of settings that this study has.")
        if lines
        else None
    )
