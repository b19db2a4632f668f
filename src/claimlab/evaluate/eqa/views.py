"""The EQA report as blocks: formulation, quality assessment, assurance limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from claimlab.audit.views.matrix import matrix
from claimlab.audit.views.page import Chapter, Detail, summary
from claimlab.audit.views.wording import headline, protocol_sections
from claimlab.core.dataset import Dataset
from claimlab.core.words import several, verb
from claimlab.evaluate.contamination.views import conclusion as conclusion_of
from claimlab.evaluate.eqa.evidence import Evidence
from claimlab.evaluate.eqa.limit import KINDS, Limit
from claimlab.evaluate.eqa.runs import Run
from claimlab.evaluate.eqa.study import QUESTIONS, is_empty
from claimlab.evaluate.views.page import Size as Detailed
from claimlab.evaluate.views.page import boards, conclusion, run_blocks, together
from claimlab.pages.blocks import Block, Cell, Fold, Items, Quote, Report, Section, Table, Text, Tiles
from claimlab.pages.excerpt import excerpt


@dataclass(frozen=True)
class Size:
    """How many examples and charts the page has; eqa.json always has all examples."""

    text: int = 600
    figures: bool = True
    examples: bool = True


SIZES = (Size(), Size(text=200), Size(text=200, figures=False), Size(examples=False, figures=False))


def eqa_report(evidence: Evidence, gaps: Sequence[Limit], parts: Sequence[Chapter], size: Size) -> Report:
    tiles = Tiles(
        [
            ("datasets", str(len(evidence.datasets)), "plain"),
            ("audits", str(len(parts)), "plain" if parts else "warn"),
            ("runs", str(len(evidence.runs)), "plain" if evidence.runs else "warn"),
            ("limitations", str(len(gaps)), "plain"),
        ]
    )
    blocks: list[Block] = [
        Text("In short", "conclusion"),
        Items(in_short(evidence, gaps, parts)),
        tiles,
        formulation(evidence),
        quality(evidence, parts, size),
        assurance(gaps),
    ]
    audits = [p.audit for p in parts]
    if audits:
        blocks.append(protocol_sections(audits))
    subtitle = "Evaluation quality assurance: what it is meant to prove, what was checked, and what was not."
    return Report(excerpt(evidence.study.title, 120), subtitle, blocks)


def in_short(evidence: Evidence, gaps: Sequence[Limit], parts: Sequence[Chapter]) -> list[str]:
    """The conclusions of the runs and of the audits, and how much was not checked."""
    runs = boards(evidence.evaluation) if evidence.evaluation is not None else []
    scores = [conclusion(board) for board in runs] or ["No run was evaluated."]
    audits = [f"Audit of '{excerpt(p.audit.dataset, 60)}': {p.audit.conclusion.text}" for p in parts]
    limits = several(len(gaps), "limitation")
    return [
        *scores,
        *(audits or ["No audit was given."]),
        *(f"Contamination of '{excerpt(r.dataset, 60)}': {conclusion_of(r)}" for r in evidence.contamination),
        f"{limits} of this evaluation {verb(len(gaps))} listed below.",
    ]


def formulation(evidence: Evidence) -> Section:
    answers = evidence.study.formulation.model_dump()
    blocks: list[Block] = [Text("In the author's words.", "note")]
    for name, question in QUESTIONS.items():
        blocks.append(Section(question, [Quote(answers[name].strip())], anchor=f"formulation-{name}"))
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
            Section(title, [Text(headline(part.audit)), *summary(part, detail, linked=False)], anchor=f"audit-{i + 1}")
        )
    if evidence.evaluation is not None:
        blocks += together(evidence.evaluation, Detailed(figures=size.figures), linked=False)
    blocks += [run_section(run, i, size) for i, run in enumerate(evidence.runs)]
    notes = evidence.study.inspection.notes
    if evidence.runs and not is_empty(notes):
        blocks.append(Section("What the author saw in the examples", [Quote(notes.strip())], anchor="inspection"))
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
    """Every score with its interval and baselines, by trait, and random examples: input, output and truth."""
    blocks: list[Block] = []
    if run.result is not None:
        n = several(run.table.height, "labelled record")
        sentence = f"{n} of '{run.dataset}', split: {run.split or 'all'}."
        blocks += [Text(sentence), *run_blocks(run.result, f"run-{number + 1}", Detailed(figures=size.figures))]
    for what, drawn in (("correct", run.correct), ("wrong", run.wrong)):
        if drawn and size.examples:
            title = f"{several(len(drawn), f'{what} prediction')}, drawn at random"
            blocks.append(Fold(title, [_examples(drawn, size.text)]))
    if not size.examples:
        blocks.append(Text("The examples are in eqa.json; with them this page would grow too large.", "note"))
    return Section(f"Run: {excerpt(run.name, 80)}", blocks, anchor=f"run-{number + 1}")


def assurance(gaps: Sequence[Limit]) -> Section:
    """Grouped as in `KINDS`; every line was written by the program."""
    blocks: list[Block] = [Text("Written by the program from what it was given and what it did not find.", "note")]
    for kind, title in KINDS.items():
        mine = [limit for limit in gaps if limit.kind == kind]
        if mine:
            items = [f"{excerpt(m.about, 60)}: {m.sentence}" if m.about else m.sentence for m in mine]
            blocks.append(Section(f"{title} ({len(mine)})", [Items(items)], anchor=f"limits-{kind}"))
    return Section("3. Assurance limits", blocks, anchor="limits")


def _examples(drawn: Sequence[dict[str, Any]], text: int) -> Table:
    reasons = any(row["rationale"] for row in drawn)
    columns = ["Record", "Input", "Output", "Truth", *(["Rationale"] if reasons else [])]
    rows: list[list[Any]] = [
        [
            excerpt(row["id"], 60),
            None if row["input"] is None else excerpt(row["input"], text),
            excerpt(row["output"], 60),
            row["truth"],
            *([None if row["rationale"] is None else excerpt(row["rationale"], text)] if reasons else []),
        ]
        for row in drawn
    ]
    return Table(columns, rows, sortable=False)
