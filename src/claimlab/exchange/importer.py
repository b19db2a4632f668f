"""Bring any file: from tables of any layout to a clean, traceable dataset.

    dataset, report = import_files(["claims.csv"], text="claim", label="rating")

What is not given is guessed; `on_guess` sees the guess before it is used. Nothing is mended: texts and labels are kept
as they are written, and what the file holds besides goes to `meta`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError, UsageError
from claimlab.core.labels import LabelMap, Unmapped, general, load_map
from claimlab.core.progress import Progress, silent
from claimlab.core.record import KINDS
from claimlab.exchange.exported import inherit, marker_of, record_files, tidy
from claimlab.exchange.guess.columns import OWN, ROLES, Plan, plan_columns
from claimlab.exchange.guess.places import explain, with_places
from claimlab.exchange.make.findings import languages_of, look_at
from claimlab.exchange.make.records import Making
from claimlab.exchange.make.report import ImportReport
from claimlab.exchange.marker import Marker
from claimlab.exchange.read.gather import Gathered, gather
from claimlab.exchange.vocabulary import fold_name
from claimlab.files.raw import Options
from claimlab.text.langid import identify

ARTICLE = 600  # characters of the median text, from which on texts are articles


@dataclass(frozen=True)
class Guess:
    """What was found in the files and what each column will become: shown before it is used."""

    gathered: Gathered
    plan: Plan
    verdicts: LabelMap
    kind: str
    marker: Marker | None = None  # when it is a folder that claimlab exported

    def to_json(self) -> dict[str, Any]:
        tables = self.gathered.tables
        return {
            "files": [{"file": t.name, **t.layout.parameters(), "refused": t.refused.total} for t in tables],
            "ignored_files": self.gathered.ignored,
            "rows": self.gathered.frame.height,
            "kind": self.kind,
            "map": f"{self.verdicts.name}@{self.verdicts.version}",
            "columns": {
                role: {"column": p.column, "value": p.value, "why": p.why, "example": p.example, "given": p.given}
                for role, p in self.plan.picks.items()
            },
            "meta": self.plan.meta,
        }

    def lines(self) -> list[str]:
        """The guess as a small table: which column becomes what, why, and an example."""
        out = [f"{words}: {self.gathered.frame.height:,} rows" for words in [self._files()]]
        picks = {role: self.plan.picks[role] for role in (*ROLES, *OWN) if role in self.plan.picks}
        cells = [(role, p.column or f"({p.value})", p.why, p.example or "") for role, p in picks.items()]
        cells.append(("kind", f"({self.kind})", "change it with --kind", "")) if "kind" not in picks else None
        widths = [max(len(_short(row[i], 40)) for row in cells) for i in range(3)]
        for row in cells:
            start = "  ".join(_short(cell, 40).ljust(width) for cell, width in zip(row[:3], widths, strict=True))
            out.append(f"  {start}  {_short(row[3], 48)}".rstrip())
        out += [f"  no {role} column" for role in ("text", "label") if role not in picks]
        if self.plan.meta:
            out.append(f"  to meta: {_short(', '.join(self.plan.meta), 100)}")
        return out

    def _files(self) -> str:
        tables = self.gathered.tables
        layouts = dict.fromkeys(t.layout.describe() for t in tables)
        what = f"'{tables[0].name}'" if len(tables) == 1 else f"{len(tables)} files"
        return f"{what} ({' | '.join(layouts)})"


OnGuess = Callable[[Guess], None]


def ignore(guess: Guess) -> None:
    """The default: nobody looks."""


def guess_files(
    paths: Sequence[str | Path],
    *,
    columns: Mapping[str, str | None] | None = None,
    kind: str | None = None,
    labels: str | Path | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    only: Sequence[str] = (),
    progress: Progress = silent,
) -> Guess:
    """Read the files and say what they seem to be, without making anything of it."""
    if not paths:
        raise UsageError("No file was given.", "Give at least one file, folder or zip.")
    if kind is not None and kind not in KINDS[:3]:
        raise UsageError(f"--kind cannot be '{kind}'.", f"Use one of: {', '.join(KINDS[:3])}.")
    verdicts = load_map(labels) if labels is not None else general()
    marker = marker_of(paths)
    only = record_files(marker) if marker is not None and not only else only
    gathered = gather(paths, options, only=only, progress=progress)
    if marker is not None:
        gathered.frame = tidy(gathered.frame)
    given = columns or {}
    plan = plan_columns(gathered.frame, with_places(given, gathered, verdicts), verdicts, gathered.literal)
    explain(plan, given)
    _refuse_without_text(plan, gathered)
    return Guess(gathered, plan, verdicts, kind or _kind(plan, gathered), marker)


def import_files(
    paths: Sequence[str | Path],
    *,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    tweet_id: str | None = None,
    date: str | None = None,
    language: str | None = None,
    url: str | None = None,
    author: str | None = None,
    source: str | None = None,
    topic: str | None = None,
    group: str | None = None,
    split: str | None = None,
    kind: str | None = None,
    name: str | None = None,
    labels: str | Path | None = None,
    unmapped: Unmapped = "error",
    day_first: bool | None = None,
    limit: int | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    only: Sequence[str] = (),
    seed: int = 0,
    on_guess: OnGuess = ignore,
    progress: Progress = silent,
) -> tuple[Dataset, ImportReport]:
    """The dataset in `paths` and the report on it. A column is given by name, number from 1, or "none" for none."""
    columns = {
        "text": text, "label": label, "id": id, "tweet_id": tweet_id, "date": date, "language": language, "url": url,
        "author": author, "source": source, "topic": topic, "group": group, "split": split,
    }  # fmt: skip
    found = guess_files(paths, columns=columns, kind=kind, labels=labels, options=options, only=only, progress=progress)
    on_guess(found)
    report = ImportReport(rows_read=found.gathered.frame.height)
    report.read(found.gathered.tables, found.gathered.ignored)
    if found.gathered.differ():
        report.notes.append(f"{found.gathered.layouts()}; what a file lacks is null.")
    progress("making records", 0, None)
    making = _start(found, _slug(name) if name else _name_of(paths[0], found.marker), report, limit)
    making.unmapped, making.day_first = unmapped, day_first
    dataset = Dataset.build(making.name, making.records())
    look_at(dataset.records, report, making.dates, found.plan.column("date"))
    report.languages = languages_of(dataset.records, partial(identify, progress=progress), seed)
    dataset.notes = report.warnings()
    dataset.lineage = [_lineage(found, report, unmapped, day_first, limit, seed)]
    if found.marker is not None:
        inherit(dataset, found.marker)
    return dataset, report


def _start(found: Guess, name: str, report: ImportReport, limit: int | None) -> Making:
    frame = found.gathered.frame
    if limit is not None and frame.height > limit:
        report.left_by_limit = frame.height - limit
        frame = frame.head(limit)
    return Making(frame, found.gathered.literal, found.plan, found.verdicts, name, found.kind, report)


def _refuse_without_text(plan: Plan, gathered: Gathered) -> None:
    column = plan.column("text")
    shown = ", ".join(map(repr, gathered.frame.columns[:20]))
    if column is None and plan.column("tweet_id") is None and plan.column("url") is None:
        raise UsageError(f"No column looks like the text of a record (there are {shown}).", "Name it with --text.")
    if column is not None and gathered.lacking(column):
        raise DataError(
            f"Not every file has a column '{column}'. {gathered.layouts()}.",
            "Import the files of one layout at a time, such as with --only 'PATTERN'.",
        )


def _kind(plan: Plan, gathered: Gathered) -> str:
    column = plan.column("text")
    if column is None:
        return "post"
    if plan.column("tweet_id") is not None or fold_name(column).startswith(("tweet", "tuit", "tuite", "post")):
        return "post"
    texts = gathered.frame[column]
    median = texts.gather_every(max(1, texts.len() // 1_000)).str.len_chars().median()
    return "article" if isinstance(median, int | float) and median >= ARTICLE else "claim"


def _short(words: str, most: int) -> str:
    """One line of at most `most` characters; control characters of a file never reach the terminal."""
    line = "".join(c if c.isprintable() else " " for c in " ".join(words.split()))
    return line if len(line) <= most else line[: most - 1] + "…"


def _name_of(path: str | Path, marker: Marker | None) -> str:
    if marker is not None:
        return marker.dataset.name
    return _slug(Path(path).stem if Path(path).is_file() else Path(path).absolute().name)


def _slug(words: str) -> str:
    """A name that is safe in ids, paths and commands: lower case, digits and hyphens, as in the catalogue."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-") or "imported"


def _lineage(
    found: Guess, report: ImportReport, unmapped: Unmapped, day_first: bool | None, limit: int | None, seed: int
) -> Lineage:
    layouts: list[dict[str, Any]] = []
    for table in found.gathered.tables:
        parameters = table.layout.parameters()
        if parameters not in layouts:
            layouts.append(parameters)
    picks = found.plan.picks
    return Lineage(
        step="import",
        parameters={
            "columns": {role: pick.column for role, pick in sorted(picks.items()) if pick.column is not None},
            "constants": {role: pick.value for role, pick in sorted(picks.items()) if pick.value is not None},
            "kind": found.kind,
            "layouts": layouts,
            "map": f"{found.verdicts.name}@{found.verdicts.version}" if "label" in picks else None,
            "unmapped": unmapped,
            "day_first": day_first,
            "limit": limit,
        },
        seed=seed,
        inputs=found.gathered.inputs,
        counts=report.counts(),
    )
