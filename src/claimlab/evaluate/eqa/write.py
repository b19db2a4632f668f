"""The EQA report: formulation, quality assessment, assurance limits. `eqa.json` holds everything,
`index.html` and `report.md` are views of it.
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
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.options import Argument, Force, OptionalFolder, Place
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run
from claimlab.core.shown import Shown
from claimlab.core.trust import require
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several, verb
from claimlab.evaluate.contamination.views import conclusion as conclusion_of
from claimlab.evaluate.eqa.evidence import Evidence, ExaminedRun, ShiftResult, gather
from claimlab.evaluate.eqa.limits import KINDS, Limit, limits
from claimlab.evaluate.eqa.scope import SHIFTS, is_generative
from claimlab.evaluate.eqa.study import QUESTIONS, is_empty, needs_of, read_study
from claimlab.evaluate.views import Size as Detailed
from claimlab.evaluate.views import boards, conclusion, run_blocks, together
from claimlab.pages.blocks import (
    Block,
    Cell,
    Column,
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
    short,
)
from claimlab.pages.excerpt import excerpt
from claimlab.pages.folder import Contents, fill


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
    known = evidence.evaluation
    scores = ["No run was evaluated."]
    if known is not None:
        scores = [
            conclusion(runs, known.board(runs[0].task, runs[0].dataset)) for runs in boards(known)
        ]
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
    blocks: list[Block] = [
        Section("The data", [Table.of(DATASET, evidence.datasets)], anchor="data")
    ]
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


DATASET: tuple[Column[Dataset], ...] = (
    Column("Dataset", "name", short(60)),
    Column("Records", lambda data: data.records.height),
    Column("Verdicts", lambda data: _counts(data.records["veracity"].drop_nulls()) or None),
    Column(
        "Languages",
        lambda data: ", ".join(data.records["language"].drop_nulls().unique().sort()) or None,
        short(60),
    ),
    Column("Dates", lambda data: _days(data.records["date"].drop_nulls())),
    Column("Licence", lambda data: data.licence or None, short(60)),
    Column("SHA-256", lambda data: Cell(data.digest()[:12], title=data.digest())),
)


def _counts(labels: pl.Series) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in labels.value_counts().sort(labels.name).rows())


def _days(dates: pl.Series) -> str | None:
    days = dates.dt.strftime("%Y-%m-%d").sort()
    return f"{days[0]} to {days[-1]}" if days.len() else None


def run_section(run: ExaminedRun, number: int, size: Size) -> Section:
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


FILE = "eqa.json"
KIND = "quality assurance report"


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
    force: Force = False,
    trust: bool = False,
    progress: Progress = silent,
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
        *(run.path for run in questions.runs),
        *(run.review for run in questions.runs if run.review is not None),
    ]
    reads = [file, *(home / path for path in named)]
    with Run("report", None, output, kind=KIND, reads=reads, force=force, progress=progress) as run:
        evidence = gather(questions, home, progress=progress)
        gaps = limits(evidence)
        parts = [Chapter(a, i, alarms_only=True) for i, a in enumerate(evidence.every_audit())]
        content = Assurance(assured(evidence, gaps))
        pages = (eqa_report(evidence, gaps, parts, size) for size in SIZES)
        run.fill(lambda folder: fill(Contents(KIND, pages, data={FILE: content.to_json()}), folder))
    return content


def assured(evidence: Evidence, gaps: list[Limit]) -> JsonObject:
    """Formulation, quality and limits, as data."""
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
            "runs": [
                {
                    "name": run.name,
                    "dataset": run.dataset,
                    "digest": run.digest,
                    "split": run.split,
                    "records": run.table.height,
                    "answered": run.answered,
                    "scores": run.scores(),
                    "evaluation": None if run.result is None else asdict(run.result),
                    "lower_bound": is_generative(run),
                    "tests": asdict(run.tests),
                    "correct": _judged(run, run.correct),
                    "wrong": _judged(run, run.wrong),
                }
                for run in evidence.runs
            ],
            "contamination": [report.to_json() for report in evidence.contamination],
            "together": _together(evidence),
            "inspection": evidence.study.inspection.model_dump(),
        },
        "limits": [
            {"kind": m.kind, "about": m.about or None, "sentence": m.sentence} for m in gaps
        ],
    }


def _judged(run: ExaminedRun, examples: list[JsonObject]) -> list[JsonObject]:
    """The examples with what annotators decided about each; null where none did."""
    judgements = {i: asdict(judgement) for i, judgement in run.judgements.items()}
    shown = ("question", "value", "how", "annotators", "comments")
    return [
        {
            **row,
            "judgement": (
                {k: judgements[row["id"]][k] for k in shown} if row["id"] in judgements else None
            ),
        }
        for row in examples
    ]


def _together(evidence: Evidence) -> JsonObject:
    """Run against run, several seeds, and the drop from a random split to a held-out one."""
    content = {} if evidence.evaluation is None else evidence.evaluation.to_json()
    return {name: content.get(name, []) for name in ("comparisons", "seeds", "drops")}
