"""The gallery's page: a matrix of datasets by checks, the published verdicts beside ours, and a
section per dataset.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from claimlab.audit.check import CHECKS
from claimlab.audit.run import default_checks
from claimlab.audit.views.wording import MARKS, VERDICT_WORDS, finding_title
from claimlab.catalog.entry import Entry
from claimlab.catalog.load import DATASETS
from claimlab.catalog.views.card import heading
from claimlab.catalog.views.docs import anchor
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.words import several

Row = dict[str, Any]
PUBLISHED = {
    "keywords": "keywords",
    "time": "temporal",
    "feasibility": "feasibility",
}  # check -> field of the card
GRADES = {"pass": "✓", "fail": "✗"}
ACTIONS = {  # what a failed check asks for, in a few words
    "author": "hold out whole authors",
    "source": "hold out whole sources",
    "topic": "hold out whole topics",
    "event": "hold out whole events",
    "url": "hold out whole sites, or mask links",
    "time": "split by time",
    "near-duplicates": "split by near-duplicates",
    "paraphrases": "report the score without paraphrases too",
    "columns": "drop the columns that give the label away",
    "missing": "drop columns that only one class fills",
    "giveaways": "mask one-sided words",
    "surface": "normalise how texts are typed",
    "length": "report what length alone scores",
    "keywords": "report what 40 words alone score",
    "language": "report per language",
    "balance": "report per slice",
    "evidence": "report claim and evidence alone",
    "identical-texts": "review contradicting copies",
    "url-conflicts": "review URLs with two labels",
    "label-errors": "review suspect labels",
    "one-class": "add another class",
    "feasibility": "report checkable claims apart",
    "copies": "remove copies",
    "order": "shuffle before splitting",
    "identifiers": "do not give ids and addresses to a model",
    "text-columns": "report what other texts alone score",
}
RANK = {verdict: str(place) for place, verdict in enumerate(VERDICTS)}

HEAD = """---
hide: [navigation, toc]
---

# What the field's datasets can carry

<!-- Generated; to renew it: make gallery -->

