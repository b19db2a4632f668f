"""The docs page of all datasets, from their cards: `python -m manual.datasets
docs/datasets.md`.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from claimlab.catalog.entry import Entry, loader_state
from claimlab.catalog.front import everything
from claimlab.catalog.listing import LEGEND, SIGNED, languages
from claimlab.catalog.notes import differences
from claimlab.catalog.views import heading, language_names, period, years
from claimlab.core.atomic import atomic_text
from claimlab.pages.blocks import cell as as_cell

HEAD = (
    *("Dataset", "Size", "Kind", "Topic", "Languages", "Years"),
    *(column.head for column in SIGNED),
    *("Licence", "Loader"),
)


def page(entries: Sequence[Entry], audited: Collection[str] = ()) -> str:
    """The page: a table of all datasets, and a section for each, with a link to the audit of those
    in `audited`.
    """
    states = Counter(loader_state(e) for e in entries)
    intro = (
        f"{len(entries)} datasets; {states['tested on the published files']} loaders are tested on"
        f" the published files, {states['not yet tested']} only on synthetic files in the"
        f" documented layout, and {states['none']} datasets have none. `claimlab catalog show NAME`"
        " shows a card in full."
    )
    rows = ["| " + " | ".join(map(cell, row(e))) + " |" for e in entries]
    lines = [
        "# Datasets",
        "",
        (
            "<!-- Generated from the cards; to renew it: python -m manual.datasets"
            " docs/datasets.md -->"
        ),
        "",
        intro,
        "",
        (
            f'{LEGEND[0]} Sizes are as published. "The guide" is [the survey of 75'
            " datasets](papers.md#guide) that the published verdicts are from."
        ),
        "",
        "| " + " | ".join(HEAD) + " |",
        "|" + "---|" * len(HEAD),
        *rows,
    ]
    for entry in entries:
        lines += ["", *section(entry, audited=entry.card.name in audited)]
    return "\n".join(lines) + "\n"


def row(entry: Entry) -> list[str]:
    """The columns of the page, as Markdown has them: nothing is cut."""
    card = entry.card
    return [
        f"[{card.title}](#{anchor(heading(entry))})",
        as_cell(card.size).text,
        ", ".join(card.modality),
        card.topic,
        languages(card),
        years(card),
        *(as_cell(column.of(entry)).text for column in SIGNED),
        card.licence or "not known",
        loader_state(entry),
    ]


def section(entry: Entry, *, audited: bool = False) -> list[str]:
    card = entry.card
    state = loader_state(entry)
    loads = {
        "tested on the published files": "Loader: tested on the published files.",
        "not yet tested": (
            "Loader: not yet tested on the published files, only on synthetic ones in their layout."
        ),
        "none": f"Loader: none. {entry.no_loader or ''}".strip(),
    }[state]
    names = f" Variants: {', '.join(entry.variants)}." if entry.variants else ""
    maps = f" Label maps: {', '.join(entry.maps)}." if entry.maps else ""
    return [
        f"## {heading(entry)}",
        "",
        escape(card.summary),
        "",
        f"- Languages: {escape(language_names(card))}. Data from: {escape(period(card))}.",
        f"- {escape(loads + names + maps)}",
        f"- {escape(card.access)}" + (f" <{card.homepage}>" if card.homepage else ""),
        f"- Cite: {escape(card.citation)}",
        *(
            [f"- Audit: [what a detector can exploit in it](gallery.md#{card.name})."]
            if audited
            else []
        ),
        *(f"- Caution: {escape(caution)}" for caution in card.errata),
        *(f"- Differs from the files: {escape(difference)}" for difference in differences(entry)),
    ]


def anchor(title: str) -> str:
    """The anchor that Markdown viewers give a heading."""
    letters = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return letters.replace(" ", "-")


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def escape(text: str) -> str:
    """Our own words as plain text: no tag and no emphasis can come of them."""
    return text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def audited_in(gallery: Path) -> set[str]:
    """The datasets that the page of audits has a row for."""
    return set(
        re.findall(r'^\| <span id="([^"]+)">', gallery.read_text(encoding="utf-8"), re.MULTILINE)
    )


def main() -> None:
    target = Path(sys.argv[1])
    gallery = target.parent / "gallery.md"
    atomic_text(target, page(everything(), audited_in(gallery) if gallery.exists() else ()))


if __name__ == "__main__":
    main()
