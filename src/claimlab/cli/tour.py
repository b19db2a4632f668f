"""What `claimlab demo` does: the whole job on the synthetic dataset, to a page that presents it as
a story: what was planted, what was found, what to do. Each capability adds a stage, whose section
goes to the page of details.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from claimlab.audit.advice import reason
from claimlab.audit.result import Audit
from claimlab.audit.run import audit
from claimlab.audit.views.page import Chapter, Detail, summary, write_audits
from claimlab.audit.views.wording import in_a_line
from claimlab.claims.match import match
from claimlab.clean.front import clean
from claimlab.clean.views import stage_blocks
from claimlab.core import sync
from claimlab.core.dataset import Dataset
from claimlab.core.errors import MissingExtra
from claimlab.core.finding import Finding
from claimlab.core.guard import seal_folder
from claimlab.core.progress import progress
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.detect.run import detect
from claimlab.enrich.extract import rule_extractor
from claimlab.enrich.flow import Doors
from claimlab.enrich.run import enrich_async
from claimlab.enrich.views import analyse
from claimlab.enrich.views import blocks as evidence_blocks
from claimlab.evaluate.defend.front import defend
from claimlab.evaluate.defend.result import tables
from claimlab.evolve.front import evolve
from claimlab.generate.planted import Truth, clean_twin, fact_checks, planted
from claimlab.pages.blocks import (
    Block,
    Cell,
    Figure,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    percent,
)
from claimlab.pages.blocks import anchor as anchor_of
from claimlab.pages.charts import bars, colours_of
from claimlab.pages.folder import Contents, fill
from claimlab.search.local import build_index
from claimlab.search.providers.local import Local
from claimlab.split.run import split
from claimlab.split.views import toned

if TYPE_CHECKING:
    from claimlab.review.merge import DecisionRow
    from claimlab.review.review import Review

DETAILS = "details.html"
AUDIT = "audit/index.html"
CLEANING = f"{DETAILS}#the-cleaning"

# Which finding of the audit shows which planted defect; the rest are shown by later stages.
FOUND_BY_AUDIT: dict[str, tuple[str, str | None]] = {
    "keyword": ("giveaways", None),
    "time-gap": ("time", "date"),
    "publisher": ("source", None),
    "length-gap": ("length", None),
    "contradicting-near-duplicates": ("near-duplicates", "under different labels"),
    "url-under-both-labels": ("url-conflicts", None),
    "duplicates-across-splits": ("near-duplicates", "across the given split"),
    "infeasible": ("feasibility", None),
}


@dataclass
class Tour:
    """What the stages made so far."""

    folder: Path
    seed: int
    dataset: Dataset
    twin: Dataset
    truth: Truth
    audit: Audit | None = None
    alarms: list[Finding] = field(default_factory=list)  # of the clean twin: false ones
    found: dict[str, str] = field(default_factory=dict)  # defect -> where it was found
    sections: list[Section] = field(default_factory=list)
    # What became of the claims that were searched for.
    enriched: JsonObject = field(default_factory=dict)
    # Items, and the verdict on the finding after the review.
    reviewed: JsonObject = field(default_factory=dict)

    def add(self, title: str, words: str, *blocks: Block) -> None:
        """A section of the page of details."""
        self.sections.append(Section(title, [Text(words), *blocks]))


def findings_of(audit: Audit, check: str, feature: str | None) -> list[Finding]:
    return [f for f in audit.findings if f.check == check and feature in (None, f.feature)]


def story(tour: Tour) -> Report:
    """The page that a newcomer reads: one screen for each question, and links to the rest."""
    alarms, count = len(tour.alarms), len(tour.found)
    tiles = Tiles(
        [
            ("records", f"{tour.dataset.records.height:,}", "plain"),
            ("defects planted", str(len(tour.truth.defects)), "plain"),
            ("found", str(count), "pass" if count == len(tour.truth.defects) else "warn"),
            ("false alarms on the clean twin", str(alarms), "warn" if alarms else "pass"),
        ]
    )
    return Report(
        "claimlab demo",
        "The whole job on a synthetic dataset with planted defects, offline.",
        [tiles, planted_part(tour), found_part(tour), advice_part(tour), more(tour)],
    )


def planted_part(tour: Tour) -> Section:
    sentences = (
        "Claims about invented places in three languages; their labels are random, so nothing"
        f" separates true from false. Then {len(tour.truth.defects)} defects of real datasets were"
        " planted. A detector that scores well here has learned a defect."
    )
    rows: list[list[Any]] = [
        [name, what, len(tour.truth.records.get(name, [])) or "in all records"]
        for name, what in tour.truth.defects.items()
    ]
    return Section(
        "What was planted", [Text(sentences), Table(["Defect", "What it is", "Records"], rows)]
    )


def found_part(tour: Tour) -> Section:
    """Each defect with what found it and the figure that shows it."""
    rows: list[list[Cell | str]] = []
    for name in tour.truth.defects:
        finder = tour.found.get(name)
        where = (
            Cell(finder, tone="pass", link=AUDIT if finder.startswith("audit") else CLEANING)
            if finder
            else Cell("not yet", tone="not-measured")
        )
        rows.append([name, where, *_evidence(tour, name)])
    sentences = (
        f"{len(tour.found)} of {several(len(tour.truth.defects), 'planted defect')} found. A score"
        " is what one feature alone reaches; 50 is chance."
    )
    columns = ["Defect", "Found by", "Macro-F1", "95% interval", "In short"]
    blocks: list[Block] = [Text(sentences, "conclusion"), Table(columns, rows)]
    return Section("What was found", blocks)


def _evidence(tour: Tour, name: str) -> list[str]:
    """Score, interval and a few words."""
    if name in FOUND_BY_AUDIT and tour.audit is not None:
        failed = [f for f in findings_of(tour.audit, *FOUND_BY_AUDIT[name]) if f.verdict == "fail"]
        if failed:
            first = failed[0]
            low, high = first.interval or (0.0, 0.0)
            figure = f"{100 * (first.score or 0):.1f}"
            if first.score is None:
                return ["", "", reason(first)]
            if first.baselines.best() is None:
                return ["", "", f"only {figure}% {reason(first)}"]
            return [figure, f"{100 * low:.1f} to {100 * high:.1f}", reason(first)]
    records = len(tour.truth.records.get(name, []))
    return ["", "", f"{several(records, 'record')} set aside" if name in tour.found else ""]


def advice_part(tour: Tour) -> Section:
    """The audit's advice, as commands."""
    look = Text(
        "Look at the data, the findings and the predictions in your browser; run this in the"
        " demo's folder:"
    )
    blocks: list[Block] = [look, Items(["`claimlab serve . --open`"])]
    if tour.audit is not None:
        done = tour.audit.concluded()
        text = Text(done.text[:1].upper() + done.text[1:], "conclusion")
        blocks = [text, Items([in_a_line(advice) for advice in done.advice], steps=True), *blocks]
    return Section("What to do", blocks)


