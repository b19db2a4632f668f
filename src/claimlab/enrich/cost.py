"""What enriching a dataset would cost, before it costs anything. Nothing is sent anywhere."""

from __future__ import annotations

from collections import Counter

from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import Priced
from claimlab.core.dataset import Dataset
from claimlab.enrich.extract import ByModel
from claimlab.enrich.flow import Doors, EnrichSettings
from claimlab.enrich.query import make_queries, prepared
from claimlab.llm.estimate import estimate as estimate_model
from claimlab.search.terms import Searches


def cost(
    dataset: Dataset, doors: Doors, settings: EnrichSettings, calls: Calls
) -> tuple[dict[str, Priced], dict[str, int]]:
    """The parts of the least and the most that the run can take, and counts of the input. Least:
    every first answer corresponds, and the first provider of a chain answers. Most: every text
    needs its claims extracted and each searched for, and every provider is asked. Recorded searches
    are not subtracted; recorded model calls are.
    """
    texts = prepared(dataset.records["text"], settings.query_rule)
    queries = make_queries(dataset.records["text"], settings.query_rule)
    searched = [
        text
        for text, query in zip(texts, queries, strict=True)
        if query is not None and text is not None
    ]
    extractor = doors.extractor
    claims = int(extractor.parameters().get("claims", 1)) if extractor is not None else 0
    least: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for chain in (doors.web, doors.factcheck):
        names = [p.name for p in getattr(chain, "providers", [chain])] if chain is not None else []
        least.update(dict.fromkeys(names[:1], len(searched)))
        most.update(dict.fromkeys(names, len(searched) * (1 + claims)))
    parts: dict[str, Priced] = {name: Searches(name, least[name], most[name]) for name in most}
    if isinstance(extractor, ByModel):
        profile, requests = (
            extractor.provider.profile,
            (extractor.request(text) for text in searched),
        )
        parts[profile.chosen_model()] = estimate_model(
            requests, profile, recording=calls.existing()
        )
    return parts, {"records": dataset.records.height, "queries": len(searched)}
