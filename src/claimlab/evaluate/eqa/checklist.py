"""The checklist of a venue: what the folders of a study answer, and what is left to the authors.

An answer is made of what a folder holds and nothing else. A question that nothing answers is open:
it is never a yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from claimlab.core import packaged
from claimlab.core.choices import one_of
from claimlab.core.dataset import Dataset
from claimlab.core.facts import date_range, tally
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.evaluate.eqa.shifts import is_generative
from claimlab.exchange.facts import about
from claimlab.exchange.responsible import responsible
from claimlab.pages.blocks import Blocks, Section, Table, Text

if TYPE_CHECKING:
    from claimlab.evaluate.eqa.evidence import StudyEvidence

_LISTS = packaged.toml("claimlab.evaluate.eqa", "checklists.toml")


def venue_checklist(venue: str, evidence: StudyEvidence, gaps: Sequence[str]) -> JsonObject:
    """The questions of a venue; `answer` is null where only the authors can give it."""
    chosen = _LISTS[one_of(list(_LISTS), venue, "checklist")]
    each: dict[str, list[str]] = {}
    for dataset in evidence.datasets:
        for fact, words in _about(dataset).items():
            each.setdefault(fact, []).extend([f"{dataset.name}: {words}"] if words else [])
    facts = {fact: " ".join(lines) for fact, lines in each.items()}
    facts |= _of_runs(evidence, gaps)
    rows = [
        {"question": question["question"], "answer": facts.get(question.get("fact", "")) or None}
        for question in chosen["questions"]
    ]
    return {"venue": venue, "title": chosen["title"], "questions": rows}


def checklist_section(content: JsonObject) -> Section:
    rows = [
        (question["question"], question["answer"] or "open") for question in content["questions"]
    ]
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
    described = about(dataset)
    card, fields = described.card, responsible(dataset, described)
    steps = [step.parameters.get("guideline") for step in reversed(dataset.lineage)]
    guidelines = [
        guideline for guideline in steps if guideline
    ]  # of reviews that were applied, the latest first
    counts = dataset.manifest().counts

    def tallies(*columns: str) -> list[str]:
        return [f"{name} {tally(counts[name])}" for name in columns if name in counts]

    labels, covered = tallies("veracity", "split"), tallies("language", "kind")
    covered.append(" to ".join(date_range(dataset.records)))
    return {
        "licence": f"{described.licence or 'none stated'}.",
        "sources": "" if card is None else card.citation,
        "statistics": f"{several(len(dataset), 'record')}; {'; '.join(labels)}.",
        "coverage": f"{'; '.join(filter(None, covered))}.",
        "personal": " ".join(fields.get("rai:personalSensitiveInformation", [])),
        "access": "" if card is None else f"{card.access} {card.homepage or ''}".strip(),
        "instructions": str(guidelines[0]) if guidelines else "",
        "agreement": " ".join(fields.get("rai:dataAnnotationAnalysis", [])),
    }


def _of_runs(evidence: StudyEvidence, gaps: Sequence[str]) -> dict[str, str]:
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
