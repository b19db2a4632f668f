"""What a run would cost, before it costs anything: for `--estimate`. Nothing is sent anywhere."""

from __future__ import annotations

from typing import Any

from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import Priced, estimated
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.detect.asking import Asking
from claimlab.detect.detector import Detector
from claimlab.detect.detectors.llm_search import WORDS, LlmSearch
from claimlab.detect.evidence import PIECES
from claimlab.detect.questions import PIECE
from claimlab.detect.run import prepare
from claimlab.llm.estimate import estimate as estimate_model
from claimlab.llm.messages import Request
from claimlab.search.chain import Chain
from claimlab.search.terms import Searches
from claimlab.tasks.task import Task


def estimate(
    dataset: Dataset,
    detector: Detector,
    calls: Calls,
    *,
    task: Task,
    seed: int = 0,
    evidence: str = "none",
    pieces: int = PIECES,
) -> dict[str, Any]:
    """The least and the most that the run can take. Calls that are recorded already are taken off; for a detector that
    searches, every search is counted, and every result taken to be as long as it may be."""
    if not isinstance(detector, Asking):
        raise UsageError(f"The detector '{detector.name}' asks nobody: it costs nothing.", "Leave out `estimate`.")
    prepared = prepare(dataset, detector, task=task, seed=seed, evidence=evidence, pieces=pieces)
    records = prepared.shown["test"].records
    profile = detector.provider.profile
    parts: dict[str, Priced] = {
        profile.chosen_model(): estimate_model(detector.requests(records), profile, recording=calls.existing())
    }
    parts |= _searching(detector, records.height)
    return estimated(parts, facts={"records to predict": records.height})


def _searching(detector: Asking, records: int) -> dict[str, Priced]:
    """Searches by provider, as every provider of a chain may be asked, and the model that condenses their results."""
    if not isinstance(detector, LlmSearch):
        return {}
    searches = records * detector.searches
    search = detector.search
    providers = search.providers if isinstance(search, Chain) else [search] if search is not None else []
    parts: dict[str, Priced] = {p.name: Searches(p.name, 0, searches) for p in providers}
    if detector.search_model is not None:
        profile = detector.search_model.profile
        one: Request[Any] = Request.of("x" * (PIECE * detector.results + 400), max_tokens=4 * WORDS)
        parts[f"{profile.chosen_model()}, condensing"] = estimate_model([one] * searches, profile)
    return parts
