"""The EQA report: formulation, quality assessment, assurance limits. `eqa.json` holds everything,
`index.html` and `report.md` are views of it.

The checklist of a venue: what the folders of a study answer, and what is left to the authors.

An answer is made of what a folder holds and nothing else. A question that nothing answers is open:
it is never a yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from claimlab.audit.views.page import Chapter, Detail, summary
from claimlab.audit.views.tables import matrix
from claimlab.audit.views.wording import headline, protocol_sections
from claimlab.claims.contamination.views import conclusion as conclusion_of
from claimlab.core import packaged
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.options import Argument, Force, Option, OptionalFolder, Place
from claimlab.core.plain import slug
from claimlab.core.run import Run
from claimlab.core.settings import one_of
from claimlab.core.shown import Shown, date_range, tally
from claimlab.core.trust import require
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several, verb
from claimlab.evaluate.defend.result import stacked
from claimlab.evaluate.eqa.evidence import (
    SHIFTS,
    Evidence,
    ExaminedRun,
    ShiftResult,
    gather,
    is_generative,
)
from claimlab.evaluate.eqa.limits import KINDS, Limit, limits
from claimlab.evaluate.eqa.study import QUESTIONS, is_empty, needs_of, read_study
from claimlab.evaluate.views import Size as Detailed
from claimlab.evaluate.views import conclusions, run_blocks, together
from claimlab.exchange.about import about, responsible
from claimlab.pages.blocks import (
    Block,
    Blocks,
    Cell,
    Column,
    Columns,
    Fold,
    Items,
    Quote,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    Tone,
    Value,
    excerpt,
    percent,
    short,
)
from claimlab.pages.folder import Contents, fill

_LISTS = packaged.toml("claimlab.evaluate.eqa", "checklists.toml")


def venue_checklist(venue: str, evidence: Evidence, gaps: Sequence[str]) -> JsonObject:
    """The questions of a venue; `answer` is null where only the authors can give it."""
    chosen = _LISTS[one_of(list(_LISTS), venue, "checklist")]
    each: dict[str, list[str]] = {}
    for dataset in evidence.datasets:
        for fact, words in _about(dataset).items():
            each.setdefault(fact, []).extend([f"{dataset.name}: {words}"] if words else [])
    facts = {fact: " ".join(lines) for fact, lines in each.items()}
    facts |= _of_runs(evidence, gaps)
    rows = [
        {"question": one["question"], "answer": facts.get(one.get("fact", "")) or None}
        for one in chosen["questions"]
    ]
    return {"venue": venue, "title": chosen["title"], "questions": rows}


def checklist_section(content: JsonObject) -> Section:
    rows = [(one["question"], one["answer"] or "open") for one in content["questions"]]
    n = sum(answer == "open" for _, answer in rows)
    blocks: Blocks = [
        Text(
            f"{several(n, 'question')} of {len(rows)} can only be answered by the authors: open."
            " The others are answered from the folders; check them before you submit."
        ),
        Table(("Question", "Answer"), rows),
    ]
    return Section(f"Checklist: {content['title']}", blocks)


def _about(dataset: Dataset) -> dict[str, str]:
    known = about(dataset)
    card, fields = known.card, responsible(dataset, known)
    steps = [step.parameters.get("guideline") for step in reversed(dataset.lineage)]
    guidelines = [one for one in steps if one]  # of reviews that were applied, the latest first
    counts = dataset.manifest().counts

    def tallies(*columns: str) -> list[str]:
        return [f"{name} {tally(counts[name])}" for name in columns if name in counts]

    labels, covered = tallies("veracity", "split"), tallies("language", "kind")
    covered.append(" to ".join(date_range(dataset.records)))
    return {
        "licence": f"{known.licence or 'none stated'}.",
        "sources": "" if card is None else card.citation,
        "statistics": f"{several(len(dataset), 'record')}; {'; '.join(labels)}.",
        "coverage": f"{'; '.join(filter(None, covered))}.",
        "personal": " ".join(fields.get("rai:personalSensitiveInformation", [])),
        "access": "" if card is None else f"{card.access} {card.homepage or ''}".strip(),
        "instructions": str(guidelines[0]) if guidelines else "",
        "agreement": " ".join(fields.get("rai:dataAnnotationAnalysis", [])),
    }


def _of_runs(evidence: Evidence, gaps: Sequence[str]) -> dict[str, str]:
    runs = evidence.runs
    seeds = sorted({run.about.seed for run in runs if run.about.seed is not None})
    settings = [
        f"{run.name}: {run.about.detector}, split {run.about.division or 'as published'}."
        for run in runs
        if run.about.detector is not None
    ]
    models = [f"{run.name} asks a language model." for run in runs if is_generative(run)]
    repeats = f", {several(len(seeds), 'seed')}" if seeds else "; no seed is recorded"
    spread = f"Every score has a 95% interval over groups of records{repeats}." if runs else ""
    return {
        "limits": " ".join(gaps[:5]),
        "seeds": ", ".join(map(str, seeds)),
        "settings": " ".join(settings),
        "spread": spread,
        "models": " ".join(models),
        "software": f"claimlab {__version__}.",
    }


@dataclass(frozen=True)
class Size:
    """How many examples and charts the page has; eqa.json always has all examples."""

    text: int = 600
    figures: bool = True
    examples: bool = True


LOWER_BOUND = (
    "This system writes its answers, so read its scores as a lower bound: an answer whose label"
    " differs from the truth counts as wrong even where its rationale is sound. Do not compare them"
    " by themselves with those of a system that only gives labels."
)
HOW_TO_JUDGE = (
    "Run it in the folder of the EQA file with the name of an annotator, decide in the browser"
    " (claimlab serve), add the folder of the review to this run in the EQA file (review = ...),"
    " and write the report again."
)
SIZES = (Size(), Size(text=200), Size(text=200, figures=False), Size(examples=False, figures=False))


def eqa_report(
    evidence: Evidence,
    gaps: Sequence[Limit],
    parts: Sequence[Chapter],
    size: Size,
    more: Sequence[Block] = (),
) -> Report:
    tiles: list[tuple[str, str, Tone]] = [
        ("datasets", str(len(evidence.datasets)), "plain"),
        ("audits", str(len(parts)), "plain" if parts else "warn"),
        ("runs", str(len(evidence.runs)), "plain" if evidence.runs else "warn"),
        ("limitations", str(len(gaps)), "plain"),
    ]
    if evidence.scope:
        failed = sum(result.outcome == "not-tested" for result in evidence.scope)
        tone: Tone = "fail" if failed else "plain"
        tiles.insert(3, ("shifts in scope, not tested", str(failed), tone))
    broken = [gap.sentence for gap in gaps if gap.kind == "shift"]
    warning: Blocks = [Text("Failed: a test of a shift in scope is missing.", "warning")]
    blocks: Blocks = [
        Text("In short", "conclusion"),
        Items(in_short(evidence, gaps, parts)),
        *([*warning, Items(broken)] if broken else []),
        Tiles(tiles),
        formulation(evidence),
        quality(evidence, parts, size),
        assurance(gaps),
        *more,
    ]
    audits = [p.audit for p in parts]
    if audits:
        blocks.append(protocol_sections(audits))
    subtitle = (
        "Evaluation quality assurance: what it is meant to prove, what was checked, and what was"
        " not."
    )
    return Report(excerpt(evidence.study.title, 120), subtitle, blocks)


def in_short(evidence: Evidence, gaps: Sequence[Limit], parts: Sequence[Chapter]) -> list[str]:
    """The conclusions of the runs and of the audits, and how much was not checked."""
    known = evidence.evaluation
    scores = ["No run was evaluated."] if known is None else conclusions(known)
    bounds = [
        f"{excerpt(run.name, 80)} writes its answers: read its scores as a lower bound."
        for run in evidence.runs
        if is_generative(run)
    ]
    audits = [
        f"Audit of '{excerpt(p.audit.dataset, 60)}': {p.audit.conclusion.text}" for p in parts
    ]
    strays = len(evidence.strays)
    none = "No audit was given."
    if strays:
        unused = f"{several(strays, 'audit')} {verb(strays, 'was', 'were')} given and not used"
        none = f"{unused}: made on other records than these datasets."
    promised = [result for result in evidence.scope if result.scope == "in scope"]
    failed = [result.shift for result in promised if result.outcome == "not-tested"]
    limits = several(len(gaps), "limitation")
    return [
        *scores,
        *([f"In scope and NOT tested: {', '.join(failed)}."] if failed else []),
        *(f"In scope: {result.sentence()}" for result in promised if result.outcome == "tested"),
        *bounds,
        *(audits or [none]),
        *(
            f"Contamination of '{excerpt(r.dataset, 60)}': {conclusion_of(r)}"
            for r in evidence.contamination
        ),
        f"{limits} of this evaluation {verb(len(gaps))} listed below.",
    ]


def formulation(evidence: Evidence) -> Section:
    answers = evidence.study.formulation.model_dump()
    blocks: Blocks = [Text("In the author's words.", "note")]
    for name, question in QUESTIONS.items():
        if not is_empty(answers[name]):
            blocks.append(
                Section(question, [Quote(answers[name].strip())], anchor=f"formulation-{name}")
            )
    if evidence.scope:
        note = (
            "Whether a run tests a shift is read from the split of its records, not from the"
            " author's answers."
        )
        shown: Blocks = [Text(note, "note"), scope_table(evidence.scope)]
        blocks.append(Section("Shifts in scope, and what tests them", shown, anchor="shifts"))
    return Section("1. Formulation and intended generalisation", blocks, anchor="formulation")


def quality(evidence: Evidence, parts: Sequence[Chapter], size: Size) -> Section:
    blocks: Blocks = [Section("The data", [Table.of(DATASET, evidence.datasets)], anchor="data")]
    audits = [p.audit for p in parts]
    if audits:
        links = {(i, ""): f"#audit-{i + 1}" for i in range(len(audits))}
        blocks.append(matrix(audits, links))
    detail = Detail(figures="all" if size.figures else "none")
    for i, part in enumerate(parts):
        title = f"Audit of {excerpt(part.audit.dataset, 60)}, protocol {part.audit.protocol}"
        blocks.append(
            Section(
                title,
                [Text(headline(part.audit)), *summary(part, detail, linked=False)],
                anchor=f"audit-{i + 1}",
            )
        )
    if evidence.evaluation is not None:
        blocks += together(evidence.evaluation, Detailed(figures=size.figures), linked=False)
    blocks += [run_section(run, i, size) for i, run in enumerate(evidence.runs)]
    blocks += [_defended(one) for one in evidence.defences]
    notes = evidence.study.inspection.notes
    if evidence.runs and not is_empty(notes):
        blocks.append(
            Section(
                "What the author saw in the examples", [Quote(notes.strip())], anchor="inspection"
            )
        )
    return Section("2. Quality assessment", blocks, anchor="quality")


def _defended(known: JsonObject) -> Section:
    """What a score is made of, as `defend` found it: the paragraph, the figure and the row."""
    row = {name: one for name, one in known["row"].items() if one is not None}
    heads = [name.replace("_", " ") for name in row]
    cells = [percent(one) if isinstance(one, float) else one for one in row.values()]
    drawn = known["run"], known["accuracy"], known["ceiling"], known["parts"]
    blocks: Blocks = [
        Text(known["paragraph"]),
        *(stacked(*drawn) if known["parts"] else []),
        Table(heads, [cells], "Scores and shares in %.", sortable=False),
    ]
    name = excerpt(known["run"], 60)
    return Section(f"What the score of {name} is made of", blocks, anchor=f"defence-{slug(name)}")


DATASET: Columns[Dataset] = (
    Column("Dataset", "name", short(60)),
    Column("Records", lambda data: data.records.height),
    Column(
        "Verdicts",
        lambda data: (
            ", ".join(
                f"{name} {n:,}"
                for name, n in data["veracity"].drop_nulls().value_counts().sort("veracity").rows()
            )
            or None
        ),
    ),
    Column(
        "Languages",
        lambda data: ", ".join(data.records["language"].drop_nulls().unique().sort()) or None,
        short(60),
    ),
    Column("Dates", lambda data: " to ".join(date_range(data.records)) or None),
    Column("Licence", lambda data: data.licence or None, short(60)),
    Column("SHA-256", lambda data: Cell(data.digest()[:12], title=data.digest())),
)


def run_section(run: ExaminedRun, number: int, size: Size) -> Section:
    """Every score with its interval and baselines, by trait, and random examples: input, output and
    truth.
    """
    blocks: Blocks = []
    if run.result is not None:
        n = several(run.table.height, "labelled record")
        sentence = f"{n} of '{run.dataset}', split: {run.split or 'all'}."
        blocks += [Text(sentence), *([Text(LOWER_BOUND, "warning")] if is_generative(run) else [])]
        blocks += run_blocks(run.result, f"run-{number + 1}", Detailed(figures=size.figures))
    for what, drawn in (("correct", run.correct), ("wrong", run.wrong)):
        if drawn and size.examples:
            title = f"{several(len(drawn), f'{what} prediction')}, drawn at random"
            blocks.append(Fold(title, [_examples(run, drawn, size.text)]))
    if run.review and not run.judgements and size.examples:
        blocks.append(
            Fold(
                "No annotator has judged these examples: the command that starts a review of them",
                [
                    Text(HOW_TO_JUDGE),
                    Quote(run.review),
                ],
            )
        )
    if not size.examples:
        blocks.append(
            Text("The examples are in eqa.json; with them this page would grow too large.", "note")
        )
    return Section(f"Run: {excerpt(run.name, 80)}", blocks, anchor=f"run-{number + 1}")


def assurance(gaps: Sequence[Limit]) -> Section:
    """Grouped as in `KINDS`; every line was written by the program."""
    blocks: Blocks = [
        Text("Written by the program from what it was given and what it did not find.", "note")
    ]
    for kind, title in KINDS.items():
        mine = [limit for limit in gaps if limit.kind == kind]
        if mine:
            items = [
                f"{excerpt(m.about, 60)}: {m.sentence}" if m.about else m.sentence for m in mine
            ]
            blocks.append(
                Section(f"{title} ({len(mine)})", [Items(items)], anchor=f"limits-{kind}")
            )
    return Section("3. Assurance limits", blocks, anchor="limits")


def _examples(run: ExaminedRun, drawn: Sequence[JsonObject], text: int) -> Table:
    """The last column has the annotators' judgement, or says that there is none yet."""
    question = next((judgement.question for judgement in run.judgements.values()), None)
    columns: list[Column[JsonObject]] = [
        Column("Record", "id", short(60)),
        Column("Input", "input", short(text)),
        Column("Output", "output", short(60)),
        Column("Truth"),
        Column("Rationale", "rationale", short(text), optional=True),
        Column(
            "Judgement" if question is None else f"Judgement: {question}",
            lambda row: run.judged(row["id"]),
            short(200),
            "not judged yet",
        ),
    ]
    return Table.of(columns, drawn, sortable=False)


