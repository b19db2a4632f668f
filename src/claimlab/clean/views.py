"""What a cleaning run did, as lines of text and as blocks of an HTML page."""

from __future__ import annotations

import textwrap
from pathlib import Path

import polars as pl

from claimlab.clean.run import COUNTS, Cleaned
from claimlab.clean.statistics import Statistics
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Block, Cell, Quote, Report, Section, Table, Text, Tiles, decimal
from claimlab.pages.folder import Contents, write_report

ROWS_LISTED = 20
KIND = "cleaning report"
_PERSONAL = {"mail": "mail addresses", "phone": "phone numbers", "handle": "@handles"}
_SCAN = (
    "Counted by rule; names and postal addresses are not looked for. The step mask-personal"
    " replaces what is counted."
)


def stage_lines(stages: pl.DataFrame, width: int = 80) -> list[str]:
    """The stage table for a terminal; notes are wrapped to `width`."""
    indent = " " * 20

    def note(head: str, words: str) -> list[str]:
        return textwrap.wrap(
            words,
            max(width, 40),
            initial_indent=head,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )

    lines = [f"{'step':<20}{'in':>9}{'kept':>9}{'dropped':>9}{'doubtful':>10}{'changed':>9}"]
    for row in stages.iter_rows(named=True):
        if row["status"] == "not run":
            lines += note(f"{row['step']:<20}", f"not run: {row['note']}")
            continue
        lines.append(
            f"{row['step']:<20}{row['in']:>9,}{row['kept']:>9,}{row['dropped']:>9,}{row['doubtful']:>10,}{row['changed']:>9,}"
        )
        if row["note"]:
            lines += note(indent, row["note"])
    return lines


def class_lines(taken: pl.DataFrame) -> list[str]:
    """What each step takes from each class."""
    return [
        f"{step} takes "
        + ", ".join(
            f"{gone:,} of {before:,} '{label}' ({100 * gone / before:.0f}%)"
            for label, before, gone in rows.select("label", "before", "taken").sort("label").rows()
            if before
        )
        + "."
        for (step,), rows in taken.group_by("step", maintain_order=True)
    ]


def write_cleaning(cleaned: Cleaned, folder: Path, *, force: bool = False) -> None:
    """The report of a run in `folder`."""
    content = {"cleaning.json": to_json(cleaned)}
    write_report(Contents(KIND, [page(cleaned)], data=content), folder, force=force)


def to_json(cleaned: Cleaned) -> JsonObject:
    return {
        "stages": cleaned.stages.to_dicts(),
        "statistics": cleaned.statistics.texts.to_dicts(),
        "domains": cleaned.statistics.domains.to_dicts(),
        "personal": cleaned.statistics.personal.to_dicts(),
    }


def page(cleaned: Cleaned) -> Report:
    """The whole page of a run."""
    dataset = cleaned.dataset
    step = dataset.lineage[-1]
    subtitle = (
        f"Recipe {step.parameters['recipe']}, version {step.parameters['version']}; seed"
        f" {step.seed}."
    )
    blocks = [*stage_blocks(cleaned), *statistics_blocks(cleaned.statistics)]
    return Report(f"Cleaning {dataset.name}", subtitle, blocks)


def stage_blocks(cleaned: Cleaned) -> list[Block]:
    stages = cleaned.stages
    tiles = Tiles(
        [
            ("records in", f"{stages['in'][0]:,}", "plain"),
            ("kept", f"{cleaned.dataset.records.height:,}", "plain"),
            *((name, f"{cleaned.total(name):,}", "plain") for name in COUNTS),
        ]
    )
    columns = ["step", "in", "kept", *COUNTS, "note"]
    rows = [
        [
            (
                Cell("not run", tone="not-measured")
                if c == "kept" and r["status"] == "not run"
                else r[c]
            )
            for c in columns
        ]
        for r in stages.iter_rows(named=True)
    ]
    table = Table(
        [c.capitalize() for c in columns],
        rows,
        "Records that each stage kept, dropped, marked as doubtful or changed.",
    )
    return [tiles, Section("Stages", [table]), *_examples(cleaned)]


def _examples(cleaned: Cleaned) -> list[Block]:
    """The first few records that left, with the reason: a person must be able to disagree."""
    out: list[Block] = []
    for name in ("dropped", "doubtful"):
        rows = cleaned.dataset.tables.get(name)
        if rows is None or not rows.height:
            continue
        each = rows.group_by("step", maintain_order=True).head(3).head(ROWS_LISTED)
        quotes = [
            Quote((r["text"] or "")[:300], f"{r['id']}, {r['step']}: {r['reason']}")
            for r in each.iter_rows(named=True)
        ]
        out.append(
            Section(
                f"Some of what is {name}",
                [Text(f"{rows.height:,} in all: {name}.parquet."), *quotes],
            )
        )
    return out


def statistics_blocks(statistics: Statistics) -> list[Block]:
    titles = [
        "Label",
        "Records",
        "% with URL",
        "Words",
        "Word length",
        "Sentences",
        "Words per sentence",
    ]
    rows = [[r[0], r[1], *(decimal(v) for v in r[2:])] for r in statistics.texts.iter_rows()]
    cited_domains = statistics.domains
    names = [c for c in cited_domains.columns if c not in ("domain", "mentions")]
    cited = [
        [
            r["domain"],
            r["mentions"],
            *(x for n in names for x in (r[n], decimal(100 * r[n] / r["mentions"]))),
        ]
        for r in cited_domains.iter_rows(named=True)
    ]
    scan = [[_PERSONAL[kind], records, n] for kind, records, n in statistics.personal.iter_rows()]
    heads = ["Domain", "Mentions", *(x for n in names for x in (n, f"% {n}"))]
    return [
        Section(
            "Texts", [Table(titles, rows, "Averages per record; words and sentences without URLs.")]
        ),
        Section(
            "Domains",
            (
                [Table(heads, cited, "The domains that texts mention most.")]
                if cited
                else [Text("No text cites a URL.")]
            ),
        ),
        Section("Personal data", [Table(["Kind", "Records", "Occurrences"], scan, _SCAN)]),
    ]
