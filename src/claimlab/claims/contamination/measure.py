"""Whether a model may know a test set: by word sequences of corpora, dates and completions. Each
measurement that the suspicion asks for is made beside its control.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import polars as pl

from claimlab.claims.contamination.completion import (
    PROMPT,
    Probe,
    completion_finding,
    completions,
    halves,
)
from claimlab.claims.contamination.cutoff import cutoff_day, cutoff_finding, cutoff_of, dated
from claimlab.claims.contamination.grams import overlap
from claimlab.claims.contamination.result import (
    Contamination,
    text_keys,
    with_status,
)
from claimlab.claims.contamination.texts import files_in, names_of
from claimlab.core import sync
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import Priced
from claimlab.core.errors import DataError, UsageError
from claimlab.core.finding import Finding
from claimlab.core.run import Run
from claimlab.core.types import Json, JsonObject
from claimlab.llm.estimate import estimate
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import find_profile
from claimlab.llm.prompts import Prompts

RECORDS_PROBED = 100


@dataclass(frozen=True)
class Suspicion:
    """What a model may have read (`corpora`), until when (`cutoff`), and which model to ask
    (`profile`); `probes` records are completed.
    """

    corpora: tuple[Path, ...] = ()
    cutoff: str | date | None = None
    profile: str | None = None
    model: str | None = None
    probes: int = RECORDS_PROBED
    prompts: Prompts = field(default_factory=Prompts)
    split: str | None = None

    def __bool__(self) -> bool:
        return bool(self.corpora) or self.cutoff is not None or self.profile is not None

    @property
    def day(self) -> date | None:
        """The cut-off that was given, or the one that is known of the model to be asked."""
        if self.cutoff is not None:
            return cutoff_day(self.cutoff)
        if self.profile is None:
            return None
        stated = cutoff_of(find_profile(self.profile).with_model(self.model).chosen_model())
        return None if stated is None else cutoff_day(stated)

    def part(self, records: pl.DataFrame) -> pl.DataFrame:
        """The records that are measured."""
        part = records if self.split is None else records.filter(split=self.split)
        if not part.height:
            raise DataError(
                f"There are no records in the split '{self.split}'.",
                "Check the name of the split.",
            )
        return part


def contamination_of(run: Run, suspicion: Suspicion) -> Contamination:
    """What is measured of the run's dataset, each measurement beside its control."""
    day, seed = suspicion.day, run.seed or 0
    records = suspicion.part(run.dataset.records)
    table = records.select("id").with_columns(text_keys(records))
    findings: list[Finding] = []
    settings: JsonObject = {"seed": seed, "corpora": names_of(suspicion.corpora)}
    if suspicion.corpora:
        files = [_files_known(corpus) for corpus in suspicion.corpora]
        journal = run.journal(split=suspicion.split, corpora=files)
        columns, finding = overlap(
            records, suspicion.corpora, journal=journal, seed=seed, progress=run.progress
        )
        findings.append(finding)
        table = table.hstack(columns.drop("id", "control"))
    if day is not None:
        table = table.with_columns(dated(records, day))
        findings.append(cutoff_finding(table["dated"], day))
    if suspicion.profile is not None:
        columns, finding, question = _ask(run, records, suspicion)
        findings.append(finding)
        settings |= question
        table = table.join(columns, on="id", how="left", maintain_order="left")
    name, digest = run.dataset.name, run.dataset.digest()
    return Contamination(name, digest, suspicion.split, findings, with_status(table), settings)


def costs(run: Run, suspicion: Suspicion) -> tuple[dict[str, Priced], int]:
    """What the probe would cost, by model, and how many records it would ask about."""
    if suspicion.profile is None:
        raise UsageError(
            "No model is asked: it costs nothing.", "Leave out `estimate`, or pass `profile`."
        )
    seed = run.seed or 0
    with _probe(run.calls, suspicion, seed) as probe:
        cases = halves(suspicion.part(run.dataset.records), suspicion.probes, seed)
        endpoint = probe.provider.profile
        part = estimate(probe.requests(cases), endpoint, recording=run.calls.existing())
        return {endpoint.chosen_model(): part}, len(cases)


@contextmanager
def _probe(calls: Calls, suspicion: Suspicion, seed: int) -> Iterator[Probe]:
    assert suspicion.profile is not None
    provider = open_provider(suspicion.profile, model=suspicion.model, calls=calls)
    try:
        yield Probe(provider, suspicion.prompts[PROMPT], seed=seed)
    finally:
        sync.run(provider.close())


def _ask(
    run: Run, records: pl.DataFrame, suspicion: Suspicion
) -> tuple[pl.DataFrame, Finding, JsonObject]:
    seed = run.seed or 0
    enough = halves(records, records.height, seed)
    cases = halves(records, suspicion.probes, seed)
    with _probe(run.calls, suspicion, seed) as probe:
        answers = probe.ask(cases)
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
    words = suspicion.prompts.lineage(PROMPT)
    return table, finding, {"model": name, "probes": len(cases), "prompts": words}


def _files_known(corpus: Path) -> list[Json]:
    """What a corpus is known by in the key of a run: a changed file is read again."""
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files_in(corpus)]
