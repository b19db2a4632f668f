"""The Python twins of `claimlab generate run`, with and without --preview.

samples = cl.generate("seeds", chain=["real", "altered"], languages=["eng", "por"],
profile=["mine"], output="out")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Unpack

from claimlab.core import sync
from claimlab.core.call import in_storage, repeatable
from claimlab.core.calls.estimate import Priced, cost_of
from claimlab.core.choices import each_of, one_of
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.languages import require
from claimlab.core.options import (
    Argument,
    BatchOptions,
    Force,
    Limit,
    ModelName,
    Option,
    OutputFolder,
    PromptFiles,
    Seed,
    Setting,
    divided,
)
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.layers import Validated
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import read_prompts
from claimlab_simulate.generate.chain import find_chain
from claimlab_simulate.generate.dataset import dataset_of
from claimlab_simulate.generate.filling import COMPLETE
from claimlab_simulate.generate.plan import Job, coverage, jobs
from claimlab_simulate.generate.requests import STYLES, requests_of
from claimlab_simulate.generate.run import make_all
from claimlab_simulate.generate.seeds import STRATA_COLUMNS
from claimlab_simulate.generate.translate import engine_name

PREVIEW_SAMPLES = 5  # samples of a preview


@dataclass(repr=False)
class Generated(Dataset):
    """What the chains generated, with every chain in the table `chains`; `coverage` is planned
    against complete.
    """

    coverage: list[JsonObject] = field(default_factory=list)
    budget: JsonObject = field(default_factory=dict)
    standing: str | None = None


Chains = Annotated[
    str | Sequence[str],
    Option(
        "'real' (edited, facts kept), 'altered' (facts changed and logged), 'translation' (no"
        " model) or a file; may be repeated."
    ),
]


class Generation(BatchOptions, total=False):
    """What is made of the seeds, in which languages, and who writes it."""

    languages: Annotated[
        Sequence[str],
        Option(
            "English and the languages to go to and from; may be repeated.",
            flag="--language",
            default=("eng", "por"),
        ),
    ]
    size: Annotated[int, Option("Samples to make, over all chains.", least=1, default=20)]
    style: Annotated[
        str, Setting("'form': one call per sample; 'roles': one call per role.", default="form")
    ]
    by: Annotated[
        Sequence[str],
        Setting("Column to draw evenly over; may be repeated.", default=STRATA_COLUMNS),
    ]
    profile: Annotated[
        str | Sequence[str] | None,
        Option("Model profile; may be repeated. See: claimlab llm profiles"),
    ]
    model: ModelName
    prompts: PromptFiles


class GenerationSetup:
    """What a generation was asked for, read and checked before anything is spent."""

    def __init__(
        self, chain: str | Sequence[str], seed: int, **generation: Unpack[Generation]
    ) -> None:
        chosen, self.calls = divided(Generation, generation)
        self.seed, self.size, self.model = seed, chosen["size"], chosen["model"]
        self.chains = [find_chain(name) for name in each_of(chain)]
        self.profiles = each_of(chosen["profile"] or ())
        self._check_models()
        self.languages = list(dict.fromkeys(map(require, chosen["languages"])))
        if len(self.languages) < 2 or "eng" not in self.languages:
            todo = "Pass `languages` with English and at least one other."
            raise UsageError("Texts go from English to another language, and back.", todo)
        self.style = one_of(STYLES, chosen["style"], "style")
        self.prompts = read_prompts(chosen["prompts"], "generate")
        self.by = each_of(chosen["by"])

    def _check_models(self) -> None:
        asks = any(chain.prompt for chain in self.chains)
        if asks and not self.profiles:
            raise UsageError(
                "No model is given to fill in the chain.", "Pass `profile`, or `chain` translation."
            )
        if self.profiles and not asks:
            raise UsageError("The chain 'translation' asks no model.", "Leave out `profile`.")
        if self.model and len(self.profiles) > 1:
            raise UsageError(
                "One model cannot be of several profiles.", "Pass `model` with one `profile`."
            )

    def describe(self) -> JsonObject:
        """All that decides the result besides the seeds."""
        prompts = [chain.prompt for chain in self.chains if chain.prompt]
        return {
            "chains": {chain.name: chain.lineage() for chain in self.chains},
            "languages": self.languages,
            "style": self.style,
            "size": self.size,
            "by": list(self.by),
            "prompts": self.prompts.lineage(*prompts),
        }

    def open(self, run: Run) -> dict[str, Validated]:
        opened = [
            open_provider(profile, model=self.model, calls=run.calls) for profile in self.profiles
        ]
        return {provider.profile.chosen_model(): provider for provider in opened}

    def plan(self, data: Dataset, models: Sequence[str]) -> list[Job]:
        by_chain = {
            chain.name: list(models) if chain.prompt else [engine_name()] for chain in self.chains
        }
        return jobs(
            data,
            self.chains,
            self.languages,
            by_chain,
            self.size,
            seed=self.seed,
            by=self.by,
        )


@repeatable(recorded="claimlab.generate.front.generate")
def generate(
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    chain: Chains = "real",
    *,
    output: OutputFolder = None,
    originals: Annotated[bool, Setting("Keep the seeds, as the human class.")] = True,
    concurrency: Annotated[int, Setting("Samples to make at once.", least=1, most=512)] = 16,
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
    **generation: Unpack[Generation],
) -> Generated:
    """Make labelled samples from the texts of a dataset: an article and a post, each in two
    languages.

    Seeds are drawn evenly over the columns `by`, each once. English texts go into the other
    languages, all others into English.
    """
    setup = GenerationSetup(chain, seed, **generation)
    with Run(
        "generate",
        data,
        output,
        limit=limit,
        force=force,
        seed=seed,
        concurrency=concurrency,
        **setup.calls,
    ) as run:
        if run.estimate:
            parts, samples = cost(setup, run)
            run.estimated(parts, facts={"samples": samples})
        generated = _generated(setup, run, originals=originals)
        generated.budget = run.calls.budget.summary()
        finished = run.finish(generated)
        generated.path, generated.files = finished.path, finished.files
        return generated


@in_storage(output="named")
def preview(
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    chain: Chains = "real",
    *,
    output: OutputFolder = None,
    seed: Seed = 0,
    limit: Limit = None,
    **generation: Unpack[Generation],
) -> tuple[Generated, JsonObject]:
    """Make five samples and show them, with what the whole run would cost; nothing is written but
    the recording.

    The whole run, with the same arguments, does not pay for them again.
    """
    setup = GenerationSetup(chain, seed, **generation)
    whole = cost_of(generate, data, chain, output=output, seed=seed, limit=limit, **generation)
    with Run(
        "generate",
        data,
        output,
        limit=limit,
        concurrency=PREVIEW_SAMPLES,
        estimate=True,
        **setup.calls,
    ) as run:
        return _generated(setup, run, originals=False, only=PREVIEW_SAMPLES), whole


def cost(setup: GenerationSetup, run: Run) -> tuple[dict[str, Priced], int]:
    """What each model would be asked, and the number of samples."""
    providers = setup.open(run)
    planned, recording = setup.plan(run.dataset, list(providers)), run.calls.existing()
    parts: dict[str, Priced] = {}
    for name, provider in providers.items():
        requests = [
            request
            for job in planned
            if job.configuration.model == name and (prompt := job.configuration.chain.prompt)
            for request in requests_of(job, setup.prompts[prompt], setup.style, setup.seed)
        ]
        parts[name] = estimate_calls(requests, provider.profile, recording=recording)
    return parts, len(planned)


def _generated(
    setup: GenerationSetup, run: Run, *, originals: bool, only: int | None = None
) -> Generated:
    providers = setup.open(run)
    planned = setup.plan(run.dataset, list(providers))[:only]
    described = {**setup.describe(), "models": sorted(providers), "originals": originals}
    journal = run.journal(**described)

    async def work() -> Any:
        try:
            return await make_all(
                planned,
                providers,
                setup.prompts,
                setup.style,
                setup.seed,
                journal,
                run.calls.concurrency,
            )
        finally:
            for provider in providers.values():
                await provider.close()

    results = sync.run(work())
    dataset = dataset_of(run.dataset, planned, results, described, setup.seed, originals)
    covered = coverage(planned, [outcome.status == COMPLETE for outcome in results])
    standing = next((p.standing for p in providers.values() if p.standing), None)
    return Generated(**vars(dataset), coverage=covered, standing=standing)
