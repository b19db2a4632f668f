"""Load a catalogued dataset from the zip, folder or file its authors publish."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from claimlab.catalog import counts
from claimlab.catalog.cards import CardRegistry
from claimlab.catalog.entry import Entry, Loaded, Loader
from claimlab.catalog.ids import numbered
from claimlab.catalog.period import odd_dates
from claimlab.catalog.synthetic import marked
from claimlab.catalog.unread import keep_unread
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset, Lineage, belonging
from claimlab.core.errors import UnreadableFile
from claimlab.core.labels import LabelMap, Unmapped, check_unmapped
from claimlab.core.run import Run
from claimlab.core.words import several
from claimlab.files.bundle import Bundle

DATASETS = CardRegistry(
    "dataset", package="claimlab.catalog.readers", attribute="DATASET", group="claimlab.datasets"
)


@repeatable()
def load(
    name: str,
    source: str | Path,
    *,
    output: str | Path | None = None,
    variant: str | None = None,
    labels: str | None = None,
    unmapped: str = "error",
    limit: int | None = None,
    force: bool = False,
) -> Dataset:
    """The catalogued dataset `name`, read from `source`: the zip, folder or file that its authors
    publish.

    `variant` and `labels` choose among the named views and verdict maps of the dataset;
    `unmapped="unknown"` accepts labels that the map does not know. With `output`, the dataset is
    written there.
    """
    choice = check_unmapped(unmapped)
    with Run("load", None, output, reads=[source], force=force) as run:
        return run.finish(_load(name, source, variant, labels, choice, limit))


def _load(
    name: str,
    source: str | Path,
    variant: str | None,
    labels: str | None,
    unmapped: Unmapped,
    limit: int | None,
) -> Dataset:
    entry = DATASETS.get(name)
    chosen, loader = entry.loader_named(variant)
    verdicts = entry.map_named(labels)
    with Bundle.open(source) as bundle:
        loaded = read(loader, bundle, entry)
        inputs = bundle.hashes()
    loaded.records, unread = keep_unread(loaded.records)
    if loaded.records.is_empty():
        raise UnreadableFile(
            f"'{source}' gave no records as {entry.card.title}.", "Give the files as published."
        )
    records = loaded.records if limit is None else loaded.records.head(limit)
    if "id" not in records.columns:
        records = records.with_columns(numbered(entry.card.name, records.height))
    records, notes = mapped(records, verdicts, unmapped)
    records, machine_made = marked(records, entry.card.title)
    dataset = Dataset.build(
        entry.card.name,
        records,
        loaded.tables if limit is None else belonging(loaded.tables, records["id"]),
        card=entry.card.name,
        licence=entry.card.licence,
        synthetic=loaded.synthetic or machine_made,
        notes=[*loaded.notes, *unread, *notes, *warnings(entry, records)],
    )
    dataset.lineage = [
        Lineage(
            step="load",
            parameters={
                "dataset": entry.card.name,
                "variant": chosen,
                "map": f"{verdicts.name}@{verdicts.version}" if verdicts else None,
                "unmapped": unmapped,
                "limit": limit,
            },
            inputs=inputs,
            counts={"records": records.height},
        )
    ]
    dataset.notes += odd_dates(dataset.records["date"], entry.card)
    dataset.notes += counts.note(entry, chosen, loaded.records.height)
    return dataset


def read(loader: Loader, bundle: Bundle, entry: Entry) -> Loaded:
    """Run a loader; a file that is not laid out as published gives a sentence, not a traceback."""
    try:
        loaded = loader(bundle)
    except (
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        AttributeError,
        pl.exceptions.PolarsError,
    ) as error:
        raise UnreadableFile(
            f"'{bundle.path.name}' is not laid out as {entry.card.title} ({type(error).__name__}:"
            f" {error}).",
            f"Give the files as published (claimlab catalog show {entry.card.name}), or use"
            " claimlab import.",
        ) from error
    if "language" not in loaded.records.columns and len(entry.card.languages) == 1:
        loaded.records = loaded.records.with_columns(language=pl.lit(entry.card.languages[0]))
    return loaded


def mapped(
    records: pl.DataFrame, verdicts: LabelMap | None, unmapped: Unmapped
) -> tuple[pl.DataFrame, list[str]]:
    """Fill `veracity` from `label_raw`, unless the loader did."""
    if "veracity" in records.columns or verdicts is None or "label_raw" not in records.columns:
        return records, []
    result = verdicts.apply(records["label_raw"], unmapped=unmapped)
    notes = []
    if result.unmapped:
        n = sum(result.unmapped.values())
        notes.append(
            f"{several(n, 'row')} set to unknown: the map lacks"
            f" {several(len(result.unmapped), 'label')}."
        )
    return records.with_columns(result.veracity), notes


def warnings(entry: Entry, records: pl.DataFrame) -> list[str]:
    """What a user must know at once: data of one class, ids without text."""
    notes = []
    classes = (
        set(records["veracity"].drop_nulls().to_list()) - {"unknown"}
        if "veracity" in records.columns
        else set()
    )
    if len(classes) == 1:
        notes.append(
            f"Only one class ('{next(iter(classes))}') is in these files: {entry.card.title} as"
            " given cannot train or test a detector."
        )
    texts = records["text"].drop_nulls().len() if "text" in records.columns else 0
    if texts == 0:
        notes.append(
            "These files hold ids without text: checks of text are not possible until the texts are"
            " fetched."
        )
    return notes


__all__ = ["DATASETS", "Loaded", "load"]
