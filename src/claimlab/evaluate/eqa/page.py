"""The page of the EQA report: formulation, quality assessment, assurance limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from claimlab.audit.views.page import Chapter, PageDetail, summary
from claimlab.audit.views.tables import matrix
from claimlab.audit.views.wording import headline, protocol_sections, verdict_line
from claimlab.claims.contamination.views import conclusion as conclusion_of
from claimlab.core.dataset import Dataset
from claimlab.core.facts import date_range
from claimlab.core.plain import slug
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.evaluate.defend.page import stacked
from claimlab.evaluate.eqa.limits import KINDS, Limit
from claimlab.evaluate.eqa.scope import ShiftResult
from claimlab.evaluate.eqa.shifts import SHIFTS, is_generative
from claimlab.evaluate.eqa.study import QUESTIONS, is_empty
from claimlab.evaluate.views import PageSize as Detailed
from claimlab.evaluate.views import conclusions, run_blocks, together
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

if TYPE_CHECKING:
    from claimlab.evaluate.eqa.evidence import StudyEvidence
    from claimlab.evaluate.eqa.runs import ExaminedRun

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


@dataclass(frozen=True)
class EqaPageSize:
    """How many examples and charts the page has; eqa.json always has all examples."""

    text: int = 600
    figures: bool = True
    examples: bool = True


SIZES = (
    EqaPageSize(),
    EqaPageSize(text=200),
    EqaPageSize(text=200, figures=False),
    EqaPageSize(examples=False, figures=False),
)


def eqa_report(
    evidence: StudyEvidence,
    gaps: Sequence[Limit],
    parts: Sequence[Chapter],
    size: EqaPageSize,
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
    conclusion, *rest = in_short(evidence, gaps, parts)
    blocks: Blocks = [
        Text(conclusion, "conclusion"),
        Items(rest),
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


def in_short(evidence: StudyEvidence, gaps: Sequence[Limit], parts: Sequence[Chapter]) -> list[str]:
    """The conclusions of the runs and of the audits, and how much was not checked."""
    evaluation = evidence.evaluation
    scores = ["No run was evaluated."] if evaluation is None else conclusions(evaluation)
    bounds = [
        f"{excerpt(run.name, 80)} writes its answers: read its scores as a lower bound."
        for run in evidence.runs
        if is_generative(run)
    ]
    audits = [
        f"Audit of '{excerpt(p.audit.dataset, 60)}': {verdict_line(p.audit.conclusion)}"
        for p in parts
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
        *([f"In scope and NOT tested: {', '.join(failed)}."] if failed else []),
        *scores,
        *(f"In scope: {result.sentence()}" for result in promised if result.outcome == "tested"),
        *bounds,
        *(audits or [none]),
        *(
            f"Contamination of '{excerpt(r.dataset, 60)}': {conclusion_of(r)}"
            for r in evidence.contamination
        ),
        f"{limits} of this evaluation {verb(len(gaps))} listed below.",
    ]


def formulation(evidence: StudyEvidence) -> Section:
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
        inside: Blocks = [Text(note, "note"), scope_table(evidence.scope)]
        blocks.append(Section("Shifts in scope, and what tests them", inside, anchor="shifts"))
    return Section("1. Formulation and intended generalisation", blocks, anchor="formulation")


def quality(evidence: StudyEvidence, parts: Sequence[Chapter], size: EqaPageSize) -> Section:
    blocks: Blocks = [Section("The data", [Table.of(DATASET, evidence.datasets)], anchor="data")]
    audits = [p.audit for p in parts]
    if audits:
        links = {(i, ""): f"#audit-{i + 1}" for i in range(len(audits))}
        blocks.append(matrix(audits, links))
    detail = PageDetail(figures="all" if size.figures else "none")
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
    blocks += [_defended(defence) for defence in evidence.defences]
    notes = evidence.study.inspection.notes
    if evidence.runs and not is_empty(notes):
        blocks.append(
            Section(
                "What the author saw in the examples", [Quote(notes.strip())], anchor="inspection"
            )
        )
    return Section("2. Quality assessment", blocks, anchor="quality")


def _defended(defence: JsonObject) -> Section:
    """What a score is made of, as `defend` found it: the paragraph, the figure and the row."""
    row = {name: value for name, value in defence["row"].items() if value is not None}
    heads = [name.replace("_", " ") for name in row]
    cells = [percent(value) if isinstance(value, float) else value for value in row.values()]
    drawn = defence["run"], defence["accuracy"], defence["ceiling"], defence["parts"]
    blocks: Blocks = [
        Text(defence["paragraph"]),
        *(stacked(*drawn) if defence["parts"] else []),
        Table(heads, [cells], "Scores and shares in %.", sortable=False),
    ]
    name = excerpt(defence["run"], 60)
    return Section(f"What the score of {name} is made of", blocks, anchor=f"defence-{slug(name)}")


def run_section(run: ExaminedRun, number: int, size: EqaPageSize) -> Section:
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
        limits_of_kind = [limit for limit in gaps if limit.kind == kind]
        if limits_of_kind:
            items = [
                f"{excerpt(m.about, 60)}: {m.sentence}" if m.about else m.sentence
                for m in limits_of_kind
            ]
            blocks.append(
                Section(f"{title} ({len(limits_of_kind)})", [Items(items)], anchor=f"limits-{kind}")
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
