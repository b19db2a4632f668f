"""The study file: what it may say, read and checked before anything is done.

[datasets.planted]                     # load, import, folder or merge
folder = "demo/planted"

[grid]                                 # every list is an axis; the grid is their product
split = ["random", "near-duplicates"]
detector = ["tfidf", "sentence"]

[split.by-time]                        # what an axis value stands for, where the name alone does
                                       not say it
by = "time"

In any text of the file, `{data}` is the folder that `data` names, and `{NAME}` in an option the
dataset of that name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, time
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from claimlab.core import packaged
from claimlab.core.errors import UnknownName, UsageError, check_name
from claimlab.core.options import Argument, Place
from claimlab.core.toml_file import read_toml
from claimlab.core.types import JsonObject
from claimlab.study.verb import VERBS

Figure = JsonObject
StudyPath = Annotated[Place, Argument("The study file (TOML); start one with: claimlab study new")]
QUESTIONS = (
    "is the file of an EQA report, not a study",
    (
        "Write the report with: claimlab report {file} -o DIR. Start a study with: claimlab study"
        " new FILE"
    ),
)


def paper_table(name: str) -> JsonObject:
    """The `figures` that a paper prints in a table ("PAPER, TABLE"), and the paper's own `names`
    for ours.
    """
    papers = packaged.toml("claimlab.catalog", "published.toml")
    shared = {
        f"{paper}, {table}": content
        for paper, tables in papers.items()
        for table, content in tables.items()
    }
    check_name("paper", name, shared)
    table: JsonObject = shared[name]
    return table


def with_papers(raw: JsonObject) -> JsonObject:
    """The content of a study file, with the figures of the tables that its `[[published]]` and
    `[[show]]` name.
    """
    filled = dict(raw)
    for part, field in (("published", "figures"), ("show", "published")):
        if isinstance(raw.get(part), list):
            filled[part] = [_with_figures(each, field) for each in raw[part]]
    return filled


def _with_figures(part: Any, field: str) -> Any:
    if not isinstance(part, dict) or not isinstance(part.get("paper"), str):
        return part
    if field in part:
        raise UsageError(
            f"A table of a study has both `paper` and `{field}`.", "Give one of the two."
        )
    figures: list[Figure] = paper_table(part["paper"])["figures"]
    if "counts" in part:
        return {**part, "counts": [_counted(count, figures) for count in part["counts"]]}
    return {**part, field: figures}


def _counted(count: Any, figures: list[Figure]) -> Any:
    """A count whose `published` names rows of the table: one for every dataset, or one for each."""
    named = count.get("published", {}) if isinstance(count, dict) else {}
    rows = {figure["name"]: figure for figure in figures}
    for row in [named] if isinstance(named, str) else named.values():
        if row not in rows:
            raise UnknownName("row", str(row), rows)
    if isinstance(named, str):
        named = {dataset: named for dataset in rows[named] if dataset != "name"}
    return {**count, "published": {dataset: rows[row][dataset] for dataset, row in named.items()}}


Value = str | int | float | bool
Options = JsonObject
Variants = dict[str, Options]
Axes = Mapping[str, Value]  # a choice on some of the axes
AxisValues = dict[str, list[Value]]


class _StudyPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class StudyCaps(_StudyPart):
    """What the whole study may spend, over all its cells and starts."""

    max_cost: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None


class TableView(_StudyPart):
    """The table that is shown first, and the detector that the others are compared with (without
    one, the best trivial baseline). Without `columns`, they are the splits, or else the first axis
    that has several values.
    """

    rows: str = "detector"
    columns: str = ""
    cells: str = "macro_f1"
    baseline: str = ""
    gap: list[Value] = Field(
        default=[], max_length=2
    )  # two columns, and how far the first is above the second
    records: bool = False  # a last column with the test records of each row


class PublishedFigures(_StudyPart):
    """Figures of others, in per cent: each names values of axes, and a measure (macro_f1,
    accuracy).
    """

    source: str
    figures: list[dict[str, Value]] = Field(min_length=1)
    paper: str = ""  # a table of a paper that claimlab knows: then its figures are those
    card: str = (
        ""  # a field of the catalogue's published figures: then each figure is one of every dataset
    )


class Count(_StudyPart):
    """How many rows of a side table have one of the given values in every given column."""

    name: str
    table: str
    where: dict[str, Value | list[Value]] = {}
    published: dict[str, int] = {}  # dataset -> number


class Show(_StudyPart):
    """A table of a step itself, for each dataset: a side table that it wrote, counts of rows, the
    findings of an audit, or a table of another report. `values` are the variants of the step,
    `after` the steps before it.
    """

    title: str
    step: str
    values: list[str] = []
    datasets: list[str] = []
    after: dict[str, str | list[str]] = {}
    table: str | None = None
    columns: list[str] = []
    where: dict[str, Value | list[Value]] = {}  # only the rows with these values
    counts: list[Count] = []
    published: list[dict[str, Value]] = []
    # a table of a paper that claimlab knows: then these are its figures; a count names its row
    paper: str = ""
    card: str = ""  # a field of the catalogue's published figures, for the first of `values`
    source: str = ""
    across: bool = (
        False  # one row for each dataset, with the first of `columns` of every variant side by side
    )


class GridPart(_StudyPart):
    """One of several grids of a study, with a table of its own."""

    name: str
    grid: AxisValues
    exceptions: list[dict[str, Value | list[Value]]] = Field(default=[], alias="except")
    table: TableView = TableView()


class StudyFile(_StudyPart):
    """`report` holds the answers that the EQA report asks for, in its own words (see `claimlab
    report`).
    """

    name: str = Field(default="study", min_length=1)
    data: str = "."
    sample: int | None = Field(
        default=None, ge=1
    )  # records of each dataset, drawn at random: for a trial
    datasets: Variants = Field(min_length=1)
    grid: AxisValues = {}
    part: list[GridPart] = []  # instead of one grid, several
    seeds: list[int] = Field(default=[0], min_length=1)
    exceptions: list[dict[str, Value | list[Value]]] = Field(default=[], alias="except")
    recorded: str = ""  # answers of a model that come with it: a preset's name, or a file
    references: bool = True  # majority and the other trivial detectors beside the models
    caps: StudyCaps = StudyCaps()
    table: TableView = TableView()
    published: list[PublishedFigures] = []
    show: list[Show] = []
    report: Options = {}
    clean: Variants = {}
    review: Variants = {}
    enrich: Variants = {}
    audit: Variants = {}
    match: Variants = {}
    export: Variants = {}
    split: Variants = {}
    detector: Variants = {}
    train: Variants = {}  # columns and values that rows of train and dev must have
    test: Variants = {}  # the same for rows of test

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        _refuse_absent(raw)
        return with_papers(filled(raw, {"data": str(raw.get("data", "."))}))

    def variants(self, axis: str) -> Variants:
        """What the values of an axis stand for, by name."""
        options: Variants = getattr(self, axis)
        return options


def _refuse_absent(raw: JsonObject) -> None:
    """Raise where the file names a step of a package that is not installed."""
    grids = [raw, *_tables(raw.get("part"))]
    names = {*raw, *(axis for grid in grids for axis in _keys(grid.get("grid")))}
    for entry in _keys(raw.get("datasets")).values():
        names |= {*entry} if isinstance(entry, dict) and "of" in entry else set()
    names |= {str(show.get("step")) for show in _tables(raw.get("show"))}
    for name in sorted({name.partition(".")[0] for name in names}):
        missing = None if VERBS.offers(name) else VERBS.absent(name)
        if missing:
            raise missing


def _keys(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _tables(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def filled(value: Any, places: Mapping[str, str]) -> Any:
    """The value with `{NAME}` replaced by the place of that name in every text inside it."""
    if isinstance(value, dict):
        return {name: filled(each, places) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, places) for each in value]
    if isinstance(value, date | time):
        return str(value)
    if isinstance(value, str):
        for name, place in places.items():
            value = value.replace(f"{{{name}}}", place)
    return value


def texts_in(value: object, option: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text in the tables of a study, with the names that lead to it; `detector.profile` is an
    axis.
    """
    if isinstance(value, dict):
        for name, each in value.items():
            yield from texts_in(each, (*option, *str(name).split(".")))
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each, option)
    elif isinstance(value, str) and option:
        yield option, value


def read_study_file(file: str | Path) -> StudyFile:
    """The study in `file`, or an error that names what is wrong with it. The steps of installed
    packages have tables as ours do.
    """
    steps: JsonObject = {name: (Variants, {}) for name in VERBS.outside()}
    model: type[StudyFile] = create_model("StudyFile", __base__=StudyFile, **steps)
    return read_toml(
        Path(file),
        model,
        kind="study file",
        start="claimlab study new",
        unlike={"formulation": QUESTIONS},
    )
