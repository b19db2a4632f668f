"""The EQA file of a study that was run: the author's answers, the datasets and the runs."""

from __future__ import annotations

import os

from claimlab.core.grants import allow, named_in
from claimlab.core.remote import is_remote
from claimlab.core.toml_file import as_toml
from claimlab.study.run import Grid
from claimlab.study.step import STEPS_FOLDER, Node

ANSWERS = "report.toml"


def write_answers(grid: Grid) -> None:
    """What `claimlab report` needs: the author's answers, the datasets and the runs."""
    words = dict(grid.study.report)
    if not words:
        return
    title, shifts = words.pop("title", grid.study.name), words.pop("shifts", None)
    answers = words.pop("formulation", words)
    nodes = [cell.node.before[0] for cell in grid.done]

    def place(node: Node) -> str:
        """Paths in the file are read from where it is."""
        if not node.folder:
            return f"{STEPS_FOLDER}/{node.name}"
        return node.folder if is_remote(node.folder) else os.path.relpath(node.folder, grid.output)

    datasets = dict.fromkeys(map(place, nodes))
    lines = [f"title = {as_toml(title)}", "", "[formulation]"]
    lines += [f"{name} = {as_toml(answer)}" for name, answer in answers.items()]
    if shifts is not None:
        lines += ["", "[shifts]", *(f"{name} = {as_toml(scope)}" for name, scope in shifts.items())]
    lines += ["", "[data]", f"datasets = {as_toml(list(datasets))}"]
    runs = {f"{STEPS_FOLDER}/{cell.node.name}": cell.title for cell in grid.done}
    for folder, name in runs.items():
        lines += ["", "[[runs]]", f"name = {as_toml(name)}", f"path = {as_toml(folder)}"]
    file = grid.output / ANSWERS
    file.write_text("\n".join(lines) + "\n", "utf-8")
    allow(file, named_in({"datasets": list(datasets)}, grid.output, base=grid.output))