def more(tour: Tour) -> Section:
    """Every stage in a sentence, with a link to its details."""
    rows: list[list[Any]] = [
        [Cell("The audit", link=AUDIT), "Every check with its figures, charts and records."]
    ]
    for section in tour.sections:
        first = next((b.text for b in section.blocks if isinstance(b, Text)), "")
        rows.append([Cell(section.title, link=f"{DETAILS}#{anchor_of(section)}"), first])
    return Section("Look closer", [Table(["Stage", "In short"], rows, sortable=False)])


KIND = "demo"

# Which step of the default recipe takes out which planted rows, and into which table.
FOUND_BY_CLEAN = {"wrong-language": ("language", "doubtful"), "too-short": ("too-short", "dropped")}


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
    for number, stage in enumerate(STAGES):
        progress(
            f"demo: {stage.__name__.removeprefix('run_').replace('_', ' ')}", number, len(STAGES)
        )
        stage(tour)
    progress("demo: page", len(STAGES), len(STAGES))
    data = {
        "demo.json": {"found": tour.found, "enriched": tour.enriched, "reviewed": tour.reviewed}
    }
    details = Report("claimlab demo: details", "What each stage of the demo did.", tour.sections)
    fill(Contents(KIND, [story(tour)], data=data, more_pages={DETAILS: [details]}), folder)
    return tour


def write_csv(dataset: Dataset, file: Path) -> None:
    """The records as a plain file, as a user might bring one."""
    columns = ("language", "date", "author", "source", "url", "topic", "group", "split")
    records = dataset.records.select("id", "text", pl.col("label_raw").alias("label"), *columns)
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
    figure = Figure(
        chart,
        "Records per language and label.",
        "Bar chart of records per language and label",
    )
    words = (
        "Synthetic claims about invented places in three languages, with defects planted on"
        " purpose."
    )
    tour.add("The data", words, figure)


