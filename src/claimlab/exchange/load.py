"""`load`: a dataset of the catalogue from its published files, or a folder that holds records
already.
"""

from __future__ import annotations

from pathlib import Path

from claimlab.catalog.download import Terms, unread
from claimlab.catalog.download import download as fetch_published
from claimlab.catalog.load import DATASETS
from claimlab.catalog.load import load as load_published
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.labels import check_unmapped
from claimlab.core.progress import Progress, silent


@repeatable("on_terms")
def load(
    name: str | Path,
    source: str | Path | None = None,
    *,
    output: str | Path | None = None,
    variant: str | None = None,
    labels: str | None = None,
    unmapped: str = "error",
    limit: int | None = None,
    download: bool = False,
    force: bool = False,
    on_terms: Terms = unread,
    progress: Progress = silent,
) -> Dataset:
    """The catalogued dataset `name`, read from `source`: the zip, folder or file that its authors
    publish, or a folder of the Hugging Face hub's cache with these files. Without `source`, `name`
    is a folder that claimlab exported, that the `datasets` library saved, or of the hub's cache.

    `variant` and `labels` choose among the named views and verdict maps of the dataset;
    `unmapped="unknown"` accepts labels that the map does not know. With `output`, the dataset is
    written there. `download` fetches the published file first, where the catalogue knows its
    address, and keeps it at `source` (by default in the user's cache); `on_terms` gets the licence
    and the address before anything is fetched.
    """
    if download:
        source = fetch_published(
            DATASETS.get(str(name)).card, source, on_terms=on_terms, progress=progress
        )
    if source is not None:
        return load_published(
            str(name),
            source,
            output=output,
            variant=variant,
            labels=labels,
            unmapped=unmapped,
            limit=limit,
            force=force,
        )
    if not Path(name).is_dir():
        raise UsageError(*_no_source(str(name)))
    if variant is not None:
        raise UsageError("A folder has no variants.", "Leave out `variant`.")
    from claimlab.exchange.importer import import_files

    choice = check_unmapped(unmapped)
    return import_files(name, output, labels=labels, unmapped=choice, limit=limit, force=force)[0]


def _no_source(name: str) -> tuple[str, str]:
    """What to say of a name without files: where they are, or that no dataset has this name."""
    card = DATASETS.get(name).card
    todo = (
        "Pass `download=True` to fetch them."
        if card.download
        else f"Get them ({card.access}), then give them."
    )
    return f"No file or folder of {card.title} was given.", todo
