"""`cl.overlap` and `claimlab overlap`: what datasets share, and what a model may know of one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Unpack

import polars as pl

from claimlab.claims.conflicts import conflicts_in, disagreement
from claimlab.claims.contamination.measure import RECORDS_PROBED, Suspicion, contamination_of, costs
from claimlab.claims.graph import Graph, graph_of
from claimlab.claims.result import KIND, Overlap
from claimlab.claims.shared import clusters, evidence, leaks, matrix, unseen
from claimlab.claims.views import contents
from claimlab.core.call import repeatable
from claimlab.core.choices import each_of
from claimlab.core.dataset import Dataset, Lineage, belonging
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.options import (
    Argument,
    BatchOptions,
    Engine,
    Force,
    Limit,
    Option,
    OptionalFolder,
    Place,
    Profile,
    PromptFiles,
    Setting,
    is_capped,
)
from claimlab.core.progress import progress
from claimlab.core.run import Run, Source, Stored, folders_of
from claimlab.llm.prompts import read_prompts
from claimlab.pages.folder import fill, write_report

ALL = "all"
UNSEEN = "unseen"


class Compared(Overlap):
    """An overlap that was just measured; it can write its report."""

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the report: JSON, tables, a page and Markdown."""
        write_report(contents(self), Path(folder), force=force)


@repeatable()
def overlap(  # noqa: PLR0913
    data: Annotated[
        Stored | Sequence[Source],
        Argument("Claimlab dataset folders. `unseen_by`, `corpus` and `profile` ask of the first."),
    ],
    *,
    output: OptionalFolder = None,
    meaning: Annotated[
        bool,
        Option("Also paraphrases and translations, by sentence vectors (slow the first time)."),
    ] = False,
    unseen_by: Annotated[
        Sequence[str],
        Option(
            "Also write the records of the first dataset that this one does not contain; 'all' for"
            " every other; may be repeated.",
            metavar="NAME",
        ),
    ] = (),
    corpus: Annotated[
        Place | Sequence[Place],
        Option("A file, folder or dataset that a model may have read; may be repeated."),
    ] = (),
    cutoff: Annotated[
        str | date | None,
        Setting("A model's knowledge cut-off: a date such as 2024-06, or a model's name."),
    ] = None,
    profile: Profile = None,
    model: Annotated[str | None, Setting("Another model of the same endpoint.")] = None,
    probes: Annotated[
        int, Setting("Records that the model is asked to complete.", least=20)
    ] = RECORDS_PROBED,
    prompts: PromptFiles = (),
    split: Annotated[str | None, Setting("Ask of this split only, such as test.")] = None,
    limit: Limit = None,
    seed: Annotated[int, Setting("Random seed.", least=0)] = 0,
    force: Force = False,
    engine: Engine = None,
    **calls: Unpack[BatchOptions],
) -> Compared:
    """Find what datasets share: copies, edits, leaks between them, and sources that disagree.

    With `corpus`, `cutoff` or `profile` it also measures whether a model may know the first
    dataset: by word sequences, dates and completions. `evaluate` shows that next to the scores of
    language models.
    """
    sources = [data] if isinstance(data, Dataset | str | Path) else list(data)
    if not sources:
        raise UsageError("There is nothing to compare.", "Name at least one dataset.")
    corpora = tuple(map(Path, each_of(corpus)))
    if profile is None and (model or prompts or is_capped(calls)):
        raise UsageError(
            "A model, a prompt or a cap means something only where a model is asked.",
            "Pass `profile`.",
        )
    words = read_prompts(prompts, "overlap")
    suspicion = Suspicion(corpora, cutoff, profile, model, probes, words, split)
    with Run(
        "overlap",
        sources[0],
        output,
        kind=KIND,
        reads=[*folders_of(*sources[1:]), *corpora],
        limit=limit,
        force=force,
        seed=seed,
        engine=engine,
        **calls,
    ) as run:
        if run.estimate:
            prices, probe_count = costs(run, suspicion)
            run.estimated(prices, facts={"probes": probe_count})
        contamination = contamination_of(run, suspicion) if suspicion else None
        datasets = [run.dataset, *(Dataset.of(source, limit) for source in sources[1:])]
        graph = graph_of(datasets, meaning=meaning, progress=progress)
        table = matrix(graph)
        result = Compared(
            graph,
            table,
            leaks(table),
            disagreement(graph),
            clusters(graph),
            conflicts_in(graph),
            evidence(graph),
            _unseen(graph, run.dataset, unseen_by) if unseen_by else None,
            contamination,
        )
        run.fill(lambda folder: _write(result, folder))
    return result


def _write(result: Overlap, folder: Path) -> None:
    if result.unseen is not None:
        result.unseen.write(folder / UNSEEN)
    fill(contents(result), folder)


def _unseen(graph: Graph, dataset: Dataset, names: Sequence[str]) -> Dataset:
    """The first dataset without the records that the named ones contain."""
    others = graph.names[1:]
    if unknown := [name for name in names if name not in (*others, ALL)]:
        raise UnknownName("dataset", unknown[0], [*others, ALL])
    by = [graph.names.index(name) for name in (others if ALL in names else names)]
    if not by:
        raise UsageError("There is no other dataset.", "Name the datasets to compare with, too.")
    remaining = unseen(graph, by)
    step = Lineage(
        step="overlap",
        parameters={"unseen_by": [graph.names[number] for number in by]},
        inputs={dataset.name: dataset.digest()},
        counts={"records": len(dataset), "unseen": int(remaining.sum())},
    )
    records = dataset.records.filter(pl.Series(remaining))
    return dataset.derive(records, step, belonging(dataset.tables, records["id"]))
