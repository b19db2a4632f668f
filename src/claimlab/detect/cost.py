"""What a run would cost, before it costs anything: for `--estimate`. Nothing is sent anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.detect.asking import Asking
from claimlab.detect.detector import Detector
from claimlab.detect.detectors.llm_search import WORDS, LlmSearch
from claimlab.detect.evidence import PIECES
from claimlab.detect.questions import PIECE
from claimlab.detect.run import prepare
from claimlab.llm.cache import Cache
from claimlab.llm.estimate import Estimate
from claimlab.llm.estimate import estimate as estimate_model
from claimlab.llm.messages import Request
from claimlab.search.terms import terms
from claimlab.tasks.task import Task


def estimate(
    dataset: Dataset,
    detector: Detector,
    *,
    task: Task,
    seed: int = 0,
    evidence: str = "none",
    pieces: int = PIECES,
    cache: Path | None = None,
) -> dict[str, Any]:
    """The least and the most that the run can take. Calls that are recorded already are taken off; for a detector that
    searches, every search is counted, and every result taken to be as long as it may be."""
    if not isinstance(detector, Asking):
        raise UsageError(f"The detector '{detector.name}' asks nobody: it costs nothing.", "Leave --estimate out.")
    prepared = prepare(dataset, detector, task=task, seed=seed, evidence=evidence, pieces=pieces)
    records = prepared.shown["test"].records
    file = cache / "llm.sqlite" if cache is not None else None
    kept = Cache(file) if file is not None and file.is_file() else None
    models = [estimate_model(detector.requests(records), detector.provider.profile, cache=kept)]
    search = _searches(detector, records.height)
    models += _condensing(detector, records.height)
    parts = [*(m.money_most for m in models), *(s["money_most"] for s in search.values())]
    known = [p for p in parts if p is not None]
    return {
        "records": records.height,
        "models": [m.__dict__ | {"sentence": m.sentence()} for m in models],
        "search": search,
        "money_most": sum(known) if len(known) == len(parts) else None,
    }


def sentences(found: dict[str, Any]) -> list[str]:
    """The estimate in words, for the person who is about to spend."""
    lines = [f"{found['records']:,} records to predict."]
    lines += [f"{model['model']}: {model['sentence']}" for model in found["models"]]
    for name, part in found["search"].items():
        cost = "price unknown" if part["money_most"] is None else f"at most ${part['money_most']:.4f}"
        lines.append(f"{name}: at most {part['calls_most']:,} searches, {cost}.")
    total = found["money_most"]
    return [*lines, "In all: cost unknown." if total is None else f"In all: at most ${total:.4f}."]


def _searches(detector: Asking, records: int) -> dict[str, Any]:
    """Searches and their price, by provider: every provider of a chain may be asked."""
    if not isinstance(detector, LlmSearch):
        return {}
    calls = records * detector.searches
    names = [p.name for p in getattr(detector.search, "providers", [detector.search])]
    prices = {name: 0.0 if name == "local" else terms(name).price for name in names}
    return {
        name: {"calls_most": calls, "price": price, "money_most": None if price is None else price * calls}
        for name, price in prices.items()
    }


def _condensing(detector: Asking, records: int) -> list[Estimate]:
    if not isinstance(detector, LlmSearch) or detector.search_model is None:
        return []
    one: Request[Any] = Request.of("x" * (PIECE * detector.results + 400), max_tokens=4 * WORDS)
    return [estimate_model([one] * (records * detector.searches), detector.search_model.profile)]
