"""The Python twin of `claimlab enrich`: one call that opens the doors, enriches and closes them.

enriched = cl.enrich(dataset, web=["local:reviews"])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claimlab.core import sync
from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.enrich.flow import Settings
from claimlab.enrich.open import Access, open_doors
from claimlab.enrich.run import CONCURRENCY, enrich_async
from claimlab.search.cache import Mode


def enrich(
    dataset: Dataset,
    web: str | Sequence[str],
    *,
    settings: Settings | None = None,
    mode: Mode = "live",
    concurrency: int = CONCURRENCY,
    progress: Progress = silent,
    **access: Any,
) -> Dataset:
    """`dataset` with evidence, claims and outcomes. `web` names search providers; `access` is what Access takes
    (factcheck, extract, profile, cache, budget ...). Mode "record" needs a `cache` folder, and is what resumes."""
    asked = Access(web=[web] if isinstance(web, str) else list(web), mode=mode, progress=progress, **access)

    async def whole() -> Dataset:
        async with open_doors(asked) as doors:
            return (await enrich_async(dataset, doors, settings, concurrency=concurrency, progress=progress)).dataset

    return sync.run(whole())
