"""Run a study: every step once, every cell an ordinary run folder, and a page over all of them.

    DIR/study.toml          the study as it was run
    DIR/steps/VERB-KEY/     one folder for each distinct step, written by the verb itself
    DIR/calls/              recorded answers of models and searches, shared by all cells
    DIR/cells.json          which cell is which folder, and what failed and why
    DIR/timings.json        seconds and cost of the steps (they differ from run to run)
    DIR/report/             the tables: HTML, LaTeX, Markdown, CSV, JSON
    DIR/report.toml         what `claimlab report` needs, from the answers in the study file

A study that was stopped goes on where it was: finished steps are there, and a step that was
interrupted has its own journal. A step that fails is the reason of the cells that need it; all
others are done.

Steps that can spend nothing may be made in other processes, level by level, each a shard. What such
a step writes is its own folder of the study, whole or not at all, as when it is made here; the
shard's output says how long it took, or why it failed.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.atomic import quick_text
from claimlab.core.dataset import MANIFEST, read_manifest
from claimlab.core.engine.names import shares
from claimlab.core.engine.reads import check, digest_of, reads
from claimlab.core.engine.run import run_stage
from claimlab.core.errors import ClaimlabError, OutputExists, UsageError
from claimlab.core.grants import allow, on_behalf_of, require
from claimlab.core.ledger import Ledger
from claimlab.core.lock import Lock
from claimlab.core.progress import progress
from claimlab.core.remote import to_read
from claimlab.core.run import one_account, sweep_finished
from claimlab.core.shown import Shown
from claimlab.core.tables import read_parquet
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.detect.tables import answered
from claimlab.pages.blocks import Table
from claimlab.study.entry import BoardEntry
from claimlab.study.exhibits import Exhibit, exhibits
from claimlab.study.file import StudyCaps, StudyFile, filled, read_study_file
from claimlab.study.plan import GridCell, at_hand, plan
from claimlab.study.received import wanted_by
from claimlab.study.recorded import take_in
from claimlab.study.step import (
    CALLS,
    DETECT,
    FILE,
    FURTHER,
    MISSING,
    REPORTS,
    SOURCES,
    SPENT,
    STEPS,
    STEPS_FOLDER,
    TIMINGS,
    Node,
)

_VARY = {TIMINGS, "costs.html", SPENT, ".lock"}
CALLED = {**SOURCES, **FURTHER, **{verb.function: verb for verb in STEPS.values()}}
_DONE = {name: verb.done for name, verb in REPORTS.items()}
WORK = ".engine"


@dataclass
class Grid(Shown):
    """The cells of a study, done or failed: `folder` of each is its run."""

    output: Path
    study: StudyFile
    cells: list[GridCell]
    failed: dict[str, str] = field(default_factory=dict)  # key of a step -> reason
    timings: dict[str, dict[str, float]] = field(
        default_factory=dict
    )  # key of a step -> seconds and cost
    shown: list[Exhibit] = field(default_factory=list)  # steps whose own tables the page has
    tables: list[tuple[str, Table]] = field(default_factory=list)  # title and table of these
    entries: list[BoardEntry] = field(
        default_factory=list
    )  # what the cells score, where the study was run just now
    left_out: list[str] = field(default_factory=list)  # why cells of absent datasets are not here

    def headline(self) -> str:
        failed = len(self.cells) - len(self.done)
        return several(len(self.cells), "cell") + (f", {failed} failed." if failed else ".")

    def folder(self, cell: GridCell) -> Path:
        return self.output / STEPS_FOLDER / cell.node.name

    def reason(self, cell: GridCell) -> str | None:
        """Why the cell has no run; null where it has one."""
        return self.why(cell.node)

    def why(self, last: Node) -> str | None:
        """Why a step could not be made; null where it was."""
        return next(
            (self.failed[node.key] for node in last.chain() if node.key in self.failed), None
        )

    @property
    def done(self) -> list[GridCell]:
        return [cell for cell in self.cells if self.reason(cell) is None]

    @property
    def broken(self) -> list[Node]:
        """Cells and shown steps without a result, but for steps shown of an optional dataset that
        is not there.
        """
        last = [*(cell.node for cell in self.cells), *(exhibit.node for exhibit in self.shown)]
        failed = [node for node in last if self.why(node) is not None]
        return [node for node in failed if all(each.verb != MISSING for each in node.chain())]

    @property
    def table(self) -> pl.DataFrame:
        """One row a cell: its axes, its run, and the reason where it has none."""
        rows = [
            {**{a: str(v) for a, v in c.axes.items()}, "run": c.node.name, "failed": self.reason(c)}
            for c in self.cells
        ]
        return pl.DataFrame(rows, infer_schema_length=None)


@contextmanager
def prepared(
    study: str | Path,
    output: Path,
    only: Mapping[str, str] | Sequence[str],
    *,
    mode: str,
    trust: bool = False,
    caps: StudyCaps | None = None,
) -> Iterator[Maker]:
    """The study planned, its folder held against other processes, and one account for all that its
    steps spend.
    """
    file = Path(study)
    read = read_study_file(file)
    wanted = wanted_by(read, file)
    require(file, wanted, trust=trust)
    with on_behalf_of(file, wanted, trust=trust):
        yield from _prepared(file, read, output, only, mode=mode, caps=caps)


def _prepared(
    file: Path,
    read: StudyFile,
    output: Path,
    only: Mapping[str, str] | Sequence[str],
    *,
    mode: str,
    caps: StudyCaps | None,
) -> Iterator[Maker]:
    cells, left_out = at_hand(plan(read, chosen(only)))
    refuse_other_folder(output)
    output.mkdir(parents=True, exist_ok=True)
    lock = Lock(output / ".lock", output, "study")
    try:
        if file.resolve() != (output / FILE).resolve():
            shutil.copyfile(file, output / FILE)
            allow(output / FILE, wanted_by(read, output / FILE))
        if read.recorded and mode != "live":
            take_in(read.recorded, output / CALLS)
        limits = read.caps.model_copy(update=(caps or StudyCaps()).model_dump(exclude_none=True))
        with one_account(output / SPENT):
            grid = Grid(
                output,
                read,
                cells,
                timings=_timings(output),
                shown=exhibits(read, chosen(only)),
                left_out=left_out,
            )
            yield Maker(grid, limits, mode)
    finally:
        lock.release()


def chosen(only: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    """`only` as axis and value, however it was given."""
    if isinstance(only, Mapping):
        return dict(only)
    pairs = [item.partition("=") for item in only]
    if wrong := [item for item, pair in zip(only, pairs, strict=True) if not pair[1]]:
        raise UsageError(f"'{wrong[0]}' is not an axis and a value.", "Write it as AXIS=VALUE.")
    return {axis.strip(): value.strip() for axis, _, value in pairs}


def refuse_other_folder(output: Path) -> None:
    """A study goes on in its own folder, and in no other that holds something."""
    if output.exists() and any(output.iterdir()) and not (output / FILE).is_file():
        raise OutputExists(output, "holds something other than a study", "Choose another output.")


class Maker:
    """Makes the steps, each once, in the order of the cells."""

    def __init__(self, grid: Grid, caps: StudyCaps, mode: str) -> None:
        self.grid, self.caps, self.mode = grid, caps, mode
        self.steps = grid.output / STEPS_FOLDER
        last = [*(cell.node for cell in grid.cells), *(exhibit.node for exhibit in grid.shown)]
        nodes = {node.key: node for each in last for node in each.chain() if node.folder is None}
        self.nodes, self.finished = nodes, 0
        self.errors: dict[str, ClaimlabError] = {}  # key of a step -> why it failed

    def make_all(self, *, spend: bool = True) -> None:
        """Make every step that can be made; without `spend`, only those that ask no model."""
        for node in self.nodes.values():
            if not spend and any(each.asks for each in node.chain()):
                continue
            progress(f"{node.verb} {node.key[:6]}", self.finished, len(self.nodes))
            if all(before.key not in self.grid.failed for before in node.chain()):
                self.make(node)
            self.finished += 1
        progress("study", self.finished, len(self.nodes))

    def place(self, node: Node) -> Path:
        return to_read(node.folder) if node.folder else self.steps / node.name

    def make(self, node: Node) -> None:
        """Make the step, unless it is there; where it fails, note why."""
        folder = self.steps / node.name
        if node.verb == MISSING:
            self.grid.failed[node.key] = node.options["why"]
            return
        if not self.is_missing(node):
            if folder.with_name(f".{folder.name}.work").exists():
                sweep_finished(folder)
            if self._unanswered(node) is None:
                return
        began, before = time.monotonic(), self._spent()
        try:
            self._call(node, folder)
        except ClaimlabError as error:
            self.errors[node.key] = error
            self.grid.failed[node.key] = str(error)
            return
        if (reason := self._unanswered(node)) is not None:
            self.grid.failed[node.key] = reason
        self.took(node, round(time.monotonic() - began, 3), round(self._spent() - before, 9))

    def is_missing(self, node: Node) -> bool:
        return not (self.steps / node.name / _DONE.get(node.verb, MANIFEST)).is_file()

    def took(self, node: Node, seconds: float, cost: float) -> None:
        self.grid.timings[node.key] = {"seconds": seconds, "cost": cost}
        quick_text(
            self.grid.output / TIMINGS,
            json.dumps(self.grid.timings, indent=1, sort_keys=True) + "\n",
        )

    def _unanswered(self, node: Node) -> str | None:
        """Why a run that is there has no score: no prediction is an answer. It is tried again the
        next time.
        """
        file = self.steps / node.name / "predictions.parquet"
        if (
            node.verb != DETECT
            or not file.is_file()
            or answered(read_parquet(file, columns=["label", "meta"]))
        ):
            return None
        notes = read_manifest(file.parent).notes
        return " ".join(
            ["No record was answered.", *(note for note in notes if "failed and" in note)]
        )

    def _call(self, node: Node, folder: Path) -> None:
        again: JsonObject = {} if self.is_missing(node) else {"force": True}
        options = {**self.options(node), **self._shared(node), **again}
        call_step(node.verb, [self.place(b) for b in node.before], options, folder)

    def as_shard(self, node: Node) -> JsonObject:
        """The step in words that another process understands; one that can spend nothing needs no
        cap.
        """
        shared = self._shared(node)
        how: JsonObject = {n: str(shared[n]) for n in ("mode", "cache") if n in shared}
        options = {**self.options(node), **how}
        places = [reads(self.place(b)) for b in node.before]
        folder = str((self.steps / node.name).absolute())
        return {"verb": node.verb, "places": places, "options": options, "folder": folder}

    def options(self, node: Node) -> JsonObject:
        """The options of a step, with the folders of the datasets that they name."""
        places = {name: str(self.place(other)) for name, other in node.named}
        options: JsonObject = filled(node.options, places)
        return options

    def _shared(self, node: Node) -> JsonObject:
        """What the study sets for every verb that has it: one mode, one recording, one cap. A
        step that sends nothing, such as a search in a local folder, runs in a replay, too."""
        cache = None if self.mode == "live" else self.grid.output / CALLS
        mode = "record" if self.mode == "replay" and not node.asks else self.mode
        common = {"mode": mode, "cache": cache, **self.caps.model_dump()}
        spends = "max_cost" in CALLED[node.verb].options
        return {name: value for name, value in common.items() if spends and value is not None}

    def _spent(self) -> float:
        file = self.grid.output / SPENT
        return Ledger(file).opening[0] / 1e9 if file.is_file() else 0.0


def call_step(name: str, places: Sequence[Path], options: JsonObject, folder: Path) -> None:
    """Make one step: the verb itself, with the folders that it reads and the one that it writes."""
    verb = CALLED[name]
    if name == "merge":
        verb.call(places, **options, output=folder)
    else:
        verb.call(*places, **options, output=folder)


def varies(file: Path) -> bool:
    """Whether a file of a study, as a path in it, says something of time and money: the same in no
    two runs.
    """
    return file.name in _VARY or file.parts[0] == CALLS


def _timings(output: Path) -> dict[str, dict[str, float]]:
    try:
        timings: dict[str, dict[str, float]] = json.loads((output / TIMINGS).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return timings


def share_steps(maker: Maker) -> None:
    """Make every step that asks no model, where the run shares its work; what is left is made as
    ever.
    """
    if not shares():
        return
    # a step is made here where it may spend, uses the recording, or is known to be missing
    free = [
        node
        for node in maker.nodes.values()
        if not any(step.asks or step.verb in (MISSING, "enrich") for step in node.chain())
    ]
    for depth in sorted({len(list(node.chain())) for node in free}):
        level = [node for node in free if len(list(node.chain())) == depth]
        ready = [node for node in level if maker.is_missing(node) and maker.grid.why(node) is None]
        if ready:
            _make(maker, ready, depth)


def _make(maker: Maker, nodes: list[Node], depth: int) -> None:
    shards = [maker.as_shard(node) for node in nodes]
    folder = maker.grid.output.absolute() / WORK
    outputs = run_stage(do_step, shards, folder=folder, name=f"level-{depth}", progress=progress)
    for node, file in zip(nodes, outputs, strict=True):
        result = json.loads(file.read_text("utf-8"))
        if result["failed"] is not None:
            maker.grid.failed[node.key] = result["failed"]
        else:
            if maker.place(node).exists():  # else it is made again, as any step that is gone
                check(maker.place(node), result["sha256"])
            maker.took(node, result["seconds"], 0.0)


def do_step(shard: Any, output: Path) -> None:
    """One step of a study: the verb itself, with its own output."""
    began, failed, folder = time.monotonic(), None, Path(shard["folder"])
    try:
        call_step(
            shard["verb"], [Path(place) for place in shard["places"]], shard["options"], folder
        )
    except ClaimlabError as error:
        failed = str(error)
    seconds = round(time.monotonic() - began, 3)
    digest = digest_of(folder) if failed is None else None
    output.write_text(
        json.dumps({"failed": failed, "seconds": seconds, "sha256": digest}), encoding="utf-8"
    )
