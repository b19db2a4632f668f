"""The gallery's page: how often each check fails, and a line for each dataset; the site has the
rest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from claimlab.audit.result import Audit
from claimlab.audit.run import default_checks
from claimlab.catalog.load import DATASETS
from claimlab.core.finding import VERDICTS
from claimlab.core.words import several
from claimlab.publish.aggregates import summary
from claimlab.tasks import TRUTH

# check -> field of the card
PUBLISHED = {"keywords": "keywords", "time": "temporal", "feasibility": "feasibility"}

HEAD = """# What each public dataset can be used for

<!-- Generated; to renew it: make gallery -->

How many checks of [`claimlab audit`](audit.md) each public dataset fails, for all datasets whose published files we have (protocol `fair`, seed 0).
`make gallery` writes this page and a [site](publish.md#a-site-of-audits) with the verdicts of each dataset and what to do before a score is reported.

**A fail is not a criticism of the authors.** It means that a detector can score well without reading the claim, so a score needs the split or the comparison
that the audit advises. "Not measured" is never a pass ([Methods](methods.md#the-verdict)). Our files are often only a part of what was published; the
[cards](datasets.md) say which. Aggregates only, no records.
"""  # noqa: E501


@dataclass(frozen=True)
class Row:
    """A dataset: its audit, or why there is none."""

    name: str
    records: int | None
    audit: Audit | None
    problem: str | None = None

    @property
    def title(self) -> str:
        return DATASETS.get(self.name).card.title

    @property
    def task(self) -> str:
        """The task in brackets, where the labels are not about veracity."""
        task = TRUTH if self.audit is None else self.audit.target
        return "" if task == TRUTH else f" ({task})"

    @property
    def verdicts(self) -> dict[str, str]:
        verdicts: dict[str, str] = summary(self.audit)["verdicts"] if self.audit else {}
        return verdicts

    @property
    def labelled(self) -> int:
        return 0 if self.audit is None else self.audit.labelled


def page(rows: list[Row]) -> str:
    listed = sorted(rows, key=lambda row: row.title.casefold())
    audited = [row for row in listed if row.labelled]
    rest = [row for row in listed if not row.labelled]
    lines = [HEAD, "## At a glance", "", *glance(audited), "", agreement(audited), ""]
    lines += ["## Datasets", "", *datasets(audited), ""]
    if rest:
        names = ", ".join(f'<span id="{row.name}">{row.title}</span>' for row in rest)
        lines += [
            "## Not audited",
            "",
            "Under the default label map no record has a class of the dataset's task, or the files"
            f" at hand are not those that the loader reads: {names}.",
        ]
    return "\n".join(lines).rstrip() + "\n"


def glance(rows: list[Row]) -> list[str]:
    """How often each check fails, warns, passes or could not be measured."""
    failing = sum("fail" in row.verdicts.values() for row in rows)
    verdicts = sum(not row.task for row in rows)
    lines = [
        f"Of {len(rows)} datasets, {failing} fail at least one check. {verdicts} are about"
        " veracity; for the others, the task follows the name.",
        "",
        "| check | fail | warn | inconclusive | pass | not measured |",
        "|---|---|---|---|---|---|",
    ]
    for check in default_checks("fair"):
        counts = Counter(row.verdicts.get(check, "not-measured") for row in rows)
        if counts["not-measured"] == len(rows) > 1:
            continue
        figures = " | ".join(str(counts[verdict]) for verdict in VERDICTS)
        lines.append(f"| `{check}` | {figures} |")
    return lines


def agreement(rows: list[Row]) -> str:
    """Where the guide and we both have a verdict."""
    counts: Counter[str] = Counter()
    for check, field in PUBLISHED.items():
        for row in rows:
            grade = getattr(DATASETS.get(row.name).card.quality, field, None)
            ours = row.verdicts.get(check, "not-measured")
            if grade is None or ours == "not-measured":
                continue
            same = (ours != "pass") == (grade == "fail")
            counts["open" if ours == "inconclusive" else "agree" if same else "differ"] += 1
    return (
        f"Of the verdicts that [the guide](papers.md#guide) publishes, {counts.total()} can be"
        f" compared. Agree: {counts['agree']} (our warn counts as a fail); differ:"
        f" {counts['differ']}; inconclusive here: {counts['open']}. [Why figures"
        " differ](benchmarks/published-checks.md)."
    )


def datasets(rows: list[Row]) -> list[str]:
    lines = ["| dataset | labelled | fail | warn | pass |", "|---|---|---|---|---|"]
    for row in rows:
        counts = row.audit.counts() if row.audit else Counter()
        figures = f"{counts['fail']} | {counts['warn']} | {counts['pass']}"
        name = f'<span id="{row.name}">{row.title}</span>{row.task}'
        lines.append(f"| {name} | {row.labelled:,} | {figures} |")
    head = (
        f"{several(len(rows), 'dataset')}: labelled records, and findings by verdict, of which a"
        " check can have several."
    )
    return [head, "", *lines]