Each dataset whose published files were at hand, put to every check of [`claimlab audit`](audit.md) with the same rule,
protocol `fair`, seed 0. A score is the macro-F1 of one feature *alone* (50 is chance for two classes), with its 95%
interval. **A fail is not a verdict on the dataset's authors**: it says that a detector can score well without reading
the claim, so a score needs the split or the comparison that the audit advises. What a verdict means is in
[Methods](methods.md#the-verdict).

✗ fail · ! warn · ? inconclusive · ✓ pass · – not measured, which is never a pass. *Published* is the verdict of
[the guide](papers.md#guide), with its figure where it prints one. Records are those of the files at hand, often a part
of what was published; the [cards](datasets.md) say which. The page holds aggregates only, no records.
"""  # noqa: E501


def page(results: list[Row]) -> str:
    rows = sorted((r for r in results if r.get("labelled")), key=lambda r: title(r).casefold())
    rest = sorted((r for r in results if not r.get("labelled")), key=lambda r: title(r).casefold())
    shown = [c for c in default_checks("fair") if any(measured(r, c) for r in rows)]
    lines = [
        HEAD,
        "## At a glance",
        "",
        *glance(rows),
        "",
        "## Matrix",
        "",
        "Click a column header to sort.",
        "",
    ]
    lines += ['<div class="sortable matrix" markdown>', "", *matrix(rows, shown), "", "</div>", ""]
    lines += [
        "## Published verdicts beside ours",
        "",
        *beside(rows),
        "",
        "## Dataset by dataset",
        "",
    ]
    for row in rows:
        lines += section(row)
    lines += ["## Not audited", "", "| dataset | records | why |", "|---|---|---|"]
    lines += [f"| {link(r)} | {number(r.get('records'))} | {reason(r)} |" for r in rest]
    return "\n".join(lines) + "\n"


def entry(row: Row) -> Entry:
    return DATASETS.get(row["dataset"])


def title(row: Row) -> str:
    return entry(row).card.title


def link(row: Row) -> str:
    return f"[{title(row)}](datasets.md#{anchor(heading(entry(row)))})"


def number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def measured(row: Row, check: str) -> bool:
    known = row["checks"].get(check)
    return known is not None and known["verdict"] != "not-measured"


def glance(rows: list[Row]) -> list[str]:
    """How often each check fails, warns, passes or could not be measured."""
    lines = [
        "| check | question | fail | warn | inconclusive | pass | not measured |",
        "|---|---|---|---|---|---|---|",
    ]
    for check in default_checks("fair"):
        counts = Counter(r["checks"].get(check, {}).get("verdict", "not-measured") for r in rows)
        lines.append(
            f"| `{check}` | {CHECKS.get(check).question} | "
            + " | ".join(str(counts[v]) for v in VERDICTS)
            + " |"
        )
    failing = sum(counted(r)["fail"] > 0 for r in rows)
    sentence = (
        f"Of {len(rows)} datasets with true or false labels, {failing} fail at least one check. "
        "A dataset without a column (dates, authors, evidence) cannot be measured on it."
    )
    return [sentence, "", *lines]


def counted(row: Row) -> Counter[str]:
    """How many checks came to each verdict, the most severe finding of each counting."""
    return Counter(known["verdict"] for known in row["checks"].values())


def matrix(rows: list[Row], checks: list[str]) -> list[str]:
    heads = []
    for check in checks:
        heads += [check, f"{check}, published"] if check in PUBLISHED else [check]
    lines = [
        "| dataset | records | fail | warn | " + " | ".join(heads) + " |",
        "|" + "---|" * (4 + len(heads)),
    ]
    for row in rows:
        cells = []
        for check in checks:
            cells += (
                [cell(row, check), published(row, check)]
                if check in PUBLISHED
                else [cell(row, check)]
            )
        here = f"[{title(row)}](#{row['dataset']})"
        counts = f"{counted(row)['fail']} | {counted(row)['warn']}"
        lines.append(f"| {here} | {row['labelled']:,} | {counts} | " + " | ".join(cells) + " |")
    return lines


def cell(row: Row, check: str) -> str:
    known = row["checks"].get(check) or {"verdict": "not-measured", "why": "The check was not run."}
    verdict = known["verdict"]
    figure = "" if known.get("score") is None else f" {100 * known['score']:.0f}"
    hint = sentence(known).replace('"', "'").replace("|", "/")
    return (
        f'<span class="v {verdict}" data-sort="{RANK[verdict]}"'
        f' title="{hint}">{MARKS[verdict]}{figure}</span>'
    )


def published(row: Row, check: str) -> str:
    card = entry(row).card
    grade = getattr(card.quality, PUBLISHED[check], None) if card.quality else None
    figure = getattr(
        card.published, {"keywords": "keywords_tf", "time": "temporal"}.get(check, ""), None
    )
    shown = f"{GRADES[grade]}{f' {figure:.0f}' if figure is not None else ''}" if grade else "·"
    return f'<span class="v {grade or "none"}">{shown}</span>'


def beside(rows: list[Row]) -> list[str]:
    """Where the guide and we both have a verdict."""
    lines = ["| check | dataset | published | ours | |", "|---|---|---|---|---|"]
    counts: Counter[str] = Counter()
    for check, field in PUBLISHED.items():
        for row in rows:
            grade = getattr(entry(row).card.quality, field, None)
            if grade is None or not measured(row, check):
                continue
            ours = row["checks"][check]["verdict"]
            agree = (
                "open"
                if ours == "inconclusive"
                else "agree"
                if (ours != "pass") == (grade == "fail")
                else "differ"
            )
            counts[agree] += 1
            words = f"{VERDICT_WORDS[ours]}: {sentence(row['checks'][check])}"
            lines.append(
                f"| {check} | {title(row)} | {published(row, check)} {grade} | {words} | {agree} |"
            )
    summary = (
        f"{counts.total()} verdicts can be compared: {counts['agree']} agree (our warn counts as a"
        f" fail), {counts['differ']} differ, {counts['open']} are inconclusive here. The rows are"
        " not always the same: here, the default variant and label map of the files at hand. The"
        " published protocol has no interval and no baseline on permuted labels, and often answers"
        " the majority class: [why figures differ](benchmarks/published-checks.md). Feasibility is"
        " measured only where the files hold annotations."
    )
    return [summary, "", *lines]


def section(row: Row) -> list[str]:
    """One dataset: what it comes to, in a sentence, and the findings behind it."""
    card, counts = entry(row).card, counted(row)
    variant = (
        f", variant `{row['variant']}`"
        if row.get("variant") and len(entry(row).variants) > 1
        else ""
    )
    part = f"; published size {card.size:,}" if card.size else ""
    limited = (
        f" The first {row['audited']:,} records were audited."
        if row["audited"] < row["records"]
        else ""
    )
    tally = ", ".join(f"{counts[v]} {VERDICT_WORDS[v]}" for v in VERDICTS if counts[v])
    steps = [
        ACTIONS[c] for c, f in row["checks"].items() if f["verdict"] == "fail" and c in ACTIONS
    ]
    todo = (
        f"Before you report a score: {'; '.join(steps)}."
        if steps
        else "No check fails; see what was not measured."
    )
    lines = [
        f'### <span id="{row["dataset"]}">{card.title}</span>',
        "",
        (
            f"{several(row['labelled'], 'labelled record')} of"
            f" {row['records']:,}{part}{variant}.{limited} **Checks: {tally}.**"
            f" [Card](datasets.md#{anchor(heading(entry(row)))})"
        ),
        "",
        todo,
        "",
    ]
    for verdict in ("fail", "warn", "inconclusive"):
        mine = {c: f for c, f in row["checks"].items() if f["verdict"] == verdict}
        lines += [
            f"- **{VERDICT_WORDS[verdict]}**, {name(c, f)}: {sentence(f)}" for c, f in mine.items()
        ]
    for verdict in ("pass", "not-measured"):
        mine = [c for c, f in row["checks"].items() if f["verdict"] == verdict]
        lines += [f"- {VERDICT_WORDS[verdict]}: {', '.join(mine)}."] if mine else []
    return [*lines, ""]


def name(check: str, known: Row) -> str:
    return finding_title(
        Finding(check=check, protocol="fair", verdict="pass", why="-", feature=known.get("feature"))
    ).lower()


def sentence(known: Row) -> str:
    """The figures of a finding in a sentence; those without a score in the words of the check."""
    if known.get("score") is not None and known.get("interval") and known.get("best") is not None:
        low, high = (100 * end for end in known["interval"])
        return (
            f"macro-F1 {100 * known['score']:.1f} ({low:.1f} to {high:.1f}); best baseline"
            f" {100 * known['best']:.1f}."
        )
    plain = re.sub(r"(\d) %", r"\1%", known["why"]).replace("|", "/")
    first = re.split(r"(?<=\.) (?=[A-Z])", plain)[0].rstrip(".")
    first = re.sub(r" \([^()]*'[^()]*\)", "", first)  # examples in quotes are left out
    first = re.sub(
        r"[; ]*\(?fail(?: from|: )[^()]*(?:\)|$)", lambda m: "" if "(" in m[0] else ")", first
    )  # so is the rule
    return re.split(r"; (?![^(]*\))", first)[0] + "."


def reason(row: Row) -> str:
    if "problem" in row:
        return "The files at hand are not the ones that the loader reads."
    if not row.get("labelled"):
        return (
            "Under its default label map no record is true or false: there is nothing to predict."
        )
    return ""
