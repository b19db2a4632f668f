"""The EQA report as blocks: formulation, quality assessment, assurance limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from claimlab.audit.views.page import Chapter, Detail, summary
from claimlab.audit.views.tables import matrix
from claimlab.audit.views.wording import headline, protocol_sections
from claimlab.core.dataset import Dataset
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.evaluate.contamination.views import conclusion as conclusion_of
from claimlab.evaluate.eqa.evidence import Evidence, Run
from claimlab.evaluate.eqa.limits import KINDS, Limit
from claimlab.evaluate.eqa.scope import SHIFTS, ShiftResult, is_generative
from claimlab.evaluate.eqa.study import QUESTIONS, is_empty
from claimlab.evaluate.views import Size as Detailed
from claimlab.evaluate.views import boards, conclusion, run_blocks, together
from claimlab.pages.blocks import (
    Block,
    Cell,
    Fold,
    Items,
    Quote,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    Tone,
)
from claimlab.pages.excerpt import excerpt


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
    evidence: Evidence, gaps: Sequence[Limit], parts: Sequence[Chapter], size: Size
) -> Report:
    tiles = Tiles(
        [
            ("datasets", str(len(evidence.datasets)), "plain"),
            ("audits", str(len(parts)), "plain" if parts else "warn"),
            ("runs", str(len(evidence.runs)), "plain" if evidence.runs else "warn"),
            *_scope_tiles(evidence),
            ("limitations", str(len(gaps)), "plain"),
        ]
    )
    blocks: list[Block] = [
        Text("In short", "conclusion"),
        Items(in_short(evidence, gaps, parts)),
        *_promises(gaps),
        tiles,
        formulation(evidence),
        quality(evidence, parts, size),
        assurance(gaps),
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
    runs = boards(evidence.evaluation) if evidence.evaluation is not None else []
    scores = [conclusion(board) for board in runs] or ["No run was evaluated."]
    bounds = [
        f"{excerpt(run.name, 80)} writes its answers: read its scores as a lower bound."
        for run in evidence.runs
        if is_generative(run)
    ]
    audits = [
        f"Audit of '{excerpt(p.audit.dataset, 60)}': {p.audit.conclusion.text}" for p in parts
    ]
    limits = several(len(gaps), "limitation")
    return [
        *scores,
        *_scope_in_short(evidence),
        *bounds,
        *(audits or [_no_audit(evidence)]),
        *(
            f"Contamination of '{excerpt(r.dataset, 60)}': {conclusion_of(r)}"
            for r in evidence.contamination
        ),
        f"{limits} of this evaluation {verb(len(gaps))} listed below.",
    ]


def _no_audit(evidence: Evidence) -> str:
    n = len(evidence.strays)
    if not n:
        return "No audit was given."
    unused = f"{several(n, 'audit')} {verb(n, 'was', 'were')} given and not used"
    return f"{unused}: made on other records than these datasets."


def formulation(evidence: Evidence) -> Section:
    answers = evidence.study.formulation.model_dump()
    blocks: list[Block] = [Text("In the author's words.", "note")]
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
        shown: list[Block] = [Text(note, "note"), scope_table(evidence.scope)]
        blocks.append(Section("Shifts in scope, and what tests them", shown, anchor="shifts"))
    return Section("1. Formulation and intended generalisation", blocks, anchor="formulation")


def quality(evidence: Evidence, parts: Sequence[Chapter], size: Size) -> Section:
    blocks: list[Block] = [Section("The data", [data_table(evidence.datasets)], anchor="data")]
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
    notes = evidence.study.inspection.notes
    if evidence.runs and not is_empty(notes):
        blocks.append(
            Section(
                "What the author saw in the examples", [Quote(notes.strip())], anchor="inspection"
            )
        )
    return Section("2. Quality assessment", blocks, anchor="quality")


def data_table(datasets: Sequence[Dataset]) -> Table:
    rows: list[list[Any]] = []
    for data in datasets:
        records = data.records
        dates = records["date"].drop_nulls()
        days = dates.dt.strftime("%Y-%m-%d").sort()
        span = f"{days[0]} to {days[-1]}" if days.len() else None
        tally = records["veracity"].drop_nulls().value_counts().sort("veracity")
        languages = records["language"].drop_nulls().unique().sort().to_list()
        rows.append(
            [
                excerpt(data.name, 60),
                records.height,
                ", ".join(f"{name} {n:,}" for name, n in tally.iter_rows()) or None,
                excerpt(", ".join(languages), 60) or None,
                span,
                excerpt(data.licence, 60) if data.licence else None,
                Cell(data.digest()[:12], title=data.digest()),
            ]
        )
    columns = ["Dataset", "Records", "Verdicts", "Languages", "Dates", "Licence", "SHA-256"]
    return Table(columns, rows)


def run_section(run: Run, number: int, size: Size) -> Section:
    """Every score with its interval and baselines, by trait, and random examples: input, output and
    truth.
    """
    blocks: list[Block] = []
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
    blocks: list[Block] = [
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


def _examples(run: Run, drawn: Sequence[JsonObject], text: int) -> Table:
    """The last column has the annotators' judgement, or says that there is none yet."""
    reasons = any(row["rationale"] for row in drawn)
    question = next((judgement.question for judgement in run.judgements.values()), None)
    judged = "Judgement" if question is None else f"Judgement: {question}"
    columns = ["Record", "Input", "Output", "Truth", *(["Rationale"] if reasons else []), judged]
    rows: list[list[Any]] = [
        [
            excerpt(row["id"], 60),
            None if row["input"] is None else excerpt(row["input"], text),
            excerpt(row["output"], 60),
            row["truth"],
            *(
                [None if row["rationale"] is None else excerpt(row["rationale"], text)]
                if reasons
                else []
            ),
            _judgement(run, row["id"]),
        ]
        for row in drawn
    ]
    return Table(columns, rows, sortable=False)


