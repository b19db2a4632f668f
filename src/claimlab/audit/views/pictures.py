"""The pictures of an audit, drawn from its findings: where a picture says more than its
sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from claimlab.audit.result import Audit
from claimlab.audit.rule import FEASIBLE
from claimlab.audit.views.wording import RATE_CHECKS, finding_title, ordered
from claimlab.core.finding import Finding
from claimlab.pages.blocks import Figure, excerpt
from claimlab.pages.charts import Dot, bars, colours_of, distinct, dots, histogram
from claimlab.pages.scatter import Side, scatter

MOST_BARS = 15
MAX_SIDES = 4  # classes that get a picture of their words when there are more than two


def overview(audit: Audit, name: str) -> list[Figure]:
    """Every macro-F1 of the audit with its interval, against its baselines."""
    rows = [
        Dot(_short_title(f), f.score, f.interval, f.verdict, _known(f))
        for f in ordered(audit.findings)
        if f.score is not None and f.check not in RATE_CHECKS
    ]
    if not rows:
        return []
    return [
        Figure(
            dots(rows, title="macro-F1, %"),
            "What each feature alone gives away: the dot is its macro-F1, the bar its 95% interval,"
            " the grey marks the baselines.",
            "Macro-F1 of each check with its interval against its baselines",
            f"{name}-overview",
        )
    ]


def _short_title(finding: Finding) -> str:
    """The title beside an axis; a long one begins with the name of the check."""
    title = finding_title(finding)
    return title if len(title) <= 40 else excerpt(f"{finding.check} · {finding.feature}", 48)


def feasibility(audits: Sequence[Audit], name: str) -> list[Figure]:
    """The feasible share per dataset and judge, against the threshold."""
    rows = [
        Dot(
            excerpt(f"{audit.dataset} · {f.feature}" if len(audits) > 1 else str(f.feature), 48),
            f.score,
            f.interval,
            f.verdict,
            {name: f.details[name] for name in ("lower", "upper") if name in f.details},
        )
        for audit in audits
        for f in audit.findings
        if f.check == "feasibility" and f.score is not None
    ]
    if not rows:
        return []
    return [
        Figure(
            dots(rows, title="records judged feasible, %", threshold=FEASIBLE),
            "Share of records that can be checked, with its 95% interval; dashed:"
            f" {100 * FEASIBLE:.0f}%.",
            "Feasible share per dataset with its interval against the threshold",
            f"{name}-feasibility",
        )
    ]


def of_finding(
    finding: Finding, name: str, link: Callable[[str], str] | None = None
) -> list[Figure]:
    """The pictures of one finding; none where its sentence says it all. Words lead to where `link`
    says.
    """
    details = finding.details
    out: list[Figure] = []
    if details.get("cloud"):
        out += _clouds(details["cloud"], name, link)
    if details.get("histogram", {}).get("edges"):
        out.append(_histogram(finding, details["histogram"], name))
    for table in ("values", "slices"):
        if details.get(table):
            out.append(_purity(details[table], table, name))
    return out


def _clouds(cloud: Mapping[str, Any], name: str, link: Callable[[str], str] | None) -> list[Figure]:
    """Two classes against each other; with more, each against all the others together."""
    sizes: dict[str, int] = cloud["sizes"]
    sides = [Side(c, sizes[c], cloud["counts"][c]) for c in sizes]
    if len(sides) < 2 or not cloud["words"]:
        return []
    couples = (
        [(sides[0], sides[1])]
        if len(sides) == 2
        else [(_others(s, sides), s) for s in sides[:MAX_SIDES]]
    )
    return [
        Figure(
            scatter(cloud["words"], across, up, link),
            f"Each dot is one of {len(cloud['words'])} words: how frequent it is in records"
            f" labelled “{across.name}” and “{up.name}” (logarithmic). Words far from the dashed"
            " line give the label away.",
            f"Words by how frequent they are in {across.name} and in {up.name}",
            f"{name}-words" + (f"-{number + 1}" if len(couples) > 1 else ""),
        )
        for number, (across, up) in enumerate(couples)
    ]


def _others(side: Side, sides: Sequence[Side]) -> Side:
    rest = [s for s in sides if s is not side]
    summed = [sum(column) for column in zip(*(s.counts for s in rest), strict=True)]
    return Side("any other", sum(s.size for s in rest), summed)


def _histogram(finding: Finding, bins: Mapping[str, Any], name: str) -> Figure:
    dates = bool(bins.get("dates"))
    what = finding.feature or "characters"
    longest = bins.get("longest", bins["edges"][-1])
    more = f" The last bar includes all longer ones (up to {longest:,.0f})."
    more = more if longest > bins["edges"][-1] else ""
    chart = histogram(bins["edges"], bins["counts"], title=what, dates=dates)
    caption = f"Records of each class by {what}; bars of the classes overlap.{more}"
    return Figure(chart, caption, f"Histogram of {what} per class", f"{name}-histogram")


def _purity(rows: Sequence[Mapping[str, Any]], table: str, name: str) -> Figure:
    rows_drawn = rows[:MOST_BARS]
    names = distinct(
        f"{excerpt(str(row['value']), 34)} ({sum(row['counts'].values()):,})" for row in rows_drawn
    )
    data = [
        {"value": name, "class": c, "n": n}
        for name, row in zip(names, rows_drawn, strict=True)
        for c, n in row["counts"].items()
    ]
    colours = colours_of(rows[0]["counts"])
    chart = bars(
        data,
        category="value",
        value="n",
        colour="class",
        colours=colours,
        title="share",
        stack="normalize",
        width=460,
    )
    which = "largest" if table == "slices" else "most telling"
    caption = (
        f"Classes within the {len(rows_drawn)} {which} {table}; the number of records is in"
        " parentheses."
    )
    alt = f"Bars of class shares per {table.removesuffix('s')}"
    return Figure(chart, caption, alt, f"{name}-{table}")


def _known(finding: Finding) -> dict[str, float]:
    baselines = finding.baselines.model_dump().items()
    return {name.replace("_", " "): value for name, value in baselines if value is not None}