def run_audit(tour: Tour) -> None:
    tour.audit = audit(tour.dataset, seed=tour.seed, debug=True)
    twin = audit(tour.twin, seed=tour.seed, debug=True)
    write_audits([tour.audit], tour.folder / "audit")
    for defect, (check, feature) in FOUND_BY_AUDIT.items():
        if any(f.verdict == "fail" for f in findings_of(tour.audit, check, feature)):
            tour.found[defect] = f"audit: {check}{f' ({feature})' if feature else ''}"
    tour.alarms = [f for f in twin.findings if f.verdict in ("fail", "warn")]
    alarms = f"{len(tour.alarms)} false alarms" if tour.alarms else ""
    tour.add(
        "The clean twin",
        "The same claims without any defect:"
        f" {alarms or 'no fail and no warning, as it should be'}.",
        *summary(Chapter(twin, 1, alarms_only=True), Detail(), linked=False),
    )


def run_clean(tour: Tour) -> None:
    """Clean both datasets by the default recipe: what was planted leaves with its reason, the twin
    loses nothing.
    """
    cleaned = clean(tour.dataset, seed=tour.seed)
    twin = clean(tour.twin, seed=tour.seed)
    cleaned.dataset.write(tour.folder / "cleaned")
    for defect, (step, table) in FOUND_BY_CLEAN.items():
        left = cleaned.dataset.tables.get(table)
        ids = set() if left is None else set(left.filter(left["step"] == step)["id"])
        if set(tour.truth.records[defect]) <= ids:
            tour.found[defect] = f"clean: {step}"
    lost = twin.total("dropped") + twin.total("doubtful")
    tour.add(
        "The cleaning",
        "The clean twin under the same recipe: it loses"
        f" {f'{lost} records without a cause' if lost else 'nothing, as it should be'}.",
        *stage_blocks(cleaned),
    )


DEFECT = "contradicting-near-duplicates"

ANNOTATORS, ADJUDICATOR = ("ana (invented)", "ben (invented)"), "ola (invented)"
START = datetime(2026, 1, 5, 9)  # the same in every run
UNDECIDABLE = 3  # of every third pair neither label can be trusted: remove both
# Every twelfth answer of the first annotator and every twentieth of the second is wrong.
SLIPS = (12, 20)


def run_review(tour: Tour) -> None:
    """Two invented annotators who mostly agree, an adjudicator where they differ; then the audit of
    the result.
    """
    try:
        from claimlab.review.apply import review_apply
        from claimlab.review.create import review_create
        from claimlab.review.estimate import estimate
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
    rows = _decisions(review, set(tour.truth.records[DEFECT][::2]))
    review.merge(rows)
    agreement, total = review.agreement().headline(), review.size
    neither = next(row for row in estimate(review) if row["share"] == "neither")
    reviewed = review_apply(review, tour.folder / "reviewed", tour.folder / "planted")
    review.close()
    after = audit(reviewed, checks=["near-duplicates"], seed=tour.seed)
    final = sum(row.round == "final" for row in rows)
    words = (
        f"Two invented annotators decided {several(total, 'pair')} of near-duplicates with"
        " different labels: keep one, or remove both. They mostly agree; where they differ"
        f" ({several(final, 'pair')}), an invented adjudicator decides. Agreement on {agreement}."
        f" By `review estimate`, {100 * neither['estimate']:.0f}% of all such pairs have no label"
        " to trust. Applied to the dataset, the review removes"
        f" {several(len(tour.dataset) - len(reviewed), 'record')}, and the check runs again. Open"
        " the review with: claimlab serve."
    )
    table: list[list[Cell | str]] = [
        ["before the review", *_cells(tour.audit)],
        ["after it", *_cells(after)],
    ]
    heads = ["Near-duplicates under different labels", "Verdict", "Why"]
    tour.add("The review", words, Table(heads, table))
    tour.reviewed = {
        "items": total,
        "adjudicated": final,
        "finding": next((f.verdict for f in _conflicts(after)), None),
    }


