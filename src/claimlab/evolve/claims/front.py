"""The Python twin of `claimlab evolve seed`.

seeds = cl.seed_claims("abstracts.json", profile="openai", output="seeds")
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Unpack

from claimlab.core import sync
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced
from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.options import (
    CallOptions,
    Concurrency,
    Force,
    ModelName,
    Option,
    OutputFolder,
    Profile,
    PromptFiles,
    Seed,
    Setting,
)
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run
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
from claimlab.llm.prompts import Prompt, read_prompts

Contexts = Dataset | str | Path | Sequence[Context]


@repeatable()
def seed_claims(
    contexts: Contexts,
    *,
    profile: Profile = None,
    model: ModelName = None,
    output: OutputFolder = None,
    member: Annotated[
        str | None, Setting("The file inside an archive or folder that holds several.")
    ] = None,
    claims: Annotated[int, Option("Claims from each context.", least=0)] = 5,
    non_claims: Annotated[
        int, Option("Sentences that are not claims from each context.", least=0)
    ] = 2,
    gray: Annotated[
        float, Setting("Share of the sentences to make harder.", least=0, most=1)
    ] = GRAY,
    prompts: PromptFiles = (),
    name: Annotated[str, Setting("Name of the dataset.")] = "seeds",
    concurrency: Concurrency = 64,
    seed: Seed = 0,
    limit: Annotated[int | None, Option("Use only the first N contexts.", least=1)] = None,
    force: Force = False,
    progress: Progress = silent,
    **calls: Unpack[CallOptions],
) -> Seeded:
    """Let a model write claims and non-claims from texts, each with its label, origin and change
    log.

    The texts are those of a file (the released abstracts, or a table with a column `text`), of a
    dataset, or given one by one. Calls are recorded, so that a run that was stopped asks no
    question twice, and the caps hold over all starts. The profile "embedded" needs no key.
    """
    if profile is None:
        raise UsageError(
            "No model was named to write the sentences.",
            "Pass `profile`; see: claimlab llm profiles",
        )
    wanted, words = wanted_of(claims, non_claims, gray), read_prompts(prompts, "evolve seed")
    with Run(
        "evolve seed",
        None,
        output,
        reads=_files(contexts),
        force=force,
        seed=seed,
        concurrency=concurrency,
        progress=progress,
        **calls,
    ) as run:
        texts = open_contexts(contexts, member, limit)
        if run.estimate:
            known, recording = find_profile(profile).with_model(model), run.calls.existing()
            orders = [(text, *one) for text in texts for one in wanted.items() if one[1]]
            sentences = (sentence_request(*one, seed, words["seeds"]) for one in orders)
            parts: dict[str, Priced] = {
                "sentences": estimate_calls(sentences, known, recording=recording),
                "gray area": estimate_calls(_noises(orders, gray, seed, words["gray"]), known),
            }
            run.estimated(parts, facts={"contexts": len(texts)})
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


def _noises(
    orders: Sequence[tuple[Context, str, int]], gray: float, seed: int, prompt: Prompt
) -> Iterator[Request[Any]]:
    """Which sentences get noise follows from their ids; how long they will be, from nothing:
    200 characters.
    """
    kinds = {one.claim: one.name for one in [*types().values()][::-1]}  # the first of each
    for context, label, count in orders:
        for number in range(1, count + 1):
            name, kind = f"{context.id}-{label}-{number}", kinds[label == "claim"]
            draft = Draft(name, context, context.text[:200], kind, "")
            noise = noise_for(draft, gray, seed)
            if noise not in (None, "symbols"):
                yield rewrite_request(draft, str(noise), seed, prompt)


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
