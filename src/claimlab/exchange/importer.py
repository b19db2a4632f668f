"""Bring any file: from tables of any layout to a clean, traceable dataset, in five steps.

    dataset, report = import_files(["claims.csv"], "claims", text="claim", label="rating")

Each step is a function with a module of its own in `exchange.importing`, and hands one value to
the next: `read` (files to one table), `profile` (what its columns look like), `propose` (what they
may be), `decide` (what they are, with the reason, or a question) and `make` (the dataset, and a
report on it). What is not given is guessed; `on_plan` sees the plan before it is used. Texts and
labels are kept as they are written, and what the file holds besides goes to `meta`.

A data frame or rows as a file, so that they are imported as every file is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypedDict, Unpack

from claimlab.core.call import in_storage, repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import (
    Choice,
    ClaimlabError,
    Question,
    UnknownName,
    UnmappedLabels,
    UsageError,
)
from claimlab.core.fetch.provenance import provenance_of
from claimlab.core.foreign import Foreign
from claimlab.core.labels import LabelMap, Unmapped, check_unmapped, general, load_map
from claimlab.core.options import (
    Argument,
    Engine,
    Force,
    InPython,
    Limit,
    Option,
    Place,
    Seed,
    Setting,
)
from claimlab.core.plain import slug
from claimlab.core.progress import Progress, progress
from claimlab.core.record import KINDS
from claimlab.core.run import Run
from claimlab.exchange.foreign import Paths, as_files, files_of
from claimlab.exchange.format import Marker
from claimlab.exchange.importing.choose import matched
from claimlab.exchange.importing.decide import decide
from claimlab.exchange.importing.layouts import Gathered, part
from claimlab.exchange.importing.make import ImportWishes, make, refuse_unknown_labels
from claimlab.exchange.importing.plan import ImportChoices, ImportPlan
from claimlab.exchange.importing.profile import Profiled, profile
from claimlab.exchange.importing.propose import Pick, propose
from claimlab.exchange.importing.raters import gather_classes, gather_ratings
from claimlab.exchange.importing.read import read
from claimlab.exchange.importing.readings import AS_WRITTEN
from claimlab.exchange.importing.report import ImportReport
from claimlab.exchange.importing.settle import settle
from claimlab.exchange.roundtrip import come_back, exported, inherit, record_files, tidy
from claimlab.files.archives import plain_name
from claimlab.files.bundle import Bundle, open_all
from claimlab.files.hub_cache import name_in
from claimlab.files.layout import ReadOptions
from claimlab.files.media import media_of
from claimlab.llm.profiles import Profile
from claimlab.tasks import TASKS

QUESTIONS_AHEAD = 2  # questions after the first that are answered with it
# answers to one of them, and commands that a message shows
ANSWERS_LOOKED_AT, COMMANDS_SHOWN = 4, 12

OnPlan = Callable[[ImportPlan], None]


Files = Annotated[
    Paths | Foreign,
    Argument(
        "CSV, TSV, JSON, JSONL, XML, Parquet, XLSX, SQLite; a folder or zip of them, or of .txt"
        " files.",
        metavar="FILE",
    ),
]
VerdictMap = Annotated[
    Mapping[str, str] | Place | None,
    Option("Label map: 0=true,1=false, a TOML file, or a name; or a task.", kind=str),
]
UnknownLabels = Annotated[
    Unmapped, Setting("Labels that the map lacks: 'error', or accept as 'unknown'.")
]
OnlyFiles = Annotated[
    str | Sequence[str], Option("Of a folder or zip, only files like '*.tsv'. Repeatable.")
]


class ImportColumns(TypedDict, total=False):
    """The column of each role: its name, its number from 1, or "none" for none. A language may also
    be a code.
    """

    text: Annotated[
        str | None, Option("Column of the text: its name, its number from 1, or 'none'.")
    ]
    label: Annotated[str | None, Option("Column of the label.")]
    id: Annotated[str | None, Setting("Column of the record id.")]
    tweet_id: Annotated[str | None, Setting("Column of the tweet id.")]
    date: Annotated[str | None, Setting("Column of the date.")]
    language: Annotated[
        str | None, Setting("Column of the language, or one code for all, such as pt.")
    ]
    url: Annotated[str | None, Setting("Column of the link.")]
    author: Annotated[str | None, Setting("Column of the author or speaker.")]
    source: Annotated[str | None, Setting("Column of the publisher, site or account.")]
    topic: Annotated[str | None, Setting("Column of the topic.")]
    group: Annotated[
        str | None, Setting("Column of the event, pair or cluster that must not be split.")
    ]
    split: Annotated[str | None, Setting("Column of the published split.")]
    rater: Annotated[
        str | None,
        Setting("Column of the annotator of a row, columns of several ('rater*'), or 'none'."),
    ]


def ignore(plan: ImportPlan) -> None:
    """The default for `on_plan`: does nothing."""


@in_storage()
def guess_files(
    paths: Paths | Foreign,
    *,
    kind: str | None = None,
    map: Mapping[str, str] | Place | None = None,
    options: ReadOptions | Mapping[str, Any] = ReadOptions(),  # noqa: B008 - frozen
    only: str | Sequence[str] = (),
    join: str | Sequence[str] = (),
    ask: bool = True,
    **columns: Unpack[ImportColumns],
) -> ImportPlan:
    """Read the files and say what they seem to be, without making anything of it. Options: see
    `import_files`. Where a choice is close, `ask` raises the question; otherwise the likeliest
    column is taken. `save` writes the choices to a file.
    """
    answers = _Answers.of(kind, map, options, only, join, columns)
    with as_files(paths) as files, open_all(files) as bundles:
        return _plan(bundles, exported(bundles), answers, progress, ask=ask)


@repeatable("on_plan")
def import_files(  # noqa: PLR0913
    paths: Files,
    output: Annotated[Place | None, Option("Folder to write the dataset to.", short="-o")] = None,
    *,
    kind: Annotated[str | None, Option("What the texts are: claim, article or post.")] = None,
    name: Annotated[str | None, Option("Name of the dataset; the first file's by default.")] = None,
    map: VerdictMap = None,
    unmapped: UnknownLabels = "error",
    plan: Annotated[
        Place | None, Option("TOML file with all choices: written where it is absent, else used.")
    ] = None,
    day_first: Annotated[bool | None, Setting("How to read 03/04/2020: true for 3 April.")] = None,
    keep_placeholder_dates: Annotated[
        bool, Setting("Keep 1970-01-01, 1900-01-01 and a date that most rows have.")
    ] = False,
    options: Annotated[
        ReadOptions | Mapping[str, Any],
        InPython("How files are read: encoding, delimiter, quotes, header and sheet."),
    ] = ReadOptions(),  # noqa: B008 - frozen
    only: OnlyFiles = (),
    join: Annotated[
        str | Sequence[str],
        Setting("Join a linked table: FILE:KEY. Repeatable. 'none' joins none."),
    ] = (),
    ask_model: Annotated[
        str | Profile | None,
        Option(
            "Model profile that suggests an answer where import asks you; it decides nothing.",
            kind=str,
        ),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
    force: Force = False,
    engine: Engine = None,
    on_plan: Annotated[
        OnPlan, InPython("Called with the plan of the import before records are read by it.")
    ] = ignore,
    **columns: Unpack[ImportColumns],
) -> tuple[Dataset, ImportReport]:
    """Import files of any layout into a dataset folder. Layout and columns are guessed, and the
    guess is shown.

    `options` are encoding, delimiter, quotes, header and sheet, where given: {"delimiter": "tab"}.
    A linked table is named as FILE:KEY or FILE:KEY=ITS_KEY; each row gets its columns. Whether days
    come first is found out from the column, and dates are null where it does not tell. The seed is
    for the sample of texts whose language is measured where there are too many to identify them
    all. `on_plan` is called with the plan before it is used.

    Raises DataError where files cannot be read, or raise a question: the message says which option
    answers it.
    """
    check_unmapped(unmapped)
    choices = (kind, name, map, plan, day_first, only, join, *columns.values())
    with Run("import", None, output, reads=files_of(paths), force=force, engine=engine) as run:
        answers = _Answers.of(kind, map, options, only, join, columns)
        if plan is not None:
            answers = answers.filled(ImportChoices.read(plan))
        with as_files(paths) as files, open_all(files) as bundles:
            marker = exported(bundles)
            whole = None if any(choices) else come_back(bundles, marker, limit)
            if whole is not None:
                return run.finish(whole[0]), whole[1]
            called = _slug(name) if name else _own_name(files, marker)
            ahead = unmapped == "error"
            decided = _plan(bundles, marker, answers, progress, ahead=ahead, helper=ask_model)
            members = [name for bundle in bundles for name in bundle.names()]
        on_plan(decided)
        wishes = ImportWishes(unmapped, day_first, keep_placeholder_dates, limit, seed)
        try:
            dataset, report = make(decided, called, wishes, progress)
        except UnmappedLabels as labels:
            raise _with_help(labels, decided.gathered, decided.column("label"), ask_model) from None
        if marker is not None:
            inherit(dataset, marker)
        tables, notes = media_of(dataset.records, files_of(paths), members)
        dataset.tables |= tables
        dataset.notes += notes
        report.notes += notes
        if came := [each for path in files_of(paths) if (each := provenance_of(path))]:
            dataset.lineage[-1].parameters["sources"] = [each.to_json() for each in came]
        return run.finish(dataset), report


@dataclass(frozen=True)
class _Answers:
    """What the user said of the files: nothing of it is guessed."""

    kind: str | None
    verdicts: LabelMap
    layout: ReadOptions
    only: Sequence[str]
    join: Sequence[str]
    columns: Mapping[str, str]
    rater: str | None = None
    map_given: bool = False

    @classmethod
    def of(
        cls,
        kind: str | None,
        map: Mapping[str, str] | Place | None,
        options: ReadOptions | Mapping[str, Any],
        only: str | Sequence[str],
        join: str | Sequence[str],
        columns: ImportColumns,
    ) -> _Answers:
        if kind is not None and kind not in KINDS[:3]:
            raise UsageError(f"`kind` cannot be '{kind}'.", f"Use one of: {', '.join(KINDS[:3])}.")
        return cls(
            kind,
            _map_of(map),
            ReadOptions.of(options),
            [only] if isinstance(only, str) else only,
            [join] if isinstance(join, str) else join,
            {
                role: str(name)
                for role, name in columns.items()
                if name is not None and role != "rater"
            },
            columns.get("rater"),
            map is not None,
        )

    def adding(self, choice: Choice) -> _Answers:
        """These, and the answer to a question."""
        argument, value = choice.argument, choice.value
        if argument == "map":
            return replace(self, verdicts=_map_of(str(value)), map_given=True)
        if argument == "rater":
            return replace(self, rater=str(value))
        if argument in ("only", "join"):
            return self
        return replace(self, columns={**self.columns, argument: str(value)})

    def filled(self, plan: ImportChoices) -> _Answers:
        """What the user said goes before what a plan says."""
        takes = not self.map_given and plan.verdicts is not None
        return replace(
            self,
            kind=self.kind or plan.kind,
            verdicts=plan.verdicts if takes and plan.verdicts else self.verdicts,
            map_given=self.map_given or takes,
            columns={**plan.columns, **self.columns},
        )


def _map_of(source: Mapping[str, str] | Place | None) -> LabelMap:
    """The label map that the user named, or that of a task whose labels are not verdicts."""
    if source is None:
        return general()
    if source in (*TASKS.names(), AS_WRITTEN):
        return LabelMap(str(source), {}, task=str(source))
    try:
        return load_map(source)
    except UnknownName as error:
        names = [*error.known, *TASKS.names()]
        raise UnknownName("label map or task", str(source), names) from None


def _plan(
    bundles: Sequence[Bundle],
    marker: Marker | None,
    answers: _Answers,
    progress: Progress,
    *,
    ask: bool = True,
    ahead: bool = False,
    helper: str | Profile | None = None,
) -> ImportPlan:
    """The first four steps: from files to what each of their columns becomes. With `ahead`, a
    question comes with what its answers would raise.
    """
    only = answers.only or (() if marker is None else record_files(marker))
    table = read(bundles, answers.layout, chosen=only, join=answers.join, progress=progress)
    if marker is not None:
        tidy(table)
    try:
        return _decided(table, marker, answers, ask=ask)
    except Question as question:
        if ahead:
            question.whole = _some_of_each(_in_full(question, table, answers))
        raise _with_help(question, table, question.column, helper) from None


def _with_help(
    question: Question | UnmappedLabels,
    table: Gathered,
    label: str | None,
    helper: str | Profile | None,
) -> Question | UnmappedLabels:
    """A question with what a model suggests, where one is to be asked."""
    if helper is None:
        return question
    from claimlab.exchange.importing.suggest import suggested  # with all that asks a model

    return suggested(question, table, label, helper)


def _some_of_each(whole: Sequence[Sequence[Choice]]) -> list[Sequence[Choice]]:
    """These answers, all that begin with one choice or, where they are too many, that choice alone,
    which asks the rest: some of the meanings of a label would hide the others.
    """
    firsts: dict[str, list[Sequence[Choice]]] = {}
    for answers in whole:
        firsts.setdefault(str(answers[0]), []).append(answers)
    printed: list[Sequence[Choice]] = []
    for left, alike in zip(range(len(firsts), 0, -1), firsts.values(), strict=True):
        fits = len(printed) + len(alike) + left - 1 <= COMMANDS_SHOWN
        printed += alike if fits or len(alike) == 1 else [alike[0][:1]]
    return printed


def _in_full(
    question: ClaimlabError, table: Gathered, answers: _Answers, steps: int = QUESTIONS_AHEAD
) -> list[list[Choice]]:
    """Answers that leave nothing to ask: each choice with those of the question that it would
    raise. A choice that cannot be read is left out.
    """
    out: list[list[Choice]] = []
    for choice in question.choices:
        rest, then = _part_of(table, choice), answers.adding(choice)
        if rest is None:
            out.append([choice])
            continue
        try:
            plan = _decided(rest, None, then)
            refuse_unknown_labels(plan)
            out.append([choice, *_said_by(plan, choice)])
        except UnmappedLabels as labels:
            maps = [[choice, answer] for answer in labels.choices if answer.argument == "map"]
            out += maps[:ANSWERS_LOOKED_AT] or [[choice]]
        except Question as following:
            more = _in_full(following, rest, then, steps - 1) if steps else []
            out += [[choice, *answer] for answer in more[:ANSWERS_LOOKED_AT]] or [[choice]]
        except ClaimlabError:
            continue
    return out


def _said_by(plan: ImportPlan, choice: Choice) -> list[Choice]:
    """What a label that is an answer means, where evidence decides it: the line says it, too."""
    task = plan.verdicts.task
    known = task in TASKS.names() and choice.argument == "label"
    return [Choice("map", str(task), TASKS.get(str(task)).question)] if known else []


def _part_of(table: Gathered, choice: Choice) -> Gathered | None:
    """The tables that an answer leaves; null where they would have to be read for that."""
    if choice.argument != "only":
        return None if choice.argument == "join" else table
    globs = [choice.value] if isinstance(choice.value, str) else choice.value
    chosen = set(matched(globs, [member.name for member in table.tables]))
    tables = [member for member in table.tables if member.name in chosen]
    return replace(part(table, tables), chosen=True) if tables else None


def _decided(
    table: Gathered, marker: Marker | None, answers: _Answers, *, ask: bool = True
) -> ImportPlan:
    """What each column of a table becomes."""
    table = settle(table, answers.columns, answers.verdicts, joins=not answers.join)
    if marker is None:
        table = gather_classes(table, answers.verdicts, answers.columns)
    seen, picks = _proposed(table, answers)
    if marker is None:
        items = gather_ratings(table, seen, picks, answers.columns, answers.rater, ask=ask)
        if items is not table:  # other columns than those that were looked at
            table = items
            seen, picks = _proposed(table, answers)
    return decide(
        table, seen, picks, answers.columns, answers.kind, map_given=answers.map_given, ask=ask
    )


def _proposed(table: Gathered, answers: _Answers) -> tuple[Profiled, dict[str, Pick]]:
    """What the columns look like, and the role that each would have."""
    seen = profile(table.plain(), answers.verdicts, table.hidden(answers.columns))
    return seen, propose(seen, answers.columns, table.inner)


def _own_name(paths: Sequence[str | Path], marker: Marker | None) -> str:
    path = Path(paths[0])
    if marker is not None:
        return marker.dataset.name
    if path.is_file():
        return _slug(Path(plain_name(path.name)).stem)
    return _slug(name_in(path) or path.absolute().name)


def _slug(words: str) -> str:
    """A name that is safe in ids, paths and commands: lower case, digits and hyphens, as in the
    catalogue.
    """
    return slug(words, longest=200) or "imported"
