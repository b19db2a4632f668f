"""Families of the workspace: datasets that were made from one another, with their runs and traces.
The side list and the home page show each family once.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from claimlab.web.memo import Memo
from claimlab.web.workspace import (
    DATASETS,
    FolderEntry,
    Shape,
    Workspace,
    WorkspaceFolder,
    digests_of,
)

Group = tuple[
    list[WorkspaceFolder], list[WorkspaceFolder], list[WorkspaceFolder]
]  # datasets, runs and traces


def groups_of(workspace: Workspace) -> list[Group]:
    here = workspace.of(*DATASETS)
    places = [place for place in here if place.entry.study is None and not place.entry.note]
    groups = []
    for group in sorted(_related(places), key=lambda group: -max(map(changed, group))):
        ordered = sorted(
            group, key=lambda place: (len(place.manifest.lineage), changed(place), place.entry.id)
        )
        datasets, runs, traces = (
            [place for place in ordered if place.entry.kind == kind] for kind in DATASETS
        )
        if datasets or runs:
            groups.append((datasets or runs, runs, traces))
    return groups


def _related(places: Iterable[WorkspaceFolder]) -> list[list[WorkspaceFolder]]:
    """The places in groups: two are related where one was made from the records of the other."""
    groups: list[tuple[set[str], list[WorkspaceFolder]]] = []
    for place in places:
        digests = digests_of(place)
        near = [group for group in groups if group[0] & digests]
        groups = [group for group in groups if not group[0] & digests]
        members = [*chain.from_iterable(those for _, those in near), place]
        groups.append((digests.union(*(other for other, _ in near)), members))
    return [members for _, members in groups]


def changed(place: WorkspaceFolder) -> float:
    try:
        return place.folder.stat().st_mtime
    except OSError:
        return 0.0


class FamilyEntry(Shape):
    """A family in the side list: its name, where it leads, and its datasets."""

    name: str
    link: str
    datasets: list[FolderEntry]


_entries = Memo(8)


def families_of(workspace: Workspace) -> list[FamilyEntry]:
    """The families of a workspace, worked out again where a folder of it is another."""
    state = tuple((place.entry.id, place.digest) for place in workspace.of(*DATASETS))
    return _entries.get((workspace.folder, state), lambda: _listed(workspace))


def _listed(workspace: Workspace) -> list[FamilyEntry]:
    families = [
        FamilyEntry(
            name=datasets[0].entry.name,
            link=datasets[-1].entry.link,
            datasets=[place.entry for place in datasets if place.entry.kind == "dataset"],
        )
        for datasets, _, _ in groups_of(workspace)
    ]
    return sorted(filter(lambda family: family.datasets, families), key=lambda each: each.name)
