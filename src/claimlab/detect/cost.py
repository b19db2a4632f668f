"""What a run would cost, before it costs anything: for `--estimate`. Nothing is sent anywhere."""

from __future__ import annotations

from typing import Any

from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.calls.estimate import Priced, estimated
from claimlab.core.errors import UsageError
from claimlab.core.run import Run
from claimlab.core.types import JsonObject
from claimlab.detect.asking import Asking
from claimlab.detect.detectors.llm_search import WORDS, LlmSearch
from claimlab.detect.open import open_detector
from claimlab.detect.run import detect, prepare
from claimlab.llm.estimate import estimate as estimate_model
from claimlab.llm.messages import Request
from claimlab.search.chain import Chain
from claimlab.search.terms import Searches
from claimlab.tasks import open_task


@same_arguments(detect)
def estimate(call: Arguments) -> JsonObject:
    """The least and the most that `detect` with the same arguments can take. Calls that are
    recorded already are taken off; for a detector that searches, every search is counted, and every
    result taken to be as long as it may be.
    """
    words = {
        "profile": call.profile,
        "model": call.model,
        "providers": call.provider,
        "search_profile": call.search_profile,
        "search_model": call.search_model,
    }
    with Run(
        "detect", call.data, call.output, cache=call.cache, mode=call.mode, estimate=True
    ) as run:
        opened = (
            open_task(call.task, run.dataset.records) if isinstance(call.task, str) else call.task
        )
        with open_detector(
            call.detector, call.settings, run.calls, call.evidence, words, call.prompts
        ) as ready:
            if not isinstance(ready, Asking):
                raise UsageError(
                    f"The detector '{ready.name}' makes no calls: it costs nothing.",
                    "Leave out `estimate`.",
                )
            shown = {name: getattr(call, name) for name in ("seed", "evidence", "pieces", "limit")}
            job = prepare(run.dataset, ready, task=opened, **shown)
            records = job.shown["test"].records
            endpoint = ready.provider.profile
            requests = ready.requests(records)
            priced: Priced = estimate_model(requests, endpoint, recording=run.calls.existing())
            parts = {endpoint.chosen_model(): priced, **_searching(ready, records.height)}
            return estimated(parts, facts={"records to predict": records.height})


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
