"""A static site of audits, boards, studies and overlaps: a matrix of datasets and checks, a page,
figures and a badge for each dataset, and a feed of changes.

Only aggregates leave: no record, no id, no text of one, no word of the data. A page reads without a
network; one that would be larger than 300 kB is written shorter.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

from claimlab.audit.result import FILE as AUDIT
from claimlab.catalog.citation import bibtex
from claimlab.core.call import repeatable
from claimlab.core.choices import each_of
from claimlab.core.guard import seal_folder
from claimlab.core.options import Argument, Force, OutputFolder, Place, Setting
from claimlab.core.progress import progress
from claimlab.core.run import Run
from claimlab.core.types import Json
from claimlab.pages.blocks import Report, Text
from claimlab.pages.html import to_html_within
from claimlab.publish.dataset_page import BADGE, badge, dataset_pages
from claimlab.publish.feed import changes_since, feed
from claimlab.publish.front_page import front_page
from claimlab.publish.results_page import results_of
from claimlab.publish.site_content import FEED, Site, card_of, read_json, site_of, stamp

KIND, FILE = "site", "site.json"
MOST_PAGE_BYTES = 300_000  # of a page


@repeatable()
def publish_site(
    folders: Annotated[
        Place | Sequence[Place],
        Argument("Folders of audits, overlaps, boards and studies, or a folder of such folders."),
    ],
    output: OutputFolder = None,
    *,
    as_of: Annotated[date | None, Setting("The day to print; today by default.")] = None,
    force: Force = False,
) -> Site:
    """Write a static site: a matrix, a page with badge and figures for each dataset, and a feed of
    what changed since the site that it replaces.
    """
    places = [Path(place) for place in each_of(folders)]
    with Run(
        "publish site",
        None,
        output,
        kind=KIND,
        reads=places,
        force=force,
    ) as run:
        site = site_of(places, as_of or date.today())
        earlier = Path(output or "") / FILE  # of the site that is to be replaced
        before = read_json(earlier) if output is not None and earlier.is_file() else {}
        site.changes.extend(changes_since(site, before))
        run.fill(lambda building: _write(site, building))
    return site


def _write(site: Site, folder: Path) -> None:
    """Every page and file of the site."""
    files: dict[str, str] = {
        "index.html": to_html_within(front_page(site), MOST_PAGE_BYTES),
        FILE: _dumped(site.to_json()),
        FEED: feed(site),
    }
    for number, (name, audit) in enumerate(site.audits.items()):
        progress("pages", number, len(site.audits))
        place, card = f"datasets/{name}", card_of(audit)
        files[f"{place}/index.html"] = to_html_within(
            dataset_pages(site, name, audit), MOST_PAGE_BYTES
        )
        files[f"{place}/{AUDIT}"] = _dumped({"audits": [audit.to_json()]})
        errata = [] if card is None else list(card.errata)
        about = {"dataset": name, "as_of": site.as_of.isoformat(), "errata": errata}
        files[f"{place}/errata.json"] = _dumped(about)
        files[f"{place}/{BADGE}"] = badge(audit)
        if card is not None:
            files[f"{place}/cite.bib"] = f"{bibtex(card)}\n"
    back = Text("", links=[("All datasets and results", "../index.html")])
    for name, content in site.results.items():
        kind, blocks = results_of(content)
        page = Report(f"{kind}: {name}", stamp(site), [back, *blocks])
        files[f"results/{name}.html"] = to_html_within([page], MOST_PAGE_BYTES)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    seal_folder(folder, KIND)


def _dumped(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