def _decisions(review: Review, originals: set[str]) -> list[DecisionRow]:
    """What the annotators answer, and the adjudicator where they differ."""
    from claimlab.review.merge import DecisionRow

    rows: list[DecisionRow] = []
    for number, (item, about) in enumerate(review.about().items()):
        second = about.other_id in originals and about.record_id not in originals
        better = "second" if second else "first"
        right, wrong = (better, "neither") if number % UNDECIDABLE else ("neither", better)
        answers = [wrong if (number + 1) % slip == 0 else right for slip in SLIPS]
        for annotator, answer in zip(ANNOTATORS, answers, strict=True):
            at = START + timedelta(seconds=20 * len(rows))
            rows.append(DecisionRow(item, annotator, answer, seconds=12.0 + number % 5, at=at))
        if answers[0] != answers[1]:
            at = START + timedelta(hours=3, seconds=30 * number)
            comment = "Decided after discussion."
            rows.append(
                DecisionRow(item, ADJUDICATOR, right, round="final", comment=comment, at=at)
            )
    return rows


def _conflicts(audit: Audit) -> list[Finding]:
    return findings_of(audit, *FOUND_BY_AUDIT[DEFECT])


def _cells(audit: Audit | None) -> list[Cell]:
    for finding in _conflicts(audit) if audit is not None else []:
        return [Cell(finding.verdict, tone=finding.verdict), Cell(finding.why)]
    return [Cell("not measured", tone="not-measured"), Cell("")]


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
    tour.add("The split", sentences, Table(columns, rows))


BOTH = ("majority", "tfidf")


def run_detect(tour: Tour) -> None:
    """What the planted defects are worth to a detector: they make a dataset look easier than it
    is.
    """
    split = Dataset.open(tour.folder / "split")
    rows: list[list[Any]] = []
    for name in BOTH:
        run = detect(split, name, seed=tour.seed)
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
    tour.add("The detectors", sentence, table)


def run_defend(tour: Tour) -> None:
    """What the score of the better detector is made of."""
    defence = defend(
        tour.folder / "runs" / BOTH[-1],
        data=tour.folder / "split",
        output=tour.folder / "defence",
        seed=tour.seed,
    )
    tour.add("What the score is made of", " ".join(defence.in_short()), *tables(defence)[:1])


ENRICHED = 240  # claims that evidence is searched for: enough to see every end


def run_enrich(tour: Tour) -> None:
    some = replace(tour.dataset, records=tour.dataset.records.head(ENRICHED), files={})
    checks = fact_checks()
    file = tour.folder / "fact-checks.json"
    text = json.dumps(checks.reviews, ensure_ascii=False, indent=1) + "\n"
    file.write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="claimlab-demo-") as place:
        build_index(file, Path(place) / "index")
        doors = Doors(Local(Path(place) / "index"), extractor=rule_extractor("offline"))
        done = sync.run(enrich_async(some, doors, progress=progress))
    claim = some.records.filter(id=checks.whole[0])["text"][0]
    best = match(text=claim, archive=file, words=True).table.row(0, named=True)
    ends = dict(done.dataset.tables["enrichment"].select("record_id", "outcome").iter_rows())
    tour.enriched = done.summary
    whole, core = (
        [ends[record] for record in records].count("corresponding")
        for records in (checks.whole, checks.core)
    )
    evidence = evidence_blocks(analyse(done.dataset))
    sentences = (
        f"{len(checks.reviews)} synthetic fact-checks were hidden for {ENRICHED} claims:"
        f" {len(checks.whole)} repeat the claim, and {whole} of them were found; {len(checks.core)}"
        f" say only its core, and {core} of them were found, with the help of claims extracted by"
        " rule. No network and no model was used."
    )
    before = Table(
        ["Checked before?", "Best match", "Verdict", "Link"],
        [[claim, best["text"], best["verdict"], best["url"]]],
        "`claimlab match --text CLAIM --archive fact-checks.json` finds the fact-check of a claim.",
    )
    tour.add("Evidence", sentences, before, *evidence)


CLAIMS, STEPS = 24, 10
NETWORKS = ("random", "scale-free", "clustered")
SHOWN = (1, 2, 3, 5, 10)  # steps


def run_evolve(tour: Tour) -> None:
    some = tour.twin.records.filter(language="eng").head(CLAIMS)
    claims = replace(tour.twin, records=some, files={})
    evolved: dict[str, Dataset] = {
        network: evolve(claims, network=network, steps=STEPS, seed=tour.seed)
        for network in NETWORKS
    }
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
    table = Table(["Network", *(f"step {s}" for s in SHOWN)], rows)
    tour.add("Claim evolution", sentences, table, _example(evolved["random"]))


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
    first = data.tables["traces"].filter(record_id=data.records["id"][0])
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
    run_defend,
    run_enrich,
    run_evolve,
]
