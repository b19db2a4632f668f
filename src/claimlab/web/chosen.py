"""What of the workspace a form offers for an option: files that were dropped or lie there, other
datasets, and the folders of shared tasks. Nothing else can be named, so that no path is typed.
"""

from __future__ import annotations

from itertools import islice

from claimlab.core.guard import kind_of
from claimlab.publish.task.init import KIND
from claimlab.publish.task.submission import SUFFIXES
from claimlab.web.add import offered
from claimlab.web.workspace import (
    DATASETS,
    MOST_FOLDERS,
    Workspace,
    WorkspaceFolder,
    folders_below,
)


def tables(workspace: Workspace, _: WorkspaceFolder) -> dict[str, str]:
    """Files that may hold predictions."""
    return {name: "" for name in sorted(offered(workspace)) if name.lower().endswith(SUFFIXES)}


def other_datasets(workspace: Workspace, here: WorkspaceFolder) -> dict[str, str]:
    """Datasets by their place, but that of the page."""
    return {
        place.folder.relative_to(workspace.folder).as_posix(): ""
        for place in workspace.of(*DATASETS[:1])
        if place.folder != here.folder and not place.entry.note
    }


def shared_tasks(workspace: Workspace, _: WorkspaceFolder) -> dict[str, str]:
    """Folders of organisers."""
    folders = islice(folders_below(workspace.folder, lambda _: False), MOST_FOLDERS)
    return {
        folder.relative_to(workspace.folder).as_posix(): ""
        for folder in folders
        if kind_of(folder) == KIND
    }
