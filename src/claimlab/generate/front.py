"""The Python twins of `claimlab generate run`, with and without --preview.

samples = cl.generate("seeds", chain=["real", "altered"], languages=["eng", "por"],
profile=["mine"], output="out")
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Unpack

import polars as pl

from claimlab.core import sync
from claimlab.core.call import in_storage, repeatable
from claimlab.core.calls.estimate import Priced, cost_of
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
from claimlab.core.settings import each_of, one_of
from claimlab.core.types import JsonObject
from claimlab.generate.plan import BY, Job, coverage, find_chain, jobs
from claimlab.generate.run import COMPLETE, STYLES, dataset_of, engine_name, make_all, requests_of
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.layers import Validated
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import read_prompts
from claimlab.pages.blocks import Block, Quote, Section, Table, Text

SHOWN = 5  # samples of a preview


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
        Sequence[str], Setting("Column to draw evenly over; may be repeated.", default=BY)
    ]
    profile: Annotated[
        str | Sequence[str] | None,
        Option("Model profile; may be repeated. See: claimlab llm profiles"),
    ]
    model: ModelName
    prompts: PromptFiles


class Setup:
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
        )


@repeatable()
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
    setup = Setup(chain, seed, **generation)
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
    setup = Setup(chain, seed, **generation)
    whole = cost_of(generate, data, chain, output=output, seed=seed, limit=limit, **generation)
    with Run(
        "generate",
        data,
        output,
        limit=limit,
        concurrency=SHOWN,
        estimate=True,
        **setup.calls,
    ) as run:
        return _generated(setup, run, originals=False, only=SHOWN), whole


def cost(setup: Setup, run: Run) -> tuple[dict[str, Priced], int]:
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


def _generated(setup: Setup, run: Run, *, originals: bool, only: int | None = None) -> Generated:
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


# Generated samples for a terminal: a few of them in full, and what the whole covers.

LOGGED = 20  # entries of a change log that a preview shows
CHARACTERS = 600


def coverage_blocks(generated: Generated) -> list[Block]:
    rows = [[r["dimension"], r["value"], r["planned"], r["complete"]] for r in generated.coverage]
    return [Table(["Dimension", "Value", "Planned", "Complete"], rows)]


def sample_blocks(generated: Generated) -> list[Block]:
    """Each sample: how it was generated, its texts, its change log; one that stopped says so."""
    out: list[Block] = []
    for row in generated.tables["chains"].iter_rows(named=True):
        texts = generated.records.filter(pl.col("id").str.starts_with(f"{row['sample']}-"))
        about = (
            f"{row['chain']}: {row['technique']}, {row['degree']}; {row['direction']};"
            f" {row['model']}: {row['status']}"
        )
        blocks: list[Block] = [Text(about)]
        if row["stopped"]:
            blocks.append(
                Text(f"Stopped at {row['stopped']}: {row['detail'] or row['status']}", "warning")
            )
        for record in texts.iter_rows(named=True):
            meta = json.loads(record["meta"])
            head = (
                f"{meta['field']}, {record['language']}, {record['authorship']}, label"
                f" {record['label_raw']}"
            )
            blocks.append(Quote((record["text"] or "")[:CHARACTERS], head))
        if texts.height:
            log = json.loads(texts["meta"][0])["synthetic"]["changes"]
            entries = [
                f"{c.get('kind') or c['name']}: {c['before'].strip()} → {c['after'].strip()}"
                for c in log
                if "after" in c
            ]
            blocks.append(Text(f"Change log: {'; '.join(entries[:LOGGED]) or 'nothing'}"))
        out.append(Section(row["sample"], blocks))
    return out
