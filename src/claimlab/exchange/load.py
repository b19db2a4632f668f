"""`load`: a dataset of the catalogue from its published files, or a folder that holds records
already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from claimlab.catalog.load import load as load_published
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.labels import check_unmapped
from claimlab.core.options import Argument, Force, Limit, Option, OutputFolder, Place, Setting


@repeatable("near")
def load(  # noqa: PLR0913
    name: Annotated[
        Place,
        Argument(
            "Name in the catalogue, such as liar (see: claimlab catalog), or a folder of records.",
            complete="datasets",
            kind=str,
        ),
    ],
    source: Annotated[
        Place | None,
        Argument("The zip, folder or file as its authors publish it; downloaded where left out."),
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
    near: Annotated[
        Place | Sequence[Place],
        Setting("Folder with files that need not be downloaded, whatever they are called."),
    ] = (),
    limit: Limit = None,
    force: Force = False,
) -> Dataset:
    """Load a catalogued dataset by its name, or a folder that was exported or that Hugging Face's
    libraries saved, into a claimlab dataset folder.

    The publisher's files are downloaded once, verified by their hashes and kept in the cache; a
    second load needs no network. `source` are files that you have: a zip, a file, a folder, also
    one of the Hugging Face hub's cache. Where `name` is a folder, it is one that claimlab exported,
    that the `datasets` library saved, or of the hub's cache.
    """
    if source is not None or not Path(name).is_dir():
        return load_published(
            str(name),
            source,
            output=output,
            variant=variant,
            map=map,
            unmapped=unmapped,
            near=[near] if isinstance(near, str | Path) else near,
            limit=limit,
            force=force,
        )
    if variant is not None:
        raise UsageError("A folder has no variants.", "Leave out `variant`.")
    from claimlab.exchange.importer import import_files

    choice = check_unmapped(unmapped)
    return import_files(name, output, map=map, unmapped=choice, limit=limit, force=force)[0]
