"""The Python twin of `claimlab enrich`: one call that opens the doors, enriches and closes them.

enriched = cl.enrich(dataset, web=["local:reviews"])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claimlab.core import sync
from claimlab.core.calls.calls import Calls
from claimlab.core.dataset import Dataset
from claimlab.enrich.flow import Settings
from claimlab.enrich.open import open_doors
from claimlab.enrich.run import CONCURRENCY, enrich_async


def enrich(
    dataset: Dataset,
    web: str | Sequence[str],
    *,
    settings: Settings | None = None,
    calls: Calls | None = None,
    concurrency: int = CONCURRENCY,
    **words: Any,
) -> Dataset:
    """`dataset` with evidence, claims and outcomes. `web` names search providers; `words` is what open_doors takes
    (factcheck, extract, profile ...). `calls` says how calls are made; by default they are live and not recorded."""
    made = calls if calls is not None else Calls(mode="live")

    async def whole() -> Dataset:
        async with open_doors([web] if isinstance(web, str) else list(web), made, **words) as doors:
            return (
                await enrich_async(dataset, doors, settings, concurrency=concurrency, progress=made.progress)
            ).dataset

    return sync.run(whole())
