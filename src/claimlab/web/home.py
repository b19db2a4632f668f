"""The home page: what is here, in what state, and what comes next.

Datasets that were made from one another are one family: imported, cleaned, split, with their audits
and runs, on one card. What has to be measured, or is in the store of a review, follows the page.
What else there is follows below; steps of studies are inside their study.
"""

from __future__ import annotations

import time
from itertools import pairwise
from urllib.parse import urlencode

from claimlab.audit.result import Audit
from claimlab.audit.views.first_screen import next_command
from claimlab.audit.views.wording import headline
from claimlab.core.errors import ClaimlabError
from claimlab.core.words import several
from claimlab.evaluate.board import RunStanding
from claimlab.web.actions import form_link
from claimlab.web.audit_lines import AuditLine, audit_line
from claimlab.web.defences import ScorePart, parts_of
from claimlab.web.families import Group, changed, groups_of
from claimlab.web.page import Here, page
from claimlab.web.predictions import board_of, score_of, title_of
from claimlab.web.reports import state_of_study
from claimlab.web.reviewers import review_at, reviews_here
from claimlab.web.workspace import (
    FolderEntry,
    Shape,
    Workspace,
    WorkspaceFolder,
    audits_in,
    digests_of,
)

# A page must not wait for hundreds of them.
STATED, MOST_STATED, MOST_AUDITS = ("audit", "review", "study"), 40, 40
_WHY = {
    "prepare": "Apply what the audit advises and nothing else, and audit again.",
    "split": "Divide it into train, dev and test, with related records on one side.",
    "detect": "Train a first detector on it.",
}
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))


class FamilyStep(Shape):
    """A dataset or run of a family, and the step that made it."""

    step: str
    name: str
    link: str
    records: int | None
    lost: int | None = None
    """Records that the step left out."""
    follows: bool = True
    """Whether it was made from the one before it in the list."""


class NextStep(Shape):
    """What comes next, and why: mostly a form that is filled in."""

    verb: str
    link: str
    why: str


class Family(Shape):
    """Datasets that were made from one another."""

    id: str
    """Of the latest dataset."""
    name: str
    link: str
    age: str
    """Since something was last written."""
    records: int | None
    labels: dict[str, int]
    """Of the latest dataset."""
    steps: list[FamilyStep]
    runs: list[FamilyStep]
    traces: list[FamilyStep]
    audit: AuditLine | None
    """The newest audit of the latest dataset."""
    next: NextStep | None


class Best(Shape):
    """The best run of a family, and those that cannot be told apart from it."""

    name: str
    link: str
    macro_f1: float
    interval: tuple[float, float] | None
    tied: list[str]
    parts: list[ScorePart]
    """What the score is made of, where that was measured."""


class ReviewLine(Shape):
    name: str
    link: str
    open: int
    total: int


class FamilyFigures(Shape):
    best: Best | None
    reviews: list[ReviewLine]


class Figures(Shape):
    """What the cards say beyond what folders are called, by the id of the family."""

    families: dict[str, FamilyFigures]


@page("/figures", "figures.html.jinja")
def figures_page(workspace: Here) -> Figures:
    """The best run and open reviews by family."""
    lines: dict[str, list[ReviewLine]] = {}
    for entry, review in reviews_here(workspace):
        far = review.progress()
        line = ReviewLine(
            name=entry.name, link=entry.link, open=far.total - far.settled, total=far.total
        )
        lines.setdefault(review.project.origin.fingerprint, []).append(line)
    figures = {}
    for datasets, runs, _ in groups_of(workspace):
        reviews = [
            line for dataset in datasets for line in lines.get(dataset.manifest.fingerprint(), [])
        ]
        figures[datasets[-1].entry.id] = FamilyFigures(best=_best(workspace, runs), reviews=reviews)
    return Figures(families=figures)


class Home(Shape):
    """What is in the workspace."""

    workspace: str
    entries: list[FolderEntry]
    complete: bool
    families: list[Family]
    """Datasets that were made from one another."""
    states: dict[str, str]
    """What an audit found, or how far a review or a study is, by id."""
    on_cards: list[str]
    """The links of the audits and reviews that the cards show."""


@page("/", "home.html.jinja")
def home_page(workspace: Here) -> Home:
    """What is in the workspace."""
    entries, audits = workspace.listed(), _audits(workspace)
    stated = [entry.id for entry in entries if entry.kind in STATED]
    groups = groups_of(workspace)
    families = [_family(group, audits) for group in groups]
    fingerprints = {
        dataset.manifest.fingerprint() for datasets, _, _ in groups for dataset in datasets
    }
    reviewed = [
        entry.link
        for entry, review in reviews_here(workspace)
        if review.project.origin.fingerprint in fingerprints
    ]
    return Home(
        workspace=workspace.name,
        entries=entries,
        complete=workspace.complete,
        families=families,
        states={id: _state(workspace.get(id)) for id in stated[:MOST_STATED]},
        on_cards=[*reviewed, *(family.audit.link for family in families if family.audit)],
    )


