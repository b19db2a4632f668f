"""What `claimlab demo` does: the whole job on the synthetic dataset, to a page that presents it as
a story. Each capability adds a stage, whose section goes to the page of details."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from claimlab.audit.run import audit
from claimlab.audit.views.page import Chapter, Detail, summary
from claimlab.audit.write import write_audits
from claimlab.clean.front import clean
from claimlab.clean.views import stage_blocks
from claimlab.cli.tour_evidence import run_enrich
from claimlab.cli.tour_evolve import run_evolve
from claimlab.cli.tour_review import run_review
from claimlab.cli.tour_runs import run_detect
from claimlab.cli.tour_split import run_split
from claimlab.cli.tour_state import Tour
from claimlab.cli.tour_story import DETAILS, FOUND_BY_AUDIT, details, findings_of, story
from claimlab.core.dataset import Dataset
from claimlab.core.guard import seal_folder
from claimlab.core.progress import Progress, silent
from claimlab.generate.planted import clean_twin, planted
from claimlab.pages.blocks import Figure, Section, Text
from claimlab.pages.charts import bars, colours_of, to_svg
from claimlab.pages.folder import Contents, fill

KIND = "demo"

# Which step of the default recipe takes out which planted rows, and into which table.
FOUND_BY_CLEAN = {"wrong-language": ("language", "doubtful"), "too-short": ("too-short", "dropped")}


def run(folder: Path, *, seed: int, data_only: bool = False, progress: Progress = silent) -> Tour:
    """Write the datasets into `folder`, put them through every stage, and write `index.html`."""
    dataset, truth = planted(seed=seed)
    tour = Tour(folder, seed, dataset, clean_twin(seed=seed), truth, progress)
    dataset.write(folder / "planted")
    tour.twin.write(folder / "clean-twin")
    write_csv(dataset, folder / "planted.csv")
    if data_only:
        seal_folder(folder, KIND)
        return tour
    for number, stage in enumerate(STAGES):
        progress(
            f"demo: {stage.__name__.removeprefix('run_').replace('_', ' ')}", number, len(STAGES)
        )
        stage(tour)
    progress("demo: page", len(STAGES), len(STAGES))
    data = {
        "demo.json": {"found": tour.found, "enriched": tour.enriched, "reviewed": tour.reviewed}
    }
    fill(Contents(KIND, [story(tour)], data=data, more_pages={DETAILS: [details(tour)]}), folder)
    return tour


def write_csv(dataset: Dataset, file: Path) -> None:
    """The records as a plain file, as a user might bring one."""
    columns = [
        "id",
        "text",
        "label_raw",
        "language",
        "date",
        "author",
        "source",
        "url",
        "topic",
        "group",
        "split",
    ]
    with file.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["label" if c == "label_raw" else c for c in columns])
        writer.writerows(dataset.records.select(columns).iter_rows())


def show_data(tour: Tour) -> None:
    records = tour.dataset.records
    tally = records.group_by("language", "veracity").len().sort("language", "veracity")
    chart = bars(
        tally.to_dicts(),
        category="language",
        value="len",
        colour="veracity",
        colours=colours_of(["true", "false"]),
        title="records",
    )
    tour.sections.append(
        Section(
            "The data",
            [
                Text(
                    "Synthetic claims about invented places in three languages, with defects"
                    " planted on purpose."
                ),
                Figure(
                    to_svg(chart),
                    "Records per language and label.",
                    "Bar chart of records per language and label",
                ),
            ],
        )
    )


def run_audit(tour: Tour) -> None:
    tour.audit = audit(tour.dataset, seed=tour.seed, debug=True, progress=tour.progress)
    tour.twin_audit = audit(tour.twin, seed=tour.seed, debug=True, progress=tour.progress)
    write_audits([tour.audit], tour.folder / "audit")
    for defect, (check, feature) in FOUND_BY_AUDIT.items():
        if any(f.verdict == "fail" for f in findings_of(tour.audit, check, feature)):
            tour.found[defect] = f"audit: {check}{f' ({feature})' if feature else ''}"
    alarms = [f for f in tour.twin_audit.findings if f.verdict in ("fail", "warn")]
    verdict = (
        "no fail and no warning, as it should be" if not alarms else f"{len(alarms)} false alarms"
    )
    tour.sections.append(
        Section(
            "The clean twin",
            [
                Text(f"The same claims without any defect: {verdict}."),
                *summary(Chapter(tour.twin_audit, 1, alarms_only=True), Detail(), linked=False),
            ],
        )
    )


def run_clean(tour: Tour) -> None:
    """Clean both datasets by the default recipe: what was planted leaves with its reason, the twin
    loses nothing.
    """
    tour.cleaned = clean(tour.dataset, seed=tour.seed, progress=tour.progress)
    tour.twin_cleaned = clean(tour.twin, seed=tour.seed, progress=tour.progress)
    tour.cleaned.dataset.write(tour.folder / "cleaned")
    for defect, (step, table) in FOUND_BY_CLEAN.items():
        left = tour.cleaned.dataset.tables.get(table)
        ids = set() if left is None else set(left.filter(left["step"] == step)["id"].to_list())
        if set(tour.truth.records[defect]) <= ids:
            tour.found[defect] = f"clean: {step}"
    lost = tour.twin_cleaned.total("dropped") + tour.twin_cleaned.total("doubtful")
    verdict = (
        "it loses nothing, as it should be"
        if not lost
        else f"it loses {lost} records without a cause"
    )
    tour.sections.append(
        Section(
            "The cleaning",
            [
                Text(f"The clean twin under the same recipe: {verdict}."),
                *stage_blocks(tour.cleaned),
            ],
        )
    )


STAGES: list[Callable[[Tour], None]] = [
    show_data,
    run_audit,
    run_review,
    run_clean,
    run_split,
    run_detect,
    run_enrich,
    run_evolve,
]
