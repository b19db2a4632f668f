"""The Python twins of `claimlab generate run` and `claimlab generate preview`.

samples = cl.generate("seeds", chain=["real", "altered"], languages=["eng", "por"],
profile=["mine"], output="out")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from claimlab.core import sync
from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.budget import Caps
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced, estimated
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.languages import require
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source
from claimlab.core.settings import each_of, one_of
from claimlab.core.types import JsonObject
from claimlab.generate.chain import COMPLETE, STYLES, Style, requests_of
from claimlab.generate.chains import Chain, find_chain
from claimlab.generate.plan import Job, coverage, jobs
from claimlab.generate.run import dataset_of, make_all
from claimlab.generate.seeds import BY, read_reputation
from claimlab.generate.translate import engine_name
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import Given, Prompts, read_prompts
from claimlab.llm.validate import Validated

SHOWN = 5  # samples of a preview


@dataclass(repr=False)
class Generated(Dataset):
    """What the chains generated, with every chain in the table `chains`; `coverage` is planned
    against complete.
    """

    coverage: list[JsonObject] = field(default_factory=list)
    budget: JsonObject = field(default_factory=dict)
    standing: str | None = None


@dataclass(frozen=True)
class Setup:
    """The arguments of a generation, read and checked before anything is spent."""

    chains: list[Chain]
    languages: list[str]
    profiles: tuple[str, ...]
    model: str | None
    style: Style
    prompts: Prompts
    size: int
    by: tuple[str, ...]
    classed: dict[str, str] | None
    seed: int

    @classmethod
    def of(cls, words: JsonObject) -> Setup:
        chains = [find_chain(name) for name in each_of(words["chain"])]
        profiles = each_of(words["profile"] or ())
        if any(chain.prompt for chain in chains) and not profiles:
            raise UsageError(
                "No model is given to fill in the chain.", "Pass `profile`, or `chain` translation."
            )
        if not any(chain.prompt for chain in chains) and profiles:
            raise UsageError("The chain 'translation' asks no model.", "Leave out `profile`.")
        if words["model"] and len(profiles) > 1:
            raise UsageError(
                "One model cannot be of several profiles.", "Pass `model` with one `profile`."
            )
        languages = list(dict.fromkeys(require(code) for code in words["languages"]))
        if len(languages) < 2 or "eng" not in languages:
            todo = "Pass `languages` with English and at least one other."
            raise UsageError("Texts go from English to another language, and back.", todo)
        return cls(
            chains,
            languages,
            profiles,
            words["model"],
            one_of(STYLES, words["style"], "style"),
            read_prompts(words["prompts"], "generate"),
            words["size"],
            each_of(words["by"]),
            read_reputation(words["reputation"]),
            words["seed"],
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
            "reputation": self.classed,
            "prompts": self.prompts.lineage(*prompts),
        }

    def open(self, run: Run) -> dict[str, Validated]:
        opened = [
            open_provider(profile, model=self.model, calls=run.calls) for profile in self.profiles
        ]
        return {one.profile.chosen_model(): one for one in opened}

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
            classed=self.classed,
        )


@repeatable()
def generate(
    data: Source,
    chain: str | Sequence[str] = "real",
    *,
    languages: Sequence[str] = ("eng", "por"),
    size: int = 20,
    style: str = "form",
    by: Sequence[str] = BY,
    reputation: str | Path | None = None,
    profile: str | Sequence[str] | None = None,
    model: str | None = None,
    prompts: Given = (),
    originals: bool = True,
    output: str | Path | None = None,
    cache: str | Path | None = None,
    mode: str = "record",
    batch: bool = False,
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    concurrency: int = 16,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Generated:
    """Make `size` samples from the texts of `data`: an article and a post, each in two languages,
    with their labels.

    `chain` is "real" (edited, facts kept), "altered" (facts changed and logged), "translation" (a
    local engine, no model), a file of your own, or several. Seeds are drawn evenly over the columns
    `by`, each once; `reputation` is a table of sources and their class. English texts go into the
    other `languages`, all others into English. `style` asks for the whole form at once, or calls
    the model for each role ("roles"). `profile` is a model, or several. `originals` keeps the seeds
    beside what was made of them, as the human class.
    """
    setup = Setup.of(locals())
    with Run(
        "generate",
        data,
        output,
        limit=limit,
        force=force,
        seed=seed,
        caps=Caps(max_cost, max_calls, max_tokens),
        mode=mode,
        cache=cache,
        concurrency=concurrency,
        batch=batch,
        progress=progress,
    ) as run:
        generated, _ = _generated(setup, run, run.dataset, originals=originals)
        generated.budget = run.calls.budget.summary()
        finished = run.finish(generated)
        generated.path, generated.files = finished.path, finished.files
        return generated


@same_arguments(generate)
def preview(call: Arguments) -> tuple[Generated, JsonObject]:
    """The first five samples that `generate` with the same arguments would make, and what the whole
    would cost. They are recorded, so that the whole run does not pay for them again."""
    setup, estimate = Setup.of(vars(call)), estimate_generate(**vars(call))
    with _estimating(
        call, caps=Caps(call.max_cost, call.max_calls, call.max_tokens), progress=call.progress
    ) as run:
        generated, _ = _generated(setup, run, run.dataset, originals=False, only=SHOWN)
        return generated, estimate


@same_arguments(generate)
def estimate_generate(call: Arguments) -> JsonObject:
    """What `generate` with the same arguments would cost at most; nothing is asked and nothing
    written.
    """
    setup = Setup.of(vars(call))
    with _estimating(call) as run:
        providers = setup.open(run)
        planned = setup.plan(run.dataset, list(providers))
        parts: dict[str, Priced] = {}
        for name, provider in providers.items():
            requests = [
                request
                for job in planned
                if job.configuration.model == name and job.configuration.chain.prompt is not None
                for request in requests_of(
                    job, setup.prompts[job.configuration.chain.prompt], setup.style, setup.seed
                )
            ]
            parts[name] = estimate_calls(requests, provider.profile, recording=run.calls.existing())
        return estimated(parts, facts={"samples": len(planned)})


def _estimating(call: Arguments, **more: Any) -> Run:
    how = {
        "limit": call.limit,
        "mode": call.mode,
        "cache": call.cache,
        "concurrency": call.concurrency,
    }
    return Run("generate", call.data, call.output, estimate=True, **how, **more)


def _generated(
    setup: Setup, run: Run, data: Dataset, *, originals: bool, only: int | None = None
) -> tuple[Generated, list[Job]]:
    providers = setup.open(run)
    planned = setup.plan(data, list(providers))[:only]
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
                run.progress,
            )
        finally:
            for provider in providers.values():
                await provider.close()

    results = sync.run(work())
    dataset = dataset_of(data, planned, results, described, setup.seed, originals)
    facts = [
        {
            "language": (
                job.configuration.target
                if job.configuration.source == "eng"
                else job.configuration.source
            ),
            **job.configuration.facts(),
        }
        for job in planned
    ]
    covered = coverage(facts, [outcome.status == COMPLETE for outcome in results])
    standing = next((p.standing for p in providers.values() if p.standing), None)
    return Generated(**vars(dataset), coverage=covered, standing=standing), planned
