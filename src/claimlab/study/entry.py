"""One figure of a study: what all seeds of one setting score together; and the published figures
beside it, as rows of the tables and as a list with the differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter

from claimlab.core.choices import one_of
from claimlab.core.errors import UsageError
from claimlab.core.stats.chance import LEVEL, UNTESTED, Chance
from claimlab.core.stats.interval import Interval
from claimlab.core.stats.ranks import Ranks, rank_words
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Cell, Table, percent, span
from claimlab.study.file import Axes, PublishedFigures, StudyFile, TableView, Value

TRIVIAL = "the best trivial baseline"
MEASURES = ("macro_f1", "accuracy")


@dataclass(frozen=True)
class BoardEntry:
    """One choice on every axis but the seed. Figures are null where a cell failed or could not be
    measured.
    """

    axes: Axes
    seeds: int
    records: int  # test records, the most of any seed
    macro_f1: float | None
    accuracy: float | None
    interval: Interval | None = None
    spread: float | None = None  # standard deviation over seeds
    from_records: float | None = None  # standard error of the mean, from having so few records
    against: str | None = None
    difference: float | None = None
    difference_interval: Interval | None = None
    p: float | None = None
    p_holm: float | None = None
    chance: Chance = (
        UNTESTED  # what comes without reading the text, and whether the score is above it
    )
    p_reading: float | None = (
        None  # corrected, of being above chance and above every reference detector
    )
    seconds: float = 0.0
    cost: float = 0.0
    failed: str | None = None
    runs: tuple[str, ...] = ()
    # among the detectors of its setting: the best and the worst place that the data allow, whether
    # it may be the best, and the smallest difference that can be seen
    ranks: Ranks | None = None
    tied: bool = False
    detectable: float | None = None

    @property
    def from_seeds(self) -> float | None:
        """Standard error of the mean, from having so few seeds."""
        return None if self.spread is None else self.spread / self.seeds**0.5

    @property
    def advice(self) -> str:
        """What would make the mean more certain; nothing where it could not be measured."""
        if self.from_seeds is None or self.from_records is None:
            return ""
        return "seeds" if self.from_seeds > self.from_records else "records"

    @property
    def differs(self) -> bool:
        """Whether the difference is clear of zero; where it is above zero, the score must be above
        chance too.
        """
        sure = self.p_holm is not None and self.p_holm < LEVEL
        return sure and ((self.difference or 0.0) < 0 or self.chance.beaten)

    def has(self, setting: Axes) -> bool:
        """Whether it is of this choice on some of the axes."""
        return all(self.axes.get(axis) == value for axis, value in setting.items())

    def to_json(self) -> JsonObject:
        """Everything that is the same in every run of the study: seconds and cost are in
        timings.json.
        """
        return {
            name: value for name, value in asdict(self).items() if name not in ("seconds", "cost")
        }

    @classmethod
    def of(cls, saved: JsonObject) -> BoardEntry:
        """The entry that `to_json` gave."""
        return TypeAdapter(cls).validate_python(saved)


Entries = Sequence[BoardEntry]


def rank_mark(entry: BoardEntry) -> str:
    """The ranks behind a score: " [1-3]"."""
    return "" if entry.ranks is None else f" [{rank_words(entry.ranks)}]"


def ranks_explained(scored: Entries) -> str:
    """What these marks say, and what the test records can show at all."""
    seen = sorted({100 * e.detectable for e in scored if e.ranks and e.detectable})
    if not seen:
        return ""
    low, high = f"{seen[0]:.1f}", f"{seen[-1]:.1f}"
    below = low if low == high else f"{low} to {high}"
    return (
        " [1-3]: among the detectors of one setting, this one can be first, second or third (all"
        f" pairs tested at once). Differences below {below} points are often missed (power 80%)."
    )


Row = list[Cell | str | int | float | None]


def figures_of(
    published: Sequence[PublishedFigures],
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


def with_cards(study: StudyFile) -> list[PublishedFigures]:
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


def beside(study: StudyFile, scored: Entries) -> list[PublishedFigures]:
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
    from claimlab.catalog.entry import PublishedScores as OnCard
    from claimlab.catalog.load import DATASETS

    one_of(list(OnCard.model_fields), field, "card")
    name = study.datasets[dataset].get("load")
    figures = DATASETS.get(name).card.published if name else None
    value = getattr(figures, field, None)
    return float(value) if isinstance(value, int | float) else None


def published_rows(
    published: Sequence[PublishedFigures],
    view: TableView,
    across: Sequence[Value],
    where: Axes,
    scored: Entries,
) -> list[tuple[Value, Row]]:
    """Rows with the value they are about: the figures that name both axes of the table, and are of
    its setting or of one that the study does not have (a detector of the paper): then the row says
    which."""
    at: dict[tuple[Value, str], dict[Value, Cell]] = {}
    for source, setting, measure, value in figures_of(published):
        is_shown = measure == view.cells and view.rows in setting
        if not is_shown or setting.get(view.columns) not in across:
            continue
        other = {
            axis: setting[axis]
            for axis, chosen in where.items()
            if setting.get(axis, chosen) != chosen
        }
        if any(entry.axes[axis] == theirs for axis, theirs in other.items() for entry in scored):
            continue
        about = setting[view.rows]
        name = f"{about} ({', '.join([*map(str, other.values()), 'published'])})"
        line = at.setdefault((about, name), {})
        line[setting[view.columns]] = Cell(percent(value).text, sort=value, title=source)
    return [
        (about, [name, *(line.get(value, Cell("")) for value in across)])
        for (about, name), line in at.items()
    ]


def published_table(study: StudyFile, scored: Entries) -> Table | None:
    """Every published figure of a setting that the study has measured, with ours: one, or from
    which to which where several settings fit. Null where there is none: then they are rows of the
    tables alone."""
    lines: list[Row] = []
    for source, setting, measure, value in figures_of(with_cards(study)):
        ours = [getattr(entry, measure) for entry in scored if entry.has(setting)]
        measured = [score for score in ours if score is not None]
        if not measured:
            continue
        low, high = min(measured), max(measured)
        words = ", ".join(f"{axis} {chosen}" for axis, chosen in setting.items())
        text, gap = span((low, high)), percent(None)
        if low == high:
            text, gap = percent(low), percent(low - value)
        lines.append([source, words, measure.replace("_", "-"), percent(value), text, gap])
    if not lines:
        return None
    columns = ["source", "setting", "measure", "published", "ours", "difference"]
    return Table(columns, lines, caption="Published figures of settings that this study has.")
