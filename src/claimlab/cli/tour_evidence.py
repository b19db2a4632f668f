"""The demo's stage on evidence: synthetic fact-checks are hidden for the claims and searched for,
offline.

Only what was found is shown and kept: a table with times of retrieval would make every demo differ
from the last.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from claimlab.cli.tour_state import Tour
from claimlab.core import sync
from claimlab.enrich.extract import rule_extractor
from claimlab.enrich.flow import Doors
from claimlab.enrich.run import enrich_async
from claimlab.enrich.views import analyse, blocks
from claimlab.generate.planted import CORE, WHOLE, fact_checks
from claimlab.pages.blocks import Section, Text
from claimlab.search.local import build_index
from claimlab.search.providers.local import Local

ENRICHED = 240  # claims that evidence is searched for: enough to see every end


def run_enrich(tour: Tour) -> None:
    some = replace(tour.dataset, records=tour.dataset.records.head(ENRICHED), files={})
    reviews, planted_checks = fact_checks(some, seed=tour.seed)
    file = tour.folder / "fact-checks.json"
    file.write_text(json.dumps(reviews, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="claimlab-demo-") as place:
        build_index(file, Path(place) / "index")
        doors = Doors(Local(Path(place) / "index"), extractor=rule_extractor("offline"))
        done = sync.run(enrich_async(some, doors, progress=tour.progress))
    ends = dict(done.dataset.tables["enrichment"].select("record_id", "outcome").iter_rows())
    tour.enriched = done.summary
    hits = {
        kind: sum(ends[i] == "corresponding" for i, k in planted_checks.items() if k == kind)
        for kind in (WHOLE, CORE)
    }
    half = len(planted_checks) // 2
    sentences = (
        f"{len(reviews)} synthetic fact-checks were hidden for {ENRICHED} claims: {half} repeat the"
        f" claim, and {hits[WHOLE]} of them were found; {half} say only its core, and {hits[CORE]}"
        " of them were found, with the help of claims extracted by rule. No network and no model"
        " was used."
    )
    tour.sections.append(Section("Evidence", [Text(sentences), *blocks(analyse(done.dataset))]))
