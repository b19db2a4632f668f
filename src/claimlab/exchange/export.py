"""Hand a dataset to other tools: `export(dataset, "csv", "out")`, and back with
`read_export("out")`.

The folder appears in one step or not at all. Equal datasets give equal bytes. What a format cannot
say is counted and told, never made up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Unpack

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import RECORDS, Dataset, Lineage
from claimlab.core.digest import digest_file
from claimlab.core.errors import UsageError, either
from claimlab.core.guard import EXPORT
from claimlab.core.options import (
    OUTPUT,
    Argument,
    DataOptions,
    Force,
    Limit,
    Option,
    Place,
    Setting,
)
from claimlab.core.progress import progress
from claimlab.core.run import Run, Source
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.exchange.format import (
    FORMATS,
    Format,
    FormatSettings,
    Lossless,
    Marker,
    Written,
    read_marker,
    write_marker,
)
from claimlab.exchange.synthetic import require_labels


@dataclass(frozen=True, repr=False)
class Exported(Shown):
    """What was written: counts, also of what was left out; sha256 per file; the lineage with the
    export last.
    """

    output: Path
    counts: JsonObject
    files: dict[str, str]
    lineage: list[Lineage]
    notes: list[str] = field(default_factory=list)
    summary: str = ""  # the counts that matter most in this format, in words
    then: str = Format.then  # what to do with the folder, {}

    @property
    def table(self) -> pl.DataFrame:
        """The files with their sha256."""
        return pl.DataFrame({"file": list(self.files), "sha256": list(self.files.values())})

    def headline(self) -> str:
        return f"to '{self.output.name}': {self.summary}"

    def to_json(self) -> JsonObject:
        return {
            "output": str(self.output),
            "counts": self.counts,
            "files": self.files,
            "lineage": [step.model_dump() for step in self.lineage],
            "notes": self.notes,
        }


@repeatable()
def export(  # noqa: PLR0913
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    to: Annotated[
        str,
        Option("A format; see: claimlab export --formats", complete="formats"),
    ],
    output: Annotated[Place, OUTPUT],
    *,
    bom: Annotated[
        bool, Setting("Start CSV files with a mark by which Excel knows UTF-8.")
    ] = False,
    task: Annotated[
        str | None, Setting("What inspect and lm-eval ask: a task or any column.")
    ] = None,
    split: Annotated[
        str | None,
        Setting("The split they ask about; 'test' where there is one, by default."),
    ] = None,
    audit: Annotated[
        Place | None,
        Setting("A saved audit of the dataset: hf and croissant list what it found."),
    ] = None,
    rai: Annotated[
        Place | None,
        Setting("A TOML file with the Responsible-AI fields of Croissant that only authors know."),
    ] = None,
    limit: Limit = None,
    force: Force = False,
    **columns: Unpack[DataOptions],
) -> Exported:
    """Export a dataset in the format that another tool reads."""
    form = FORMATS.get(to)
    settings = FormatSettings(
        bom, task, None if audit is None else str(audit), split, None if rai is None else str(rai)
    )
    if wrong := sorted(set(settings.chosen()) - form.accepts):
        raise UsageError(f"The format '{form.name}' does not take `{wrong[0]}`.", "Leave it out.")
    exported: list[Exported] = []

    def write(building: Path) -> None:
        require_labels(run.dataset)
        written = form.write(run.dataset, building, settings, progress)
        exported.append(_mark(run.dataset, form, settings, written, building, Path(output)))

    with Run("export", data, output, kind=EXPORT, limit=limit, force=force, **columns) as run:
        run.fill(write)
    return exported[0]


def _mark(
    dataset: Dataset,
    form: Format,
    settings: FormatSettings,
    written: Written,
    building: Path,
    output: Path,
) -> Exported:
    """Write the marker of the export; returns its content."""
    manifest = dataset.manifest()
    counts = {**manifest.counts, **written.counts}
    chosen = settings.chosen()
    sources = {name: chosen.pop(name) for name in ("audit", "rai") if name in chosen}
    step = Lineage(
        step="export",
        parameters={"to": form.name, **chosen},
        inputs={
            RECORDS: dataset.digest(),
            **{name: _digest(file) for name, file in sources.items()},
        },
        counts=_numbers(counts),
    )
    manifest.files = {}  # those of the folder it came from; here are other files
    marker = write_marker(
        building, Marker(format=form.name, dataset=manifest, export=step, facts=written.facts)
    )
    amounts = {"records": counts["records"], **_numbers(written.counts)}
    return Exported(
        output,
        counts,
        marker.files,
        [*dataset.lineage, step],
        written.notes,
        ", ".join(f"{n:,} {what.replace('_', ' ')}" for what, n in amounts.items()),
        getattr(form, "then", Format.then),
    )


def _numbers(counts: JsonObject) -> dict[str, int]:
    return {what: n for what, n in counts.items() if isinstance(n, int)}


def _digest(file: str) -> str:
    place = Path(file)
    return digest_file(place / "audit.json" if place.is_dir() else place)


def read_export(folder: str | Path) -> Dataset:
    """The dataset back from a folder that `export` wrote, for the formats that lose nothing."""
    place = Path(folder)
    marker = read_marker(place)
    form = FORMATS.get(marker.format)
    if not isinstance(form, Lossless):
        raise UsageError(
            f"'{place}' is a {marker.format} export, which does not hold the whole dataset.",
            f"Export to {either(_lossless())} to be able to read it back.",
        )
    return form.read(place, marker)


def _lossless() -> list[str]:
    return [name for name, form in FORMATS.all().items() if isinstance(form, Lossless)]
