"""What a run would cost, before it costs anything: for `--estimate`. Nothing is sent anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claimlab.core.dataset import Dataset
from claimlab.enrich.extract import ByModel
from claimlab.enrich.flow import Doors, Settings
from claimlab.enrich.query import make_queries, prepared
from claimlab.llm.cache import Cache
from claimlab.llm.estimate import estimate as estimate_model
from claimlab.search.terms import terms

FREE = "local"


def estimate(dataset: Dataset, doors: Doors, settings: Settings, *, cache: Cache | None = None) -> dict[str, Any]:
    """The least and the most that the run can take. Least: every first answer corresponds, and the first provider of a
    chain answers. Most: every text needs its claims extracted and each searched for, and every provider is asked.
    Searches that are recorded already are not taken off; model calls that are, are."""
    texts = prepared(dataset.records["text"], settings.query_rule)
    queries = make_queries(dataset.records["text"], settings.query_rule)
    asked = [text for text, query in zip(texts, queries, strict=True) if query is not None and text is not None]
    extractor = doors.extractor
    claims = int(extractor.parameters().get("claims", 1)) if extractor is not None else 0
    least, most = _searches(doors, len(asked), 0, first=True), _searches(doors, len(asked), claims, first=False)
    found: dict[str, Any] = {"records": dataset.records.height, "queries": len(asked), "search": {}, "model": None}
    for name in most:
        price = 0.0 if name == FREE else terms(name).price
        found["search"][name] = {
            "calls_least": least.get(name, 0),
            "calls_most": most[name],
            "price": price,
            "money_least": None if price is None else price * least.get(name, 0),
            "money_most": None if price is None else price * most[name],
        }
    if isinstance(extractor, ByModel):
        requests = (extractor.request(text) for text in asked)
        found["model"] = estimate_model(requests, extractor.provider.profile, cache=cache).__dict__
    parts = [s["money_most"] for s in found["search"].values()]
    parts += [found["model"]["money_most"]] if found["model"] else []
    found["money_most"] = None if any(p is None for p in parts) else sum(parts)
    return found


def sentences(found: dict[str, Any]) -> list[str]:
    """The estimate in words, for the person who is about to spend."""
    lines = [f"{found['queries']:,} of {found['records']:,} records have words to search with."]
    for name, part in found["search"].items():
        cost = "price unknown" if part["price"] is None else f"${part['money_least']:.2f} to ${part['money_most']:.2f}"
        lines.append(f"{name}: {part['calls_least']:,} to {part['calls_most']:,} calls, {cost}.")
    if found["model"]:
        model = found["model"]
        money = "cost unknown" if model["money_most"] is None else f"at most ${model['money_most']:.4f}"
        cached = f" ({model['cached']:,} more are recorded)" if model["cached"] else ""
        lines.append(f"{model['model']}: at most {model['calls']:,} calls{cached}, {money}.")
    total = found["money_most"]
    lines.append("In all: cost unknown." if total is None else f"In all: at most ${total:.4f}.")
    return lines


def _searches(doors: Doors, records: int, claims: int, *, first: bool) -> dict[str, int]:
    calls: dict[str, int] = {}
    for chain in (doors.web, doors.factcheck):
        for name in _names(chain)[: 1 if first else None]:
            calls[name] = calls.get(name, 0) + records * (1 + claims)
    return calls


def _names(chain: Any) -> Sequence[str]:
    if chain is None:
        return []
    return [p.name for p in getattr(chain, "providers", [chain])]
