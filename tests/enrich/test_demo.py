"""The demo's hidden fact-checks: a local search finds those that repeat a claim and those that say
only its core.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from parts.planted import CORE, WHOLE, clean_twin, fact_checks

from claimlab.core import sync
from claimlab.core.dataset import Dataset
from claimlab.enrich.extract import rule_extractor
from claimlab.enrich.flow import Doors
from claimlab.enrich.run import enrich_async
from claimlab.search.local import build_index
from claimlab.search.providers.local import LocalProvider


def ends(dataset: Dataset, index: Path, *, extract: bool) -> dict[str, str]:
    done = sync.run(
        enrich_async(
            dataset,
            Doors(LocalProvider(index), extractor=rule_extractor("offline") if extract else None),
        )
    )
    return dict(done.dataset.tables["enrichment"].select("record_id", "outcome").iter_rows())


@pytest.mark.slow
def test_hidden_fact_checks_are_found_and_no_others(
    tmp_path: Path,
) -> None:
    data = clean_twin(size=120)
    reviews, truth = fact_checks(data, each=20)
    assert fact_checks(data, each=20)[0] == reviews
    (tmp_path / "r.json").write_text(json.dumps(reviews), encoding="utf-8")
    build_index(tmp_path / "r.json", tmp_path / "index")
    one, two = (
        ends(data, tmp_path / "index", extract=False),
        ends(data, tmp_path / "index", extract=True),
    )

    def found(outcomes: dict[str, str], kind: str) -> int:
        return sum(outcomes[i] == "corresponding" for i, k in truth.items() if k == kind)

    assert found(two, WHOLE) >= 18
    assert found(two, CORE) >= 16
    assert found(one, CORE) <= found(two, CORE)
    for outcomes in (one, two):
        assert sum(outcomes[i] == "corresponding" for i in outcomes if i not in truth) == 0