def _judgement(run: Run, record: str) -> str:
    judgement = run.judgements.get(record)
    words = judgement.words() if judgement is not None else None
    return excerpt(words, 200) if words else "not judged yet"


def scope_table(results: Sequence[ShiftResult]) -> Table:
    """One row for each shift, and one more for each further run that tests it."""
    rows: list[list[Any]] = []
    for result in results:
        words = f"{result.shift}: {SHIFTS[result.shift].words}"
        if not result.tests:
            untested = (
                Cell("NOT TESTED", tone="fail") if result.outcome == "not-tested" else Cell("–")
            )
            rows.append([words, result.scope, untested, *[Cell("–")] * 3])
        for test in result.tests:
            tested = Cell("tested", tone="pass" if test.above_baseline else "warn")
            rows.append(
                [words, result.scope, tested, excerpt(test.run, 60), test.how, test.score()]
            )
    return Table(["Shift", "Scope", "Result", "Run", "How", "Score there"], rows, sortable=False)


def _scope_in_short(evidence: Evidence) -> list[str]:
    promised = [result for result in evidence.scope if result.scope == "in scope"]
    if not promised:
        return []
    failed = [result.shift for result in promised if result.outcome == "not-tested"]
    lines = [f"In scope and NOT tested: {', '.join(failed)}."] if failed else []
    return [
        *lines,
        *(f"In scope: {result.sentence()}" for result in promised if result.outcome == "tested"),
    ]


def _promises(gaps: Sequence[Limit]) -> list[Block]:
    """What was promised and not tested, for the top of the page."""
    broken = [gap.sentence for gap in gaps if gap.kind == "shift"]
    return (
        [Text("Failed: a test of a shift in scope is missing.", "warning"), Items(broken)]
        if broken
        else []
    )


def _scope_tiles(evidence: Evidence) -> list[tuple[str, str, Tone]]:
    failed = sum(result.outcome == "not-tested" for result in evidence.scope)
    return (
        [("shifts in scope, not tested", str(failed), "fail" if failed else "plain")]
        if evidence.scope
        else []
    )
