"""A leaderboard from a folder of bundles: every one is derived again here, or listed as refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl

from claimlab.core import packaged
from claimlab.core.atomic import atomic_folder
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UnreadableFile
from claimlab.core.guard import refuse_taken
from claimlab.core.options import Argument, Force, Option, OptionalFolder, Place, Seed
from claimlab.core.run import Run, Stored, folders_of
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.evaluation import evaluate_runs
from claimlab.evaluate.result import Evaluation
from claimlab.evaluate.scored_run import Runs, ScoredRun
from claimlab.evaluate.views import SIZES, conclusions, method, together
from claimlab.pages.blocks import Blocks, Column, Columns, Report, Section, Table, Text, short
from claimlab.pages.folder import Contents, fill
from claimlab.publish.alike import remarks
from claimlab.publish.bundle import BOARD, FORMAT, Answered, ResultBundle, digest
from claimlab.publish.verify import Verified, derived

KIND = "board"
MOST_BUNDLES = 500  # bundles of a folder
HEAD = 4096  # bytes of a file in which a bundle says what it is
_SIGN = re.compile(rb'"bundle"\s*:\s*"claimlab result ')
_FOLDER = f"Name a folder with 1 to {MOST_BUNDLES} files of: claimlab publish bundle RUN -o FILE"
OLDER = "publishers and authors unknown (bundle of 0.3)"
LINE_COLUMNS: Columns[Line] = (
    Column("Run", "run", short(60)),
    Column("Dataset", "answered.dataset", short(40)),
    Column("Detector", "answered.detector", short(40)),
    Column("Split by", "answered.division", short(40)),
    Column("Flags", "flags", missing=""),
    Column("Bundle", lambda line: line.bundle[:12]),
)


@dataclass(frozen=True)
class Line:
    """One run of a verified bundle."""

    run: str
    bundle: str
    answered: Answered
    older: bool = False  # from before records named their units
    remarks: tuple[str, ...] = ()  # on its answers, beside those of others

    @property
    def flags(self) -> str:
        """What a reader must know before comparing: test records in train, or in a model, the same
        answers under another name, and scores that are hardly possible."""
        about, kinds = self.answered, ("exact", "near", "group")
        leaks = [(kind, about.overlap.get(f"test_in_train_{kind}", 0)) for kind in kinds]
        words = [f"{n:,} test records in train ({kind})" for kind, n in leaks if n]
        words += [f"{check}: {verdict}" for check, verdict in about.contamination.items()]
        words += [OLDER] if self.older else []
        return "; ".join([*self.remarks, *words])


@dataclass(frozen=True, repr=False)
class Ranked(Shown):
    """The evaluation of what is verified, and why the rest was refused."""

    evaluation: Evaluation
    lines: list[Line]
    refused: dict[str, str]

    @property
    def table(self) -> pl.DataFrame:
        return self.evaluation.table

    def headline(self) -> str:
        refused = f"; {several(len(self.refused), 'file')} refused" if self.refused else ""
        return f"{several(len(self.lines), 'verified run')}{refused}"

    def to_json(self) -> JsonObject:
        runs = [
            {
                "run": line.run,
                "bundle": line.bundle,
                "flags": line.flags,
                "records": line.answered.records,
            }
            for line in self.lines
        ]
        return {"runs": runs, "refused": self.refused, "evaluation": self.evaluation.to_json()}


@repeatable()
def publish_board(
    folder: Annotated[Place, Argument("A folder of bundles.")],
    *,
    output: OptionalFolder = None,
    data: Annotated[
        Stored | Sequence[Stored],
        Option("A dataset folder: bundles on it must have its texts, labels and groups."),
    ] = (),
    seed: Seed = 0,
    force: Force = False,
) -> Ranked:
    """Rank the results in a folder of bundles, each scored again here; what cannot be verified is
    refused.
    """
    place = Path(folder)
    sources = [data] if isinstance(data, Dataset | str | Path) else list(data)
    datasets = {dataset.name: dataset for dataset in map(Dataset.of, sources)}
    with Run(
        "publish board",
        None,
        output,
        kind=KIND,
        reads=[place, *folders_of(*sources)],
        force=force,
        seed=seed,
    ) as run:
        verified, refused = _verified(place, datasets)
        opened, lines = [], []
        for name, result in verified.items():
            stem = name.removesuffix(".json")  # unique; one of several runs has both names
            for run_of_bundle, answered in zip(result.runs, result.bundle.runs, strict=True):
                title = stem if len(result.runs) == 1 else f"{stem}: {run_of_bundle.name}"
                opened.append(replace(run_of_bundle, name=title))
                older = result.bundle.bundle != FORMAT
                lines.append(Line(title, result.bundle.id, answered, older))
        apart = _named_by_records(opened, lines, verified)
        ranked = Ranked(evaluate_runs(apart, seed=seed), _remarked(apart, lines), refused)
        pages = [_page(ranked, number) for number in (0, 1)]
        contents = Contents(KIND, pages, data={BOARD: ranked.to_json()})
        run.fill(lambda building: fill(contents, building))
    return ranked


def _verified(
    folder: Path, datasets: dict[str, Dataset]
) -> tuple[dict[str, Verified], dict[str, str]]:
    """The verified bundles, by their names in the folder, and why the others are not."""
    files = [file for file in sorted(folder.rglob("*.json")) if _claims_to_be_one(file)]
    if not 0 < len(files) <= MOST_BUNDLES:
        what = f"has {len(files):,} bundles" if files else "is not a folder of bundles"
        raise DataError(f"'{folder}' {what}.", _FOLDER)
    verified: dict[str, Verified] = {}
    refused: dict[str, str] = {}
    ids: dict[str, str] = {}
    for file in files:
        name = file.relative_to(folder).as_posix()
        if file.is_symlink() or not file.resolve().is_relative_to(folder.resolve()):
            refused[name] = "a link"
            continue
        try:
            result = derived(file, datasets.get)
        except UnreadableFile as error:
            refused[name] = error.problem.rstrip(".")
            continue
        if result.differences:
            rest = len(result.differences) - 1
            more = f" (and {rest:,} more)" if rest else ""
            refused[name] = f"not verified: {result.differences[0]}{more}"
        elif result.bundle.id in ids:
            refused[name] = f"the same as {ids[result.bundle.id]}"
        else:
            ids[result.bundle.id] = name
            verified[name] = result
    if not verified:
        name, why = next(iter(refused.items()))
        raise DataError(f"No bundle in '{folder}' is verified. {name}: {why}.", _FOLDER)
    return verified, refused


def _claims_to_be_one(file: Path) -> bool:
    """Whether a file says that it is a bundle, as one does in its first words; a folder may hold
    other JSON. What cannot be opened may be one.
    """
    if not file.is_file():
        return False
    try:
        with file.open("rb") as handle:
            return _SIGN.search(handle.read(HEAD)) is not None
    except OSError:
        return True


def _named_by_records(
    runs: Runs, lines: Sequence[Line], verified: dict[str, Verified]
) -> list[ScoredRun]:
    """Only runs on the very same records and labels are compared: where a dataset of one name has
    several sets of them, each is a dataset of its own."""
    bundles: dict[str, ResultBundle] = {
        result.bundle.id: result.bundle for result in verified.values()
    }
    keys = [
        digest(bundles[line.bundle].records[line.answered.records].model_dump(exclude={"text"}))[:8]
        for line in lines
    ]
    sets: dict[tuple[str, str], set[str]] = {}
    for run, key in zip(runs, keys, strict=True):
        sets.setdefault((run.task.name, run.dataset), set()).add(key)
    return [
        run
        if len(sets[run.task.name, run.dataset]) == 1
        else replace(run, dataset=f"{run.dataset} ({key})")
        for run, key in zip(runs, keys, strict=True)
    ]


def _remarked(runs: Runs, lines: Sequence[Line]) -> list[Line]:
    """The lines, with what is to be looked at among runs on the same records."""
    out = list(lines)
    sets: dict[tuple[str, str], list[int]] = {}
    for number, run in enumerate(runs):
        sets.setdefault((run.task.name, run.dataset), []).append(number)
    for members in sets.values():
        order = [np.argsort(runs[n].table["id"].to_numpy(), kind="stable") for n in members]
        answers = [runs[n].answers for n in members]
        truth = answers[0].truth[order[0]]
        said = [
            np.where(a.guess < len(a.classes), a.guess, -1)[rows]
            for a, rows in zip(answers, order, strict=True)
        ]
        found = remarks(truth, said, [runs[n].name for n in members])
        for number, words in zip(members, found, strict=True):
            out[number] = replace(lines[number], remarks=tuple(words))
    return out


def _page(ranked: Ranked, size: int) -> Report:
    evaluation = ranked.evaluation
    blocks: Blocks = [Text(words, "conclusion") for words in conclusions(evaluation)]
    blocks += together(evaluation, SIZES[size], linked=False)
    blocks.append(
        Section(
            "Bundles",
            [
                Text(
                    "Every figure on this page was derived again from the answers in these bundles."
                    " Flags on leaks are those that the bundles hold: none there does not mean that"
                    " none would be found. The same answers under two names, 90% of the errors in"
                    " common, and 99% right answers are flagged here."
                ),
                Table.of(LINE_COLUMNS, ranked.lines),
            ],
        )
    )
    if ranked.refused:
        rows = list(ranked.refused.items())
        blocks.append(Section("Refused", [Table(("File", "Why"), rows)], tone="fail"))
    return Report("Leaderboard", ranked.headline(), [*blocks, method(evaluation)])


def new_board(folder: Place) -> list[str]:
    """Write the layout of a repository that collects bundles, with a workflow that verifies them;
    returns its files.
    """
    target = Path(folder)
    refuse_taken(target, force=False, kind=KIND)
    files: dict[str, str] = packaged.toml("claimlab.publish", "board.toml")["files"]
    with atomic_folder(target) as building:
        for name, text in files.items():
            (building / name).parent.mkdir(parents=True, exist_ok=True)
            (building / name).write_text(text.lstrip("\n"), "utf-8")
    return list(files)
