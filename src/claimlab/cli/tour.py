"""What `claimlab demo` does: the whole job on the synthetic dataset, to a page that presents it as
a story (`cli/story`). Each capability adds a stage, whose section goes to the page of details."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.audit.run import audit
from claimlab.audit.views.page import Chapter, Detail, summary
from claimlab.audit.write import write_audits
from claimlab.clean.front import clean
from claimlab.clean.views import stage_blocks
from claimlab.cli.story import DETAILS, FOUND_BY_AUDIT, Tour, details, findings_of, story
from claimlab.core import sync
from claimlab.core.dataset import Dataset
from claimlab.core.errors import MissingExtra
from claimlab.core.finding import Finding
from claimlab.core.guard import seal_folder
from claimlab.core.progress import Progress, silent
from claimlab.core.words import several
from claimlab.detect.run import detect
from claimlab.enrich.extract import rule_extractor
from claimlab.enrich.flow import Doors
from claimlab.enrich.patterns import analyse
from claimlab.enrich.run import enrich_async
from claimlab.enrich.views import blocks as evidence_blocks
from claimlab.evolve.front import evolve
from claimlab.generate.factchecks import CORE, WHOLE, fact_checks
from claimlab.generate.planted import clean_twin, planted
from claimlab.pages.blocks import Block, Cell, Figure, Section, Table, Text, percent
from claimlab.pages.charts import bars, colours_of, to_svg
from claimlab.pages.folder import Contents, fill
from claimlab.search.local import build_index
from claimlab.search.providers.local import Local
from claimlab.split.run import split
from claimlab.split.views import toned

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


DEFECT, CHECK, FEATURE = (
    "contradicting-near-duplicates",
    "near-duplicates",
    "under different labels",
)
ANNOTATORS, ADJUDICATOR = ("ana (invented)", "ben (invented)"), "ola (invented)"
START = datetime(2026, 1, 5, 9)  # the same in every run
UNDECIDABLE = 3  # of every third pair neither label can be trusted: remove both
SLIPS = (
    12,
    20,
)  # every twelfth answer of the first annotator and every twentieth of the second is wrong


def run_review(tour: Tour) -> None:
    """Two invented annotators who mostly agree, an adjudicator where they differ; then the audit of
    the result.
    """
    try:
        from claimlab.review.apply import review_apply
        from claimlab.review.create import review_create
        from claimlab.review.merge import Row
    except MissingExtra as missing:
        tour.sections.append(Section("The review", [Text(f"Left out. {missing}", "note")]))
        return
    review = review_create(
        tour.folder / "planted",
        tour.folder / "review",
        task="conflict",
        pairs="conflicts",
        seed=tour.seed,
    )
    originals = set(tour.truth.records[DEFECT][::2])
    rows: list[Row] = []
    for number, (item, about) in enumerate(review.about().items()):
        better = (
            "second"
            if about.other_id in originals and about.record_id not in originals
            else "first"
        )
        right, wrong = (better, "neither") if number % UNDECIDABLE else ("neither", better)
        answers = [wrong if (number + 1) % slip == 0 else right for slip in SLIPS]
        for annotator, answer in zip(ANNOTATORS, answers, strict=True):
            at = START + timedelta(seconds=20 * len(rows))
            rows.append(Row(item, annotator, answer, seconds=12.0 + number % 5, at=at))
        if answers[0] != answers[1]:
            at = START + timedelta(hours=3, seconds=30 * number)
            rows.append(
                Row(
                    item,
                    ADJUDICATOR,
                    right,
                    round="final",
                    comment="Decided after discussion.",
                    at=at,
                )
            )
    review.merge(rows)
    agreement, total = review.agreement().headline(), review.size
    reviewed = review_apply(review, tour.folder / "reviewed", tour.folder / "planted")
    review.close()
    before = _finding(tour.audit.findings if tour.audit is not None else [])
    after = _finding(audit(reviewed, checks=[CHECK], seed=tour.seed).findings)
    final = sum(row.round == "final" for row in rows)
    words = (
        f"Two invented annotators decided {several(total, 'pair')} of near-duplicates with"
        " different labels: keep one, or remove both. They mostly agree; where they differ"
        f" ({several(final, 'pair')}), an invented adjudicator decides. Agreement on {agreement}."
        " Applied to the dataset, the review removes"
        f" {several(len(tour.dataset) - len(reviewed), 'record')}, and the check runs again. Open"
        " the review with: claimlab serve."
    )
    table: list[list[Cell | str]] = [
        ["before the review", *_cells(before)],
        ["after it", *_cells(after)],
    ]
    tour.sections.append(
        Section(
            "The review",
            [
                Text(words),
                Table(["Near-duplicates under different labels", "Verdict", "Why"], table),
            ],
        )
    )
    tour.reviewed = {
        "items": total,
        "adjudicated": final,
        "finding": None if after is None else after.verdict,
    }


def _finding(findings: list[Finding]) -> Finding | None:
    return next((f for f in findings if f.check == CHECK and f.feature == FEATURE), None)


def _cells(finding: Finding | None) -> list[Cell]:
    if finding is None:
        return [Cell("not measured", tone="not-measured"), Cell("")]
    return [Cell(finding.verdict, tone=finding.verdict), Cell(finding.why)]


WAYS = ("random", "group", "near-duplicates", "source")


def run_split(tour: Tour) -> None:
    """Split the planted dataset four ways and lay their leaks side by side; the fairest is kept
    beside the report.
    """
    splits = {way: split(tour.dataset, way, seed=tour.seed) for way in WAYS}
    splits["near-duplicates"].dataset.write(tour.folder / "split")
    rows = []
    for way, done in splits.items():
        leak = done.checked.leaks[0]
        rows.append([way, leak.rows, *map(toned, (leak.exact, leak.near, leak.group))])
    naive, fair = (splits[way].checked.leaks[0] for way in ("random", "near-duplicates"))
    sentences = (
        f"At random, {naive.texts} of {naive.rows} test records are also in train, word for word or"
        f" nearly so. Kept together by text and group, {fair.texts} of {fair.rows} do. With whole"
        " sources held out, who published it is new in test."
    )
    columns = [
        "Split by",
        "Test records",
        "Same text in train",
        "Near text in train",
        "Same group in train",
    ]
    tour.sections.append(Section("The split", [Text(sentences), Table(columns, rows)]))


BOTH = ("majority", "tfidf")


def run_detect(tour: Tour) -> None:
    """What the planted defects are worth to a detector: they make a dataset look easier than it
    is.
    """
    split = Dataset.open(tour.folder / "split")
    rows: list[list[Any]] = []
    for name in BOTH:
        run = detect(split, name, seed=tour.seed, progress=tour.progress)
        run.write(tour.folder / "runs" / name)
        scores = run.report["scores"]
        rows.append(
            [name, run.records.height, percent(scores["accuracy"]), percent(scores["macro_f1"])]
        )
    sentence = (
        "Two detectors on the split that keeps near-duplicates together. Shortcuts that are in"
        " every part still help."
    )
    table = Table(["Detector", "Test records", "Accuracy", "Macro-F1"], rows, "Scores in %.")
    tour.sections.append(Section("The detectors", [Text(sentence), table]))


ENRICHED = 240  # claims that evidence is searched for: enough to see every end


def run_enrich(tour: Tour) -> None:
    some = replace(tour.dataset, records=tour.dataset.records.head(ENRICHED), files={})
    reviews, planted_checks = fact_checks(some, seed=tour.seed)
    file = tour.folder / "fact-checks.json"
    file.write_text(json.dumps(reviews, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="claimlab-demo-") as place:
        build_index(file, Path(place) / "index")
        doors = Doors(Local(Path(place) / "index"), extractor=rule_extractor("offline"))
        done = sync.run(enrich_async(some, doors, progress=tour.progress))
    ends = dict(done.dataset.tables["enrichment"].select("record_id", "outcome").iter_rows())
    tour.enriched = done.summary
    hits = {
        kind: sum(ends[i] == "corresponding" for i, k in planted_checks.items() if k == kind)
        for kind in (WHOLE, CORE)
    }
    half = len(planted_checks) // 2
    evidence = evidence_blocks(analyse(done.dataset))
    sentences = (
        f"{len(reviews)} synthetic fact-checks were hidden for {ENRICHED} claims: {half} repeat the"
        f" claim, and {hits[WHOLE]} of them were found; {half} say only its core, and {hits[CORE]}"
        " of them were found, with the help of claims extracted by rule. No network and no model"
        " was used."
    )
    tour.sections.append(Section("Evidence", [Text(sentences), *evidence]))


CLAIMS, STEPS = 24, 10
NETWORKS = ("random", "scale-free", "clustered")
SHOWN = (1, 2, 3, 5, 10)  # steps


def run_evolve(tour: Tour) -> None:
    some = tour.twin.records.filter(pl.col("language") == "eng").head(CLAIMS)
    claims = replace(tour.twin, records=some, files={})
    evolved = {network: _evolved(claims, network, tour) for network in NETWORKS}
    evolved["random"].write(tour.folder / "evolved")
    turns = sum(data.tables["traces"].height for data in evolved.values())
    sentences = (
        f"{some.height} claims of the clean twin were passed on for {STEPS} steps in three"
        f" societies of 90 simulated agents; each of the {turns:,} turns is kept. No model was"
        " asked: the null model makes word noise, whoever the agent is. The figures are the share"
        " in percent of a claim's words, then and now together, that are not in both: what a model"
        " writes has to differ from this."
    )
    rows: list[list[Cell | str]] = [
        [network, *(percent(share) for share in _change(data))] for network, data in evolved.items()
    ]
    blocks: list[Block] = [
        Text(sentences),
        Table(["Network", *(f"step {s}" for s in SHOWN)], rows),
        _example(evolved["random"]),
    ]
    tour.sections.append(Section("Claim evolution", blocks))


def _evolved(claims: Dataset, network: str, tour: Tour) -> Dataset:
    return evolve(claims, network=network, steps=STEPS, seed=tour.seed, progress=tour.progress)


def _change(data: Dataset) -> Sequence[float]:
    """The mean share of words that differ from the start, at the steps that are shown."""
    first: dict[str, set[str]] = {}
    shares: dict[int, list[float]] = {}
    for record, step, before, after in (
        data.tables["traces"].select("record_id", "step", "input", "output").iter_rows()
    ):
        base = first.setdefault(record, set(before.lower().split()))
        words = set(after.lower().split())
        shares.setdefault(step, []).append(1 - len(words & base) / len(words | base))
    return [sum(shares[step]) / len(shares[step]) for step in SHOWN]


def _example(data: Dataset) -> Table:
    first = data.tables["traces"].filter(pl.col("record_id") == data.records["id"][0])
    changes = first.filter(pl.col("input") != pl.col("output")).select("step", "agent", "output")
    rows = [[step, agent, text] for step, agent, text in changes.iter_rows()]
    return Table(
        ["Step", "Agent", "One claim, whenever it changed"], [[0, None, first["input"][0]], *rows]
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