def _state(place: WorkspaceFolder) -> str:
    """An audit, a study or a review in a few words. No store is opened: it may be in a database."""
    try:
        if place.entry.kind == "study":
            return state_of_study(place)
        if place.entry.kind == "review":
            return several(review_at(place).size, "item")
        headlines = [headline(audit).rpartition(": ")[2] for audit in audits_in(place)]
        return "; ".join(words.rstrip(".") for words in headlines)
    except ClaimlabError as error:
        return error.problem


Audits = dict[str, list[tuple[WorkspaceFolder, Audit]]]


def _audits(workspace: Workspace) -> Audits:
    """The newest audits by the records that they are of, the newest last."""
    audits: Audits = {}
    for place in sorted(workspace.of("audit"), key=changed)[-MOST_AUDITS:]:
        try:
            for audit in audits_in(place):
                audits.setdefault(audit.digest, []).append((place, audit))
        except ClaimlabError:
            continue  # the page of the audit says what is wrong with it
    return audits


def _family(group: Group, audits: Audits) -> Family:
    datasets, runs, traces = group
    latest = datasets[-1]
    labels = latest.manifest.counts.get("veracity") or {}
    bare = (latest.entry.records or 0) - sum(labels.values())
    own_audits = [audit for place in datasets for audit in audits.get(place.digest, [])]
    return Family(
        id=latest.entry.id,
        name=datasets[0].entry.name,
        link=latest.entry.link,
        age=ago(max(map(changed, [*datasets, *runs, *traces]))),
        records=latest.entry.records,
        labels=labels | {"no label": bare} if labels and bare > 0 else labels,
        steps=[
            _step(place).model_copy(update={"follows": before.digest in digests_of(place)})
            for before, place in pairwise([datasets[0], *datasets])
        ],
        runs=[_step(place) for place in runs],
        traces=[_step(place) for place in traces],
        audit=audit_line(*own_audits[-1], own_audits) if own_audits else None,
        next=_next(latest, [place.digest for place in datasets], audits, runs),
    )


def ago(then: float) -> str:
    """How long ago a time was, in its largest unit."""
    seconds = max(0.0, time.time() - then)
    for name, size in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.0f} {name} ago"
    return "just now"


def _step(place: WorkspaceFolder) -> FamilyStep:
    lineage, entry = place.manifest.lineage, place.entry
    step = lineage[-1].step if lineage else "dataset"
    counts = lineage[-1].counts if lineage else {}
    before = counts.get("in", counts.get("before"))
    lost = before - entry.records if isinstance(before, int) and entry.records is not None else None
    return FamilyStep(
        step=step, name=entry.name, link=entry.link, records=entry.records, lost=lost or None
    )


def _next(
    latest: WorkspaceFolder,
    digests: list[str],
    audits: Audits,
    runs: list[WorkspaceFolder],
) -> NextStep | None:
    """An audit where the latest records have none; then what it advises, where a page can start
    it and it was not done yet; then the runs.
    """
    first_look = f"/datasets/{latest.entry.id}/run/audit"
    audits_of_data = [audits[digest] for digest in digests if digest in audits]
    if not audits_of_data:
        why = "What gives the label away is not known yet."
        return NextStep(verb="audit", link=first_look, why=why)
    if sum(run.digest == runs[-1].digest for run in runs) > 1:
        chosen = urlencode({"one": runs[-1].entry.id, "side": "different answers"})
        why = "See where the two best runs differ."
        return NextStep(verb="compare", link=f"/compare?{chosen}", why=why)
    if latest.digest not in audits and not runs:
        return NextStep(verb="audit", link=first_look, why="The latest step is not audited.")
    audit = audits_of_data[-1][-1][1]
    command = next_command(audit, str(latest.folder))
    link = form_link(latest, command)
    if runs or link is None:
        return None
    first, why = audit.conclusion.first, _WHY.get(command.function, "")
    if first is not None and command in first.commands:
        why = first.text
    return NextStep(verb=command.function, link=link, why=why)


def _best(workspace: Workspace, runs: list[WorkspaceFolder]) -> Best | None:
    """Of the runs on the records that most of them answered."""
    digests = [run.digest for run in runs]
    same = max(digests, key=digests.count, default=None)
    places = [run for run in runs if run.digest == same]
    try:
        board = board_of(places) if len(places) > 1 else None
        scores = [(title_of(place), *score_of(place)) for place in places if board is None]
    except ClaimlabError:
        return None  # the page of the run says what is wrong with it
    alone = [RunStanding(name, score, ends) for name, score, ends in scores if score is not None]
    ranked = (
        sorted(alone, key=lambda standing: -standing.score) if board is None else board.standings
    )
    if not ranked:
        return None
    first, named = ranked[0], {title_of(place): place for place in places}
    best = named.get(first.name, places[0])
    defence = parts_of(workspace, best)
    return Best(
        name=first.name,
        link=best.entry.link,
        macro_f1=first.score,
        interval=first.interval,
        tied=[standing.name for standing in ranked[1:] if standing.tied],
        parts=[] if defence is None else defence.parts,
    )
