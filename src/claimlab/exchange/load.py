"""`load`: a dataset of the catalogue from its published files, or a folder that holds records
already.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from claimlab.catalog.load import DATASETS
from claimlab.catalog.load import load as load_published
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.labels import check_unmapped
from claimlab.core.options import Argument, Force, Limit, Option, OutputFolder, Place, Setting


@repeatable()
def load(
    name: Annotated[
        Place,
        Argument(
            "Name in the catalogue, such as liar (see: claimlab catalog), or a folder of records.",
            complete="datasets",
            kind=str,
        ),
    ],
    source: Annotated[
        Place | None, Argument("The zip, folder or file as its authors publish it.")
    ] = None,
    *,
    output: OutputFolder = None,
    variant: Annotated[
        str | None, Option("A named view of the dataset; see: claimlab catalog show NAME")
    ] = None,
    map: Annotated[
        Mapping[str, str] | str | None,
        Option("A label map of the dataset, such as a5 or cdl, or your own: 0=true,1=false."),
    ] = None,
    unmapped: Annotated[
        str, Setting("Labels that the map does not know: 'error', or accept as 'unknown'.")
    ] = "error",
    limit: Limit = None,
    force: Force = False,
) -> Dataset:
    """Load a catalogued dataset from a zip or folder, or a folder that was exported or that Hugging
    Face's libraries saved, into a claimlab dataset folder.

    `source` may be a folder of the Hugging Face hub's cache with the published files, too. Without
    it, `name` is a folder that claimlab exported, that the `datasets` library saved, or of the
    hub's cache.
    """
    if source is not None:
        return load_published(
            str(name),
            source,
            output=output,
            variant=variant,
            map=map,
            unmapped=unmapped,
            limit=limit,
            force=force,
        )
    if not Path(name).is_dir():
        card = DATASETS.get(str(name)).card
        raise UsageError(
            f"No file or folder of {card.title} was given.",
            f"Get them ({card.access}), then give them.",
        )
    if variant is not None:
        raise UsageError("A folder has no variants.", "Leave out `variant`.")
    from claimlab.exchange.importer import import_files

    choice = check_unmapped(unmapped)
    return import_files(name, output, map=map, unmapped=choice, limit=limit, force=force)[0]
