"""`cl.contamination` and `claimlab contamination`: does a model know the test set?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, NoReturn, Unpack

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.errors import DataError, UsageError
from claimlab.core.finding import Finding
from claimlab.core.options import (
    Argument,
    BatchOptions,
    Force,
    Limit,
    ModelName,
    Option,
    OutputFolder,
    Place,
    Profile,
    PromptFiles,
    Seed,
    Setting,
    is_capped,
)
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab.detect.open import open_handles
from claimlab.evaluate.contamination.completion import (
    PROMPT,
    Probe,
    completion_finding,
    completions,
    halves,
)
from claimlab.evaluate.contamination.cutoff import cutoff_day, cutoff_finding, cutoff_of, dated
from claimlab.evaluate.contamination.overlap import files_in, names_of, overlap
from claimlab.evaluate.contamination.result import KIND, Contamination, text_keys, with_status
from claimlab.evaluate.contamination.views import contents
from claimlab.llm.estimate import estimate
from claimlab.llm.profiles import find_profile
from claimlab.llm.prompts import Prompts, read_prompts
from claimlab.pages.folder import fill, write_report

PROBES = 100


class Measured(Contamination):
    """A measurement that was just made; it can write its report."""

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the report: `contamination.json`, the table of records, a page and Markdown."""
        write_report(contents(self), Path(folder), force=force)


@repeatable()
def contamination(
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    *,
    output: OutputFolder = None,
    corpus: Annotated[
        Place | Sequence[Place],
        Option("A file, folder or dataset that the model may have read; may be repeated."),
    ] = (),
    cutoff: Annotated[
        str | date | None,
        Option("The model's knowledge cut-off: a date such as 2024-06, or a model's name."),
    ] = None,
    profile: Profile = None,
    model: ModelName = None,
    probes: Annotated[
        int, Setting("Records that the model is asked to complete.", least=20)
    ] = PROBES,
    prompts: PromptFiles = (),
    split: Annotated[str | None, Setting("Measure this split only, such as test.")] = None,
    limit: Limit = None,
    seed: Seed = 0,
    force: Force = False,
    progress: Progress = silent,
    **calls: Unpack[BatchOptions],
) -> Measured:
    """Measure whether a model may know a test set: by word sequences, dates and completions.

    The model is asked to complete records from their first half, and its own cut-off is taken where
    it is known. `evaluate` shows the result next to the scores of language models.
    """
    corpora = [Path(c) for c in ([corpus] if isinstance(corpus, str | Path) else corpus)]
    _check(
        corpora,
        cutoff,
        profile,
        model=model,
        prompts=prompts or None,
        caps=is_capped(calls) or None,
    )
    words, day = read_prompts(prompts, "contamination"), _day(cutoff, profile, model)
    with Run(
        "contamination",
        data,
        output,
        kind=KIND,
        reads=corpora,
        limit=limit,
        force=force,
        seed=seed,
        progress=progress,
        **calls,
    ) as run:
        records = _part(run.dataset.records, split)
        if run.estimate:
            _estimate(run, records, profile, model, probes, words)
        table = records.select("id").with_columns(text_keys(records))
        findings: list[Finding] = []
        if corpora:
            journal = run.journal(split=split, corpora=[_known(c) for c in corpora])
            columns, finding = overlap(
                records, corpora, journal=journal, seed=seed, progress=progress
            )
            findings.append(finding)
            table = table.hstack(columns.drop("id", "control"))
        if day is not None:
            table = table.with_columns(dated(records, day))
            findings.append(cutoff_finding(table["dated"], day))
        settings: JsonObject = {"seed": seed, "corpora": names_of(corpora)}
        if profile is not None:
            columns, finding, question = _ask(run, records, profile, model, probes, words)
            findings.append(finding)
            settings |= question
            table = table.join(columns, on="id", how="left", maintain_order="left")
        dataset = run.dataset
        report = Measured(
            dataset.name, dataset.digest(), split, findings, with_status(table), settings
        )
        run.fill(lambda folder: fill(contents(report), folder))
    return report


def _estimate(
    run: Run,
    records: pl.DataFrame,
    profile: str | None,
    model: str | None,
    probes: int,
    prompts: Prompts,
) -> NoReturn:
    """What the probe would cost."""
    if profile is None:
        raise UsageError(
            "No model is asked: it costs nothing.", "Leave out `estimate`, or pass `profile`."
        )
    seed = run.seed or 0
    with open_handles(run.calls, profile=profile, model=model) as handles:
        probe = Probe(handles["model"], prompts[PROMPT], seed=seed)
        cases = halves(records, probes, seed)
        endpoint = probe.provider.profile
        part = estimate(probe.requests(cases), endpoint, recording=run.calls.existing())
        run.estimated({endpoint.chosen_model(): part}, facts={"probes": len(cases)})


def _ask(
    run: Run, records: pl.DataFrame, profile: str, model: str | None, probes: int, prompts: Prompts
) -> tuple[pl.DataFrame, Finding, JsonObject]:
    seed = run.seed or 0
    enough = halves(records, records.height, seed)
    cases = halves(records, probes, seed)
    with open_handles(run.calls, profile=profile, model=model) as handles:
        probe = Probe(handles["model"], prompts[PROMPT], seed=seed)
        answers = probe.ask(cases, run.progress)
        name, standing = probe.provider.profile.chosen_model(), probe.provider.profile.standing
    table = completions(cases, answers)
    tally = {
        key: value
        for key, value in probe.tally.summary().items()
        if key not in ("from_cache", "spent", "calls")
    }
    tally["notes"] = [*tally["notes"], *([standing] if standing else [])]
    finding = completion_finding(
        table, cases, name, tally, too_short=records.height - len(enough), seed=seed
    )
    question = {"model": name, "probes": len(cases), "prompts": prompts.lineage(PROMPT)}
    return table, finding, question


def _part(records: pl.DataFrame, split: str | None) -> pl.DataFrame:
    part = records if split is None else records.filter(pl.col("split") == split)
    if not part.height:
        raise DataError(
            f"There are no records in the split '{split}'.", "Check the name of the split."
        )
    return part


def _day(cutoff: str | date | None, profile: str | None, model: str | None) -> date | None:
    """The cut-off that was given, or the one that is known of the model to be asked."""
    if cutoff is not None:
        return cutoff_day(cutoff)
    name = None if profile is None else find_profile(profile).with_model(model).chosen_model()
    stated = None if name is None else cutoff_of(name)
    return None if stated is None else cutoff_day(stated)


def _known(corpus: Path) -> list[Any]:
    """What a corpus is known by in the key of a run: a changed file is read again."""
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files_in(corpus)]


def _check(
    corpora: Sequence[Path], cutoff: str | date | None, profile: str | None, **options: Any
) -> None:
    if not corpora and cutoff is None and profile is None:
        raise UsageError(
            "There is nothing to measure with.", "Pass `corpus`, `cutoff` or `profile`."
        )
    unused = (
        [f"`{name}`" for name, value in options.items() if value is not None]
        if profile is None
        else []
    )
    if unused:
        what = (
            "A cap"
            if unused == ["`caps`"]
            else " and ".join(name for name in unused if name != "`caps`")
        )
        raise UsageError(f"{what} means something only where a model is asked.", "Pass `profile`.")
