"""What `claimlab demo` does: the stages of `data/tour.toml`, each a verb on the synthetic dataset
and its clean twin. What they find goes to a page that is told as a story (`tour_page.py`), and to a
section each on the page of details.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from claimlab.audit.result import Audit
from claimlab.audit.run import audit
from claimlab.audit.views.page import Chapter, PageDetail, summary, write_audits
from claimlab.claims.match import match
from claimlab.clean.front import clean
from claimlab.clean.views import stage_blocks
from claimlab.cli.tour_page import DETAILS, FOUND_BY_AUDIT, Story, findings_of
from claimlab.core import packaged, sync
from claimlab.core.dataset import Dataset
from claimlab.core.demo import Truth, clean_twin, fact_checks, planted
from claimlab.core.errors import MissingExtra
from claimlab.core.finding import Finding
from claimlab.core.guard import seal_folder
from claimlab.core.progress import progress
from claimlab.core.registry import Registry
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.detect.run import detect
from claimlab.enrich.analysis import analyse
from claimlab.enrich.extract import rule_extractor
from claimlab.enrich.flow import Doors
from claimlab.enrich.run import enrich_async
from claimlab.enrich.views import blocks as evidence_blocks
from claimlab.evaluate.defend.front import defend
from claimlab.evaluate.defend.page import tables
from claimlab.pages.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Items,
    Report,
    Section,
    Table,
    Text,
    percent,
)
from claimlab.pages.charts import bars, colours_of
from claimlab.pages.folder import Contents, fill
from claimlab.search.local import build_index
from claimlab.search.providers.local import LocalProvider
from claimlab.split.run import split
from claimlab.split.views import toned
from claimlab.study.prepare import Prepared, prepare

if TYPE_CHECKING:
    from claimlab.review.merge import DecisionRow
    from claimlab.review.review import Review

KIND = "demo"
_TABLE = packaged.toml("claimlab.cli", "tour.toml")
RECORD_COLUMNS = ("language", "date", "author", "source", "url", "topic", "group", "split")


@dataclass
class Tour:
    """What the stages made so far."""

    folder: Path
    seed: int
    dataset: Dataset
    twin: Dataset
    truth: Truth
    audit: Audit | None = None
    prepared: Prepared | None = None  # what the advice of an audit makes of it
    alarms: list[Finding] = field(default_factory=list)  # of the clean twin: false ones
    found: dict[str, str] = field(default_factory=dict)  # defect -> where it was found
    sections: list[Section] = field(default_factory=list)
    # What became of the claims that were searched for.
    enriched: JsonObject = field(default_factory=dict)
    # Items, and the verdict on the finding after the review.
    reviewed: JsonObject = field(default_factory=dict)

    def add(self, stage: str, *blocks: Block, **figures: object) -> None:
        """The section of a stage on the page of details: its words with `figures`, and `blocks`."""
        about = _TABLE["stages"][stage]
        self.add_section(about["title"], about["words"].format(**figures), *blocks)

    def add_section(self, title: str, words: str, *blocks: Block) -> None:
        """A section on the page of details."""
        self.sections.append(Section(title, [Text(words), *blocks]))


def _settings(stage: str) -> JsonObject:
    settings: JsonObject = _TABLE["stages"][stage]["settings"]
    return settings


def run(folder: Path, *, seed: int, data_only: bool = False) -> Tour:
    """Write the datasets into `folder`, put them through every stage, and write `index.html`."""
    dataset, truth = planted()
    tour = Tour(folder, seed, dataset, clean_twin(), truth)
    dataset.write(folder / "planted")
    tour.twin.write(folder / "clean-twin")
    write_csv(dataset, folder / "planted.csv")
    if data_only:
        seal_folder(folder, KIND)
        return tour
    stages = [*STAGES, *FURTHER_STAGES.all().values()]
    for number, stage in enumerate(stages):
        progress(
            f"demo: {stage.__name__.removeprefix('run_').replace('_', ' ')}", number, len(stages)
        )
        stage(tour)
    progress("demo: page", len(stages), len(stages))
    data = {
        "demo.json": {
            "found": tour.found,
            "prepared": tour.prepared and tour.prepared.to_json(),
            "enriched": tour.enriched,
            "reviewed": tour.reviewed,
        }
    }
    story = Story(
        len(dataset),
        truth,
        tour.found,
        tour.audit,
        len(tour.alarms),
        tour.sections,
        tour.prepared,
    ).report()
    details = Report("claimlab demo: details", "What each stage of the demo did.", tour.sections)
    fill(Contents(KIND, [story], data=data, more_pages={DETAILS: [details]}), folder)
    return tour


def write_csv(dataset: Dataset, file: Path) -> None:
    """The records as a plain file, as a user might bring one."""
    verdict = pl.col("label_raw").alias("verdict")
    records = dataset.records.select("id", "text", verdict, *RECORD_COLUMNS)
    records.write_csv(file, line_terminator="\r\n", datetime_format="%Y-%m-%d %H:%M:%S")


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
    alt = "Bar chart of records per language and label"
    tour.add("data", Figure(chart, "Records per language and label.", alt))


def run_audit(tour: Tour) -> None:
    """Audit both datasets: the planted one fails where it should, its clean twin nowhere."""
    tour.audit = audit(tour.dataset, seed=tour.seed, debug=True)
    twin = audit(tour.twin, seed=tour.seed, debug=True)
    write_audits([tour.audit], tour.folder / "audit")
    for defect, (check, feature) in FOUND_BY_AUDIT.items():
        if any(f.verdict == "fail" for f in findings_of(tour.audit, check, feature)):
            tour.found[defect] = f"audit: {check}{f' ({feature})' if feature else ''}"
    tour.alarms = [f for f in twin.findings if f.verdict in ("fail", "warn")]
    alarms = f"{len(tour.alarms)} false alarms" if tour.alarms else ""
    blocks = summary(Chapter(twin, 1, alarms_only=True), PageDetail(), linked=False)
    tour.add("audit", *blocks, alarms=alarms or "no fail and no warning, as it should be")


def run_prepare(tour: Tour) -> None:
    """What the audit advises, applied: the findings before and after."""
    tour.prepared = prepare(
        tour.folder / "planted",
        output=tour.folder / "prepared",
        change_test=True,
        seed=tour.seed,
    )
    steps = Items([step.sentence for step in tour.prepared.steps], steps=True)
    tour.add("prepare", steps, tour.prepared.side_by_side(), remains=tour.prepared.remains)


def run_clean(tour: Tour) -> None:
    """Clean both datasets by the default recipe: what was planted leaves with its reason, the twin
    loses nothing.
    """
    cleaned = clean(tour.dataset, seed=tour.seed)
    twin = clean(tour.twin, seed=tour.seed)
    cleaned.dataset.write(tour.folder / "cleaned")
    # the given test part is kept as it is, and its defects are only counted
    tested = set(tour.dataset.records.filter(split="test")["id"])
    for defect, (step, table) in _TABLE["found_by_clean"].items():
        left = cleaned.dataset.tables.get(table)
        ids = set() if left is None else set(left.filter(left["step"] == step)["id"])
        if set(tour.truth.records[defect]) - tested <= ids:
            tour.found[defect] = f"clean: {step}"
    lost = twin.total("dropped") + twin.total("doubtful")
    words = f"{lost} records without a cause" if lost else "nothing, as it should be"
    tour.add("clean", *stage_blocks(cleaned), lost=words)


def run_review(tour: Tour) -> None:
    """Two invented annotators who mostly agree, an adjudicator where they differ; then the audit of
    the result.
    """
    try:
        from claimlab.review.apply import review_apply
        from claimlab.review.create import review_create
        from claimlab.review.estimate import estimate
    except MissingExtra as missing:
        title = _TABLE["stages"]["review"]["title"]
        tour.sections.append(Section(title, [Text(f"Left out. {missing}", "note")]))
        return
    review = review_create(
        tour.folder / "planted",
        tour.folder / "review",
        task="conflict",
        pairs="conflicts",
        seed=tour.seed,
    )
    defect = _settings("review")["defect"]
    rows = _decisions(review, set(tour.truth.records[defect][::2]), **_settings("review"))
    review.merge(rows)
    agreement, total = review.agreement().headline(), review.size
    neither = next(row for row in estimate(review) if row["share"] == "neither")
    reviewed = review_apply(review, tour.folder / "reviewed", tour.folder / "planted")
    review.close()
    after = audit(reviewed, checks=["near-duplicates"], seed=tour.seed)
    final = sum(row.round == "final" for row in rows)
    table = Table(
        ["Near-duplicates under different labels", "Verdict", "Why"],
        [["before the review", *_cells(tour.audit)], ["after it", *_cells(after)]],
    )
    tour.add(
        "review",
        table,
        pairs=several(total, "pair"),
        adjudicated=several(final, "pair"),
        agreement=agreement,
        neither=100 * neither["estimate"],
        removed=several(len(tour.dataset) - len(reviewed), "record"),
    )
    tour.reviewed = {
        "items": total,
        "adjudicated": final,
        "finding": next((f.verdict for f in _conflicts(after)), None),
    }


def _decisions(review: Review, originals: set[str], **people: Any) -> list[DecisionRow]:
    """What the annotators answer, and the adjudicator where they differ."""
    from claimlab.review.merge import DecisionRow

    rows: list[DecisionRow] = []
    for number, (item, about) in enumerate(review.about().items()):
        second = about.other_id in originals and about.record_id not in originals
        better = "second" if second else "first"
        decidable = number % people["undecidable"]
        right, wrong = (better, "neither") if decidable else ("neither", better)
        answers = [wrong if (number + 1) % slip == 0 else right for slip in people["slips"]]
        for annotator, answer in zip(people["annotators"], answers, strict=True):
            at = people["start"] + timedelta(seconds=20 * len(rows))
            rows.append(DecisionRow(item, annotator, answer, seconds=12.0 + number % 5, at=at))
        if answers[0] != answers[1]:
            at = people["start"] + timedelta(hours=3, seconds=30 * number)
            final: JsonObject = {"round": "final", "comment": "Decided after discussion."}
            rows.append(DecisionRow(item, people["adjudicator"], right, at=at, **final))
    return rows


def _conflicts(audit: Audit) -> list[Finding]:
    return findings_of(audit, *FOUND_BY_AUDIT[_settings("review")["defect"]])


def _cells(audit: Audit | None) -> list[Cell]:
    for finding in _conflicts(audit) if audit is not None else []:
        return [Cell(finding.verdict, tone=finding.verdict), Cell(finding.why)]
    return [Cell("not measured", tone="not-measured"), Cell("")]


def run_split(tour: Tour) -> None:
    """Split the planted dataset four ways and lay their leaks side by side; the fairest is kept
    beside the report.
    """
    strategies = _settings("split")["strategies"]
    splits = {strategy: split(tour.dataset, strategy, seed=tour.seed) for strategy in strategies}
    splits["near-duplicates"].dataset.write(tour.folder / "split")
    leaks = {strategy: result.checked.leaks[0] for strategy, result in splits.items()}
    columns: list[Column[str]] = [
        Column("Split by", str),
        Column("Test records", lambda strategy: leaks[strategy].rows),
        Column("Same text in train", lambda strategy: toned(leaks[strategy].exact)),
        Column("Near text in train", lambda strategy: toned(leaks[strategy].near)),
        Column("Same group in train", lambda strategy: toned(leaks[strategy].group)),
    ]
    table = Table.of(columns, leaks)
    tour.add("split", table, random=leaks["random"], fair=leaks["near-duplicates"])


def run_detect(tour: Tour) -> None:
    """What the planted defects are worth to a detector: they make a dataset look easier than it
    is.
    """
    data = Dataset.open(tour.folder / "split")
    runs = {name: detect(data, name, seed=tour.seed) for name in _settings("detect")["detectors"]}
    for name, predictions in runs.items():
        predictions.write(tour.folder / "runs" / name)
    columns: list[Column[str]] = [
        Column("Detector", str),
        Column("Test records", lambda name: runs[name].records.height),
        Column("Accuracy", lambda name: percent(runs[name].report["scores"]["accuracy"])),
        Column("Macro-F1", lambda name: percent(runs[name].report["scores"]["macro_f1"])),
    ]
    tour.add("detect", Table.of(columns, runs, "Scores in %."))


def run_defend(tour: Tour) -> None:
    """What the score of the better detector is made of."""
    defence = defend(
        tour.folder / "runs" / _settings("defend")["detector"],
        data=tour.folder / "split",
        output=tour.folder / "defence",
        seed=tour.seed,
    )
    tour.add("defend", *tables(defence)[:1], in_short=" ".join(defence.in_short()))


def run_enrich(tour: Tour) -> None:
    """Search for evidence in synthetic fact-checks, some of which repeat a claim."""
    claims = _settings("enrich")["claims"]
    some = replace(tour.dataset, records=tour.dataset.records.head(claims), files={})
    checks = fact_checks()
    file = tour.folder / "fact-checks.json"
    text = json.dumps(checks.reviews, ensure_ascii=False, indent=1) + "\n"
    file.write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="claimlab-demo-") as place:
        build_index(file, Path(place) / "index")
        doors = Doors(LocalProvider(Path(place) / "index"), extractor=rule_extractor("offline"))
        enrichment = sync.run(enrich_async(some, doors, progress=progress))
    claim = some.records.filter(id=checks.whole[0])["text"][0]
    best = match(text=claim, archive=file, words=True).table.row(0, named=True)
    ends = dict(enrichment.dataset.tables["enrichment"].select("record_id", "outcome").iter_rows())
    tour.enriched = enrichment.summary
    whole, core = (
        [ends[record] for record in records].count("corresponding")
        for records in (checks.whole, checks.core)
    )
    before = Table(
        ["Checked before?", "Best match", "Verdict", "Link"],
        [[claim, best["text"], best["verdict"], best["url"]]],
        "`claimlab match --text CLAIM --archive fact-checks.json` finds the fact-check of a claim.",
    )
    tour.add(
        "enrich",
        before,
        *evidence_blocks(analyse(enrichment.dataset)),
        reviews=len(checks.reviews),
        claims=claims,
        whole=len(checks.whole),
        whole_found=whole,
        core=len(checks.core),
        core_found=core,
    )


STAGES: list[Callable[[Tour], None]] = [
    show_data,
    run_audit,
    run_prepare,
    run_review,
    run_clean,
    run_split,
    run_detect,
    run_defend,
    run_enrich,
]
# What installed packages add to the demo: functions that take the tour.
FURTHER_STAGES: Registry[Callable[[Tour], None]] = Registry(
    "stage of the demo", group="claimlab.demo"
)
