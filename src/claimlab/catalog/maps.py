"""Every verdict map under one address: `ratings` (built in), `liar/a5` (a dataset's), or a TOML
file.
"""

from __future__ import annotations

from claimlab.catalog.load import DATASETS
from claimlab.core.errors import UnknownName
from claimlab.core.labels import LabelMap, built_in_maps, load_map
from claimlab.core.record import VERACITIES


def all_maps() -> dict[str, LabelMap]:
    """Address -> map: the built-in ones, then those of each dataset, its default first."""
    own = {
        f"{name}/{key}": one
        for name, entry in DATASETS.all().items()
        for key, one in entry.maps.items()
    }
    return {**{name: load_map(name) for name in built_in_maps()}, **own}


def find_map(address: str) -> LabelMap:
    """The map at `address`; an unknown one is an error that names similar addresses."""
    if address.endswith(".toml") or address in built_in_maps():
        return load_map(address)
    known = all_maps()
    if address not in known:
        raise UnknownName("verdict map", address, known)
    return known[address]


def summary(one: LabelMap) -> dict[str, int | str]:
    """Version, how many values lead to each verdict, and the note."""
    values = list(one.verdicts.values())
    return {"version": one.version, **{v: values.count(v) for v in VERACITIES}, "note": one.note}
