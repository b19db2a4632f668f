"""The front page of a site: the matrix of datasets and checks, the results and the changes."""

from __future__ import annotations

from collections.abc import Iterator

from claimlab.audit.result import Audit
from claimlab.audit.views.first_screen import in_a_sentence, tone_of, verdict_words
from claimlab.audit.views.tables import MATRIX_NOTE
from claimlab.audit.views.wording import MARKS, VERDICT_WORDS, check_title
from claimlab.catalog.entry import Card as CatalogCard
from claimlab.catalog.views import language_names
from claimlab.core.finding import UNMEASURED, VERDICTS, Finding
from claimlab.core.words import several
from claimlab.pages.blocks import (
    Badge,
    Blocks,
    Card,
    Cell,
    Grid,
    Items,
    Report,
    Results,
    Section,
    Shares,
    Table,
    Text,
    Tiles,
    Tone,
    Value,
)
from claimlab.publish.site_content import FEED, Site, card_of, stamp, title_of

# words that a card may hold; a chip that would show all or none is left out
CHIPS = ("Nothing found", "On one split only", "Usable beside", "Not usable", "English")
INTRODUCTION = (
    "Each audit asks what a detector could use instead of reading the claim. A fail does not judge"
    " a dataset's authors: it means that a score needs the split or the comparison that is named on"
    " the page of the dataset. What was not measured is not a pass."
)


def front_page(site: Site) -> Iterator[Report]:
    """The front page; where it is too large, without what is shown on hover, then without links."""
    labelled = [audit for audit in site.audits.values() if audit.labelled]
    failing = sum(audit.counts()["fail"] > 0 for audit in labelled)
    unmeasured = sum(audit.counts()["not-measured"] for audit in labelled)
    without = len(site.audits) - len(labelled)
    tiles = Tiles(
        [
            ("datasets with labels", f"{len(labelled):,}", "plain"),
            ("with a fail", f"{failing:,}", "fail" if failing else "pass"),
            ("checks not measured", f"{unmeasured:,}", "plain"),
            ("without labels", f"{without:,}", "plain"),
        ]
    )
    for detail in (2, 1, 0):
        blocks: Blocks = [Text(INTRODUCTION)]
        if site.audits:
            blocks += [tiles, _cards(site, detail)]
            matrix = [_matrix(site, detail)]
            n = f"{len(site.audits):,}"
            blocks.append(
                Section("Every dataset and check", matrix, "datasets", folded=True, says=n)
            )
        if site.results:
            links = [(name, f"results/{name}.html") for name in site.results]
            blocks.append(Section("Results", [Text("Leaderboards and studies:", links=links)]))
        changes = [
            f"{change['day']}, {change['title']}: {change['text']}" for change in site.changes[:10]
        ]
        blocks.append(Section("Changes", [Items(changes), Text("", links=[("Feed", FEED)])]))
        yield Report("Which dataset can carry your result?", stamp(site), blocks)


def _cards(site: Site, detail: int) -> Grid:
    """A card for each dataset: its size, verdict, classes and results, and what was found."""
    cards = []
    for name, audit in _in_order(site):
        card, (head, _) = card_of(audit), in_a_sentence(audit)
        about = [f"{audit.labelled:,} labelled of {several(audit.records, 'record')}"]
        about += [] if card is None else [card.topic, _languages(card)]
        counts: dict[Tone, int] = {verdict: n for verdict, n in audit.counts().items() if n}  # type: ignore[misc]
        classes = next((f.classes for f in audit.findings if f.check == "one-class"), {})
        blocks: Blocks = [
            Text(" · ".join(filter(None, about)), "note"),
            Badge(verdict_words(audit), tone_of(audit)),
        ]
        blocks += [Shares(classes)] if classes and detail else []
        blocks += [Results(counts)] if detail > 1 else []
        cards.append(Card(title_of(audit), [*blocks, Text(head)], link=_page(name)))
    return Grid(cards, CHIPS)


def _in_order(site: Site) -> list[tuple[str, Audit]]:
    return sorted(site.audits.items(), key=lambda item: title_of(item[1]).casefold())


def _page(name: str) -> str:
    return f"datasets/{name}/index.html"


def _languages(card: CatalogCard | None) -> str:
    many = len(card.languages) if card else 0
    return f"{many} languages" if many > 2 or card is None else language_names(card)


def _matrix(site: Site, detail: int) -> Table:
    checks, empty = _checks(site)
    rows: list[list[Value]] = []
    for name, audit in _in_order(site):
        page, card, counts = _page(name), card_of(audit), audit.counts()
        languages = _languages(card)
        rows.append(
            [
                Cell(title_of(audit), link=page),
                audit.concluded().verdict.words,
                audit.labelled,
                counts["fail"],
                counts["warn"],
                *(_mark(audit.worst(check), page, detail) for check in checks),
                *([] if card is None else [card.topic, languages]),
            ]
        )
    in_catalogue = any(map(card_of, site.audits.values()))  # only the catalogue knows these
    heads, about = (
        ["Dataset", "Verdict", "Labelled", "Fail", "Warn"],
        ["Topic", "Languages"] if in_catalogue else [],
    )
    for row in rows:
        row.extend([""] * (len(heads + checks + about) - len(row)))
    caption = f"{MATRIX_NOTE} Scroll sideways for all checks; the address keeps filter and order."
    caption += f" Measured in no dataset: {', '.join(empty)}." if empty else ""
    return Table([*heads, *checks, *about], rows, caption, upright=True)


def _checks(site: Site) -> tuple[list[str], list[str]]:
    """The checks that were measured in a dataset, and those that were in none."""
    findings = [finding for audit in site.audits.values() for finding in audit.findings]
    names = {finding.check for finding in findings}
    every = (inner for finding in findings for inner in finding.every)
    measured = {finding.check for finding in every if finding.verdict not in UNMEASURED}
    return sorted(names & measured), sorted(names - measured)


def _mark(finding: Finding | None, page: str, detail: int) -> Cell:
    if finding is None:
        return Cell("·", sort=9.0)
    score = "" if finding.score is None else f" {100 * finding.score:.0f}"
    measured = finding.verdict not in UNMEASURED
    words = f"{check_title(finding.check)}: {VERDICT_WORDS[finding.verdict]}"
    return Cell(
        MARKS[finding.verdict] + score,
        float(VERDICTS.index(finding.verdict) - (finding.score or 0.0) / 2),
        finding.verdict,
        link=f"{page}#{finding.check}" if measured and detail else None,
        title=words if measured and detail > 1 else None,
    )
