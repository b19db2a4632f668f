"""What a run would cost, before it costs anything: for `--estimate`. Nothing is sent anywhere."""

from __future__ import annotations

from typing import Any

import polars as pl

from claimlab.core.calls.estimate import Priced
from claimlab.core.calls.recording import Recording
from claimlab.core.errors import UsageError
from claimlab.detect.asking import Asking
from claimlab.detect.detector import Detector
from claimlab.detect.detectors.llm_search import WORDS, LlmSearch
from claimlab.llm.estimate import estimate as estimate_model
from claimlab.llm.messages import Request
from claimlab.search.chain import Chain
from claimlab.search.terms import Searches


def cost(
    detector: Detector, records: pl.DataFrame, recording: Recording | None
) -> dict[str, Priced]:
    """The least and the most that the answers for `records` can take. Calls that are recorded
    already are taken off; for a detector that searches, every search is counted, and every result
    taken to be as long as it may be.
    """
    if not isinstance(detector, Asking):
        raise UsageError(
            f"The detector '{detector.name}' makes no calls: it costs nothing.",
            "Leave out `estimate`.",
        )
    endpoint = detector.provider.profile
    priced: Priced = estimate_model(detector.requests(records), endpoint, recording=recording)
    return {endpoint.chosen_model(): priced, **_searching(detector, records.height)}


def _searching(detector: Asking, records: int) -> dict[str, Priced]:
    """Searches by provider, as every provider of a chain may be asked, and the model that condenses
    their results.
    """
    if not isinstance(detector, LlmSearch):
        return {}
    searches = records * detector.searches
    search = detector.search
    providers = (
        search.providers if isinstance(search, Chain) else [search] if search is not None else []
    )
    parts: dict[str, Priced] = {p.name: Searches(p.name, 0, searches) for p in providers}
    if detector.search_model is not None:
        profile = detector.search_model.profile
        filler = "x" * (detector.most_read() + 400)
        one: Request[Any] = Request.of(filler, max_tokens=4 * WORDS, prompt_name="condense")
        parts[f"{profile.chosen_model()}, condensing"] = estimate_model([one] * searches, profile)
    return parts