def scope_table(results: Sequence[ShiftResult]) -> Table:
    """One row for each shift, and one more for each further run that tests it."""
    rows: list[list[Value]] = []
    for result in results:
        named: list[Value] = [f"{result.shift}: {SHIFTS[result.shift].words}", result.scope]
        if not result.tests:
            missing = result.outcome == "not-tested"
            untested = Cell("NOT TESTED", tone="fail") if missing else Cell("–")
            rows.append([*named, untested, *[Cell("–")] * 3])
        for test in result.tests:
            tested = Cell("tested", tone="pass" if test.above_baseline else "warn")
            rows.append([*named, tested, excerpt(test.run, 60), test.how, test.score()])
    return Table(["Shift", "Scope", "Result", "Run", "How", "Score there"], rows, sortable=False)


FILE, KIND = "eqa.json", "quality assurance report"
TOGETHER = ("comparisons", "seeds", "drops")  # run against run, in eqa.json


@dataclass(frozen=True, repr=False)
class Assurance(Shown):
    """What `eqa.json` holds: "formulation", "shifts", "quality" and "limits"."""

    content: JsonObject

    def __getitem__(self, part: str) -> Any:
        return self.content[part]

    def counts(self) -> dict[str, int]:
        """Limits by kind, in the order of the report."""
        kinds = [limit["kind"] for limit in self["limits"]]
        return {kind: kinds.count(kind) for kind in KINDS if kind in kinds}

    @property
    def table(self) -> pl.DataFrame:
        """One row per limit."""
        return pl.DataFrame(
            self["limits"], schema={"kind": pl.String, "about": pl.String, "sentence": pl.String}
        )

    def headline(self) -> str:
        return f"'{self['title']}': {several(len(self['limits']), 'limit')}"

    def to_json(self) -> JsonObject:
        return self.content


