"""The page of a dataset on a site: what its audit came to, how to load and cite it, and a badge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from claimlab.audit.result import FILE as AUDIT
from claimlab.audit.result import Audit
from claimlab.audit.views.first_screen import TONES, Places, first_screen, tone_of, verdict_words
from claimlab.audit.views.pictures import overview
from claimlab.audit.views.tables import scored
from claimlab.audit.views.wording import (
    VERDICT_WORDS,
    finding_title,
    in_a_line,
    ordered,
)
from claimlab.catalog.decay import in_words, known_decay
from claimlab.catalog.entry import Card
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Columns,
    Figure,
    Fold,
    Items,
    Report,
    Section,
    Table,
    Text,
    excerpt,
    percent,
)
from claimlab.pages.look import colours
from claimlab.publish.aggregates import IN_BRACKETS
from claimlab.publish.site_content import Site, card_of, stamp, title_of

BADGE = "badge.svg"
_FILES = (
    ("audit.json", AUDIT),
    ("errata.json", "errata.json"),
    ("badge", BADGE),
)
_POINTS = "In brackets: by how many percentage points a finding can change a score, at most."
_NO_STEP = "No check asks for a step."
FINDINGS: Columns[Finding] = (
    Column(
        "Verdict",
        lambda f: Cell(
            VERDICT_WORDS[f.verdict],
            float(VERDICTS.index(f.verdict)),
            f.verdict,
            anchor=f.check,
        ),
    ),
    Column("Check", finding_title),
    Column("Score, % (95% interval)", scored),
    Column("Best baseline", lambda f: f.baselines.best(), percent),
    Column("n", lambda f: f.n or None),
    Column("Records to look at", lambda f: f.pointed_at or None),
)


def dataset_pages(site: Site, name: str, audit: Audit) -> Iterator[Report]:
    """The page of a dataset; a smaller one has no chart."""
    card, conclusion, counts = card_of(audit), audit.concluded(), audit.counts()
    # what is quoted outside of brackets are names of columns, and parts of commands
    steps = [IN_BRACKETS.sub("", in_a_line(piece)) for piece in conclusion.advice]
    todo: Blocks = [Text(_POINTS), Items(steps, steps=True)] if steps else [Text(_NO_STEP)]
    findings = ordered(part for finding in audit.findings for part in finding.every)
    note = "The most severe first."
    if len(findings) > sum(counts.values()):
        note += " Above, findings that measure the same fact count once, by the most severe."
    figures = overview(audit, name)
    for chart in (figures, list[Figure]()):
        blocks: Blocks = [
            Text("", links=[("All datasets", "../../index.html")]),
            *first_screen(audit, Places(lambda finding: f"#{finding.check}", "#reasons")),
            Section(
                "Before you report a score",
                [Text(conclusion.usable), *todo],
                folded=True,
                says=f"{len(steps)}",
            ),
            Section(
                "Verdicts",
                [Table.of(FINDINGS, findings, note), *chart],
                folded=True,
                says=f"{len(findings)}",
            ),
            Section("Reasons", [*_reasons(findings)], "reasons"),
            Section("Errata", _errata(card)),
            Section("Overlap with other datasets", _overlap(site, name, audit)),
            Section("Load it", [Items(_loading(name, card))]),
            Section("Cite it", _citing(card)),
            Section("Files", [Text(f"Aggregates only, no records. {stamp(site)}", links=_FILES)]),
        ]
        size = f"{several(audit.labelled, 'labelled record')} of {audit.records:,}"
        about = f"{size}, protocol {audit.protocol}. {stamp(site)}"
        subtitle = about if card is None else f"{card.summary} {about}"
        verdict, tone = verdict_words(audit), tone_of(audit)
        yield Report(title_of(audit), subtitle, blocks, badge=verdict, tone=tone)


def _reasons(findings: Sequence[Finding]) -> Iterator[Fold]:
    """Why each verdict is what it is, those that call for a step first."""
    for verdict in VERDICTS:
        reasons = [f"{finding_title(f)}: {f.why}" for f in findings if f.verdict == verdict]
        if reasons:
            words = f"Reasons: {VERDICT_WORDS[verdict]} ({len(reasons)})"
            yield Fold(words, [Items(reasons)])


def _errata(card: Card | None) -> Blocks:
    if card is None:
        return [Text("The dataset is not in the catalogue.")]
    return [Items(card.errata)] if card.errata else [Text("None is known.")]


def _overlap(site: Site, name: str, audit: Audit) -> Blocks:
    """What other datasets hold of its records, where that was measured."""
    own = {name, audit.dataset, audit.folder}
    pages = {
        known_name: f"../{page}/index.html"
        for page, other in site.audits.items()
        for known_name in (page, other.dataset)
    }
    rows = [
        row
        for overlap in site.overlaps
        for row in overlap.get("matrix", [])
        if row.get("dataset") in own and row.get("shared")
    ]
    measured = any(own & set(overlap.get("datasets", {})) for overlap in site.overlaps)
    if not measured:
        return [Text("Not measured here.")]
    if not rows:
        return [Text("None of its records was found in the others.")]
    rows.sort(key=lambda row: -row["shared"])
    columns: list[Column[JsonObject]] = [
        Column("Dataset", "other", link=lambda row: pages.get(row["other"])),
        Column("Records of this one in it", "shared"),
        Column("Share, %", lambda row: row["shared"] / max(1, row["records"]), percent),
    ]
    return [Table.of(columns, rows)]


def _loading(name: str, card: Card | None) -> list[str]:
    if card is None:
        return ["It is not in the catalogue: ask whoever audited it."]
    licence = f"Licence: {card.licence or 'not known'}."
    left = known_decay(card.name)
    decay = [f"What is left of its texts: {in_words(left)}."] if left else []
    return [card.access, f"`claimlab load {name} FILES -o {name}`", licence, *decay]


def _citing(card: Card | None) -> Blocks:
    if card is None:
        return [Text("No citation is known.")]
    homepage = [] if card.homepage is None else [("Homepage", card.homepage)]
    return [Text(card.citation, links=[("BibTeX", "cite.bib"), *homepage])]


def badge(audit: Audit) -> str:
    """A badge for a README: what the audit came to."""
    verdict = audit.conclusion.verdict
    words = f"claimlab: {excerpt(verdict.words, 80)}"
    colour = colours()[TONES[verdict.number]]
    width = 7 * len(words) + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="22" role="img"'
        f' aria-label="{escape(words)}"><rect width="{width}" height="22" rx="4" fill="{colour}"/>'
        f'<text x="10" y="15" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif"'
        f' font-size="11" textLength="{width - 20}">{escape(words)}</text></svg>\n'
    )
