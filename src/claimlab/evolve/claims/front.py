"""The Python twin of `claimlab evolve seed`.

seeds = cl.seed_claims("abstracts.json", profile="openai", output="seeds")
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from claimlab.core import sync
from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.budget import Caps
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced, estimated
from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run
from claimlab.core.types import JsonObject
from claimlab.evolve.claims.contexts import Context, Draft, contexts_of, read_contexts
from claimlab.evolve.claims.model import types
from claimlab.evolve.claims.seed import (
    GRAY,
    Seeded,
    draw_seeds,
    noise_for,
    rewrite_request,
    sentence_request,
    wanted_of,
)
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.messages import Request
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import find_profile
from claimlab.llm.prompts import Given, read_prompts

Contexts = Dataset | str | Path | Sequence[Context]


@repeatable()
def seed_claims(
    contexts: Contexts,
    *,
    profile: str | None = None,
    model: str | None = None,
    output: str | Path | None = None,
    member: str | None = None,
    claims: int = 5,
    non_claims: int = 2,
    gray: float = GRAY,
    prompts: Given = (),
    name: str = "seeds",
    cache: str | Path | None = None,
    mode: str = "record",
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    concurrency: int = 64,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Seeded:
    """Let a model write `claims` claims and `non_claims` non-claims from every context, a share
    `gray` of them harder.

    `contexts` is a file (the released abstracts, or a table with a column `text`; `member` names it
    in an archive), a dataset or its folder. `profile` names the model ("embedded" needs no key).
    With `output` the seeds are written there; calls are recorded, so that a run that was stopped
    asks no question twice, and the caps hold over all starts.
    """
    if profile is None:
        raise UsageError(
            "No model was named to write the sentences.",
            "Pass `profile`; see: claimlab llm profiles",
        )
    wanted, words = wanted_of(claims, non_claims, gray), read_prompts(prompts, "evolve seed")
    caps = Caps(max_cost, max_calls, max_tokens)
    with Run(
        "evolve seed",
        None,
        output,
        reads=_files(contexts),
        force=force,
        seed=seed,
        caps=caps,
        mode=mode,
        cache=cache,
        concurrency=concurrency,
        progress=progress,
    ) as run:
        texts = open_contexts(contexts, member, limit)
        provider = open_provider(profile, model=model, calls=run.calls)
        try:
            seeded = draw_seeds(
                texts,
                provider,
                wanted=wanted,
                gray=gray,
                seed=seed,
                name=name,
                prompts=words,
                progress=progress,
            )
        finally:
            sync.run(provider.close())
        run.finish(seeded.dataset)
    return seeded


@same_arguments(seed_claims)
def estimate_seed_claims(call: Arguments) -> JsonObject:
    """What `seed_claims` with the same words would cost at most; nothing is asked and nothing
    written.
    """
    if call.profile is None:
        raise UsageError(
            "No model was named to write the sentences.",
            "Pass `profile`; see: claimlab llm profiles",
        )
    texts, seed = open_contexts(call.contexts, call.member, call.limit), call.seed
    wanted = wanted_of(call.claims, call.non_claims, call.gray)
    known, words = (
        find_profile(call.profile).with_model(call.model),
        read_prompts(call.prompts, "evolve seed"),
    )
    requests = [
        (context, label, count) for context in texts for label, count in wanted.items() if count
    ]

    def noises() -> Iterator[Request[Any]]:
        """Which sentences get noise follows from their ids; how long they will be, from nothing:
        200 characters.
        """
        kinds = {
            label: next(t.name for t in types().values() if t.claim == (label == "claim"))
            for label in wanted
        }
        for context, label, count in requests:
            for number in range(1, count + 1):
                draft = Draft(
                    f"{context.id}-{label}-{number}", context, context.text[:200], kinds[label], ""
                )
                noise = noise_for(draft, call.gray, seed)
                if noise not in (None, "symbols"):
                    yield rewrite_request(draft, str(noise), seed, words["gray"])

    with Run(
        "evolve seed", None, call.output, mode=call.mode, cache=call.cache, estimate=True
    ) as run:
        recording = run.calls.existing()
        parts: dict[str, Priced] = {
            "sentences": estimate_calls(
                (sentence_request(*a, seed, words["seeds"]) for a in requests),
                known,
                recording=recording,
            ),
            "gray area": estimate_calls(noises(), known),
        }
        return estimated(parts, facts={"contexts": len(texts)})


def open_contexts(
    contexts: Contexts, member: str | None = None, limit: int | None = None
) -> list[Context]:
    """The first `limit` contexts of a file, a dataset or a list."""
    if isinstance(contexts, Dataset):
        texts = contexts_of(contexts)
    elif isinstance(contexts, str | Path):
        folder = Path(contexts)
        texts = (
            contexts_of(Dataset.open(folder))
            if (folder / MANIFEST).is_file()
            else read_contexts(folder, member)
        )
    else:
        texts = list(contexts)
    if not texts:
        raise DataError("There is no context with a text.", "Give a file or a dataset with texts.")
    return texts[:limit]


def _files(contexts: Contexts) -> list[Path]:
    if isinstance(contexts, Dataset):
        return [contexts.path] if contexts.path is not None else []
    return [Path(contexts)] if isinstance(contexts, str | Path) else []
