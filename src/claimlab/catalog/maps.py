"""Every label map by its address: the built-in ones, and those of the datasets of the catalogue."""

from __future__ import annotations

from claimlab.catalog.load import DATASETS
from claimlab.core.errors import UnknownName
from claimlab.core.labels import LabelMap, built_in_maps, load_map
from claimlab.core.record import VERACITIES


def all_maps() -> dict[str, LabelMap]:
    """Every label map by its address: the built-in ones (`ratings`), then those of each dataset
    (`liar/a5`), its default first.
    """
    own = {
        f"{name}/{key}": verdicts
        for name, entry in DATASETS.all().items()
        for key, verdicts in entry.maps.items()
    }
    return {name: load_map(name) for name in built_in_maps()} | own


def find_map(address: str) -> LabelMap:
    """The map at `address`, or in a TOML file; an unknown one is an error that names similar
    addresses.
    """
    if address.endswith(".toml") or address in built_in_maps():
        return load_map(address)
    maps = all_maps()
    if address not in maps:
        problem = f"There is no label map named '{address}', and no map knows it as a rating."
        raise UnknownName("label map", address, maps, problem)
    return maps[address]


def meanings(value: str) -> dict[str, str]:
    """What a raw value means: the address of every map that knows it, and its verdict there."""
    verdicts = {address: label_map.verdict(value) for address, label_map in all_maps().items()}
    return {address: verdict for address, verdict in verdicts.items() if verdict is not None}


def summary(verdicts: LabelMap) -> dict[str, int | str]:
    """Version, how many values lead to each verdict, and the note."""
    values = list(verdicts.verdicts.values())
    counts = {veracity: values.count(veracity) for veracity in VERACITIES}
    return {"version": verdicts.version, **counts, "note": verdicts.note}
