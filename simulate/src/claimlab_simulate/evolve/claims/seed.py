"""The Python twin of `claimlab evolve seed`: claims and non-claims, from contexts by a model.

seeds = cl.seed_claims("abstracts.json", profile="openai", output="seeds")
"""

from __future__ import annotations

from typing import Annotated, Unpack

from claimlab.core import sync
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced
from claimlab.core.errors import UsageError
from claimlab.core.options import (
    CallOptions,
    Concurrency,
    Force,
    InPython,
    ModelName,
    Option,
    OutputFolder,
    Profile,
    PromptFiles,
    Seed,
    Setting,
)
from claimlab.core.run import Run
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import find_profile
from claimlab.llm.prompts import read_prompts
from claimlab_simulate.evolve.claims.contexts import Contexts, files_of, open_contexts
from claimlab_simulate.evolve.claims.seeding import Seeded, Seeding, sentence_request, wanted_of


@repeatable(recorded="claimlab.evolve.claims.seed.seed_claims")
def seed_claims(  # noqa: PLR0913
    contexts: Annotated[
        Contexts, InPython("What the claims are about: contexts, or a dataset of articles.")
    ],
    *,
    profile: Profile = None,
    model: ModelName = None,
    output: OutputFolder = None,
    claims: Annotated[int, Setting("Claims from each context.", least=0)] = 5,
    non_claims: Annotated[
        int, Setting("Sentences that are not claims from each context.", least=0)
    ] = 2,
    prompts: PromptFiles = (),
    name: Annotated[str, Setting("Name of the dataset.")] = "seeds",
    concurrency: Concurrency = 64,
    seed: Seed = 0,
    limit: Annotated[int | None, Option("Use only the first N contexts.", least=1)] = None,
    force: Force = False,
    **calls: Unpack[CallOptions],
) -> Seeded:
    """Let a model write claims and non-claims from texts, each with its label and origin.

    The texts are those of a file (the released abstracts, or a table with a column `text`), of a
    dataset, or given one by one. Calls are recorded, so that a run that was stopped asks no
    question twice, and the caps hold over all starts. The profile "embedded" needs no key.
    """
    if profile is None:
        raise UsageError(
            "No model was named to write the sentences.",
            "Pass `profile`; see: claimlab llm profiles",
        )
    wanted, words = wanted_of(claims, non_claims), read_prompts(prompts, "evolve seed")
    with Run(
        "evolve seed",
        None,
        output,
        reads=files_of(contexts),
        force=force,
        seed=seed,
        concurrency=concurrency,
        **calls,
    ) as run:
        texts = open_contexts(contexts, limit)
        if run.estimate:
            priced, recording = find_profile(profile).with_model(model), run.calls.existing()
            orders = [(text, *want) for text in texts for want in wanted.items() if want[1]]
            sentences = (sentence_request(*order, seed, words["seeds"]) for order in orders)
            parts: dict[str, Priced] = {
                "sentences": estimate_calls(sentences, priced, recording=recording)
            }
            run.estimated(parts, facts={"contexts": len(texts)})
        provider = open_provider(profile, model=model, calls=run.calls)
        try:
            seeded = Seeding(provider, wanted, seed, words).seeded(texts, name)
        finally:
            sync.run(provider.close())
        run.finish(seeded.dataset)
    return seeded
