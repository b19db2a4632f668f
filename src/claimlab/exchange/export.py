"""Hand a dataset to other tools: `export(dataset, "csv", "out")`, and back with `read_export("out")`.

The folder appears in one step or not at all. Equal datasets give equal bytes. What a format cannot say is counted and
told, never made up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from claimlab.core.atomic import atomic_folder, recover
from claimlab.core.dataset import RECORDS, Dataset, Lineage
from claimlab.core.errors import OutputExists, SchemaError, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.exchange.format import FORMATS, Format, Lossless, Settings
from claimlab.exchange.marker import FILE, Marker, read_marker, write_marker
from claimlab.exchange.synthetic import require_labels


@dataclass(frozen=True)
class Exported:
    """What was written: counts, also of what was left out; sha256 per file; the lineage with the export last."""

    output: Path
    counts: dict[str, Any]
    files: dict[str, str]
    lineage: list[Lineage]
    notes: list[str] = field(default_factory=list)
    headline: str = ""  # the counts that matter most in this format, in words

    def to_json(self) -> dict[str, Any]:
        return {
            "output": str(self.output),
            "counts": self.counts,
            "files": self.files,
            "lineage": [step.model_dump() for step in self.lineage],
            "notes": self.notes,
        }


def export(
    dataset: Dataset,
    to: str,
    output: str | Path,
    *,
    settings: Settings | None = None,
    limit: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Exported:
    """Write `dataset` as the folder `output` in the format named `to`; `force` replaces an earlier export."""
    target, chosen = Path(output), settings or Settings()
    form = FORMATS.get(to)
    _refuse_settings(form, chosen)
    refuse_taken(target, force)
    subject = dataset.limited(limit)
    require_labels(subject)
    with atomic_folder(target) as building:
        written = form.write(subject, building, chosen, progress)
        manifest = subject.manifest()
        counts = {**manifest.counts, **written.counts}
        step = Lineage(
            step="export",
            parameters={"to": form.name, "limit": limit, **chosen.chosen()},
            inputs={RECORDS: dataset.digest()},
            counts={k: v for k, v in counts.items() if isinstance(v, int)},
        )
        manifest.files = {}  # those of the folder it came from; here other files stand
        marker = Marker(format=form.name, dataset=manifest, export=step, facts=written.facts)
        files = write_marker(building, marker).files
    return Exported(target, counts, files, [*dataset.lineage, step], written.notes, _headline(counts, written.counts))


def read_export(folder: str | Path) -> Dataset:
    """The dataset back from a folder that `export` wrote, for the formats that lose nothing."""
    place = Path(folder)
    name = read_marker(place).format
    form = FORMATS.get(name)
    if not isinstance(form, Lossless):
        raise UsageError(
            f"'{place}' is a {name} export, which does not hold the whole dataset.",
            "Export to hf, croissant, csv or jsonl to be able to read it back.",
        )
    return form.read(place)


def refuse_taken(target: Path, force: bool) -> None:
    """Raise before any work is done if `target` is taken; `force` only ever replaces an earlier export."""
    recover(target)
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not force:
        raise OutputExists(target)
    if not (target / FILE).is_file():
        raise SchemaError(
            f"'{target}' holds something other than an export of claimlab.",
            "Choose another folder; --force will not remove it.",
        )


def _headline(counts: dict[str, Any], own: dict[str, Any]) -> str:
    shown = {"records": counts["records"], **{k: v for k, v in own.items() if isinstance(v, int)}}
    return ", ".join(f"{n:,} {what.replace('_', ' ')}" for what, n in shown.items())


def _refuse_settings(form: Format, settings: Settings) -> None:
    wrong = sorted(set(settings.chosen()) - form.accepts)
    if wrong:
        raise UsageError(f"The format '{form.name}' has no option --{wrong[0]}.", "Leave the option out.")