@repeatable("trust")
def report(
    study: Annotated[Place, Argument("The EQA file (TOML); start one with --init.")],
    output: OptionalFolder = None,
    *,
    checklist: Annotated[
        str | None, Option("Add the checklist of a venue, filled where possible: arr or neurips.")
    ] = None,
    force: Force = False,
    trust: bool = False,
) -> Assurance:
    """Write the evaluation quality assurance (EQA) report of a study, with everything that was not
    checked.

    `study` is a TOML file that answers the questions of the method and names datasets, audits and
    runs (an EQA file: `new_study` starts one), or the folder of a study that was run, if its file
    has the answers. A file that names paths outside its
    folder must have been allowed (`claimlab trust FILE`), unless `trust` says that it is yours.
    """
    file = Path(study)
    file = file / "report.toml" if file.is_dir() else file
    questions = read_study(file)
    require(file, needs_of(questions, file), trust=trust)
    home = file.absolute().parent
    named = [
        *questions.data.datasets,
        *questions.data.audits,
        *questions.data.contamination,
        *questions.data.defences,
        *(run.path for run in questions.runs),
        *(run.review for run in questions.runs if run.review is not None),
    ]
    reads = [file, *(home / path for path in named)]
    with Run("report", None, output, kind=KIND, reads=reads, force=force) as run:
        evidence = gather(questions, home)
        gaps = limits(evidence)
        parts = [Chapter(a, i, alarms_only=True) for i, a in enumerate(evidence.every_audit())]
        content = Assurance(assured(evidence, gaps))
        more: Blocks = []
        if checklist is not None:
            sentences = [gap.sentence for gap in gaps]
            content.content["checklist"] = venue_checklist(checklist, evidence, sentences)
            more = [checklist_section(content["checklist"])]
        pages = (eqa_report(evidence, gaps, parts, size, more) for size in SIZES)
        run.fill(lambda folder: fill(Contents(KIND, pages, data={FILE: content.to_json()}), folder))
    return content


def assured(evidence: Evidence, gaps: list[Limit]) -> JsonObject:
    """Formulation, quality and limits, as data."""
    known = {} if evidence.evaluation is None else evidence.evaluation.to_json()
    return {
        "title": evidence.study.title,
        "tool": f"claimlab {__version__}",
        "formulation": evidence.study.formulation.model_dump(),
        "shifts": [{**asdict(result), "sentence": result.sentence()} for result in evidence.scope],
        "quality": {
            "datasets": [
                {
                    "name": d.name,
                    "records": d.records.height,
                    "digest": d.digest(),
                    "audits": len(audits),
                }
                for d, audits in zip(evidence.datasets, evidence.audits, strict=True)
            ],
            "audits": [a.to_json() for a in evidence.every_audit()],
            "runs": [run.to_json() for run in evidence.runs],
            "contamination": [report.to_json() for report in evidence.contamination],
            "defences": evidence.defences,
            "together": {name: known.get(name, []) for name in TOGETHER},
            "inspection": evidence.study.inspection.model_dump(),
        },
        "limits": [
            {"kind": m.kind, "about": m.about or None, "sentence": m.sentence} for m in gaps
        ],
    }
