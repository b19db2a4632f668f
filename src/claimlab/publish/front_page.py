"""The front page of a site: the matrix of datasets and checks, the results and the changes."""

from __future__ import annotations

from collections.abc import Iterator

from claimlab.audit.views.tables import MATRIX_NOTE
from claimlab.audit.views.wording import MARKS, VERDICT_WORDS, check_title
from claimlab.catalog.views import language_names
from claimlab.core.finding import UNMEASURED, VERDICTS, Finding
from claimlab.pages.blocks import Blocks, Cell, Items, Report, Section, Table, Text, Tiles, Value
from claimlab.publish.site_content import FEED, Site, card_of, stamp, title_of

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
            blocks += [tiles, Section("Datasets", [_matrix(site, detail)], "datasets")]
        if site.results:
            links = [(name, f"results/{name}.html") for name in site.results]
            blocks.append(Section("Results", [Text("Leaderboards and studies:", links=links)]))
        changes = [
            f"{change['day']}, {change['title']}: {change['text']}" for change in site.changes[:10]
        ]
        blocks.append(Section("Changes", [Items(changes), Text("", links=[("Feed", FEED)])]))
        yield Report("What each dataset can be used for", stamp(site), blocks)


def _matrix(site: Site, detail: int) -> Table:
    checks, empty = _checks(site)
    rows: list[list[Value]] = []
    for name, audit in sorted(site.audits.items(), key=lambda item: title_of(item[1]).casefold()):
        page, card = f"datasets/{name}/index.html", card_of(audit)
        counts, many = audit.counts(), len(card.languages) if card else 0
        languages = f"{many} languages" if many > 2 or card is None else language_names(card)
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
