"""The notebooks of the documentation: `python -m manual.notebooks docs/notebooks` runs each
in an empty folder, and keeps what it shows. A notebook is a page of the site, too, in Markdown."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from claimlab.core.types import JsonObject

Notebook = JsonObject
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
SHOWN = ("text/html", "text/plain")
_STYLE = re.compile(r"<style>.*?</style>\s*", re.DOTALL)


def read(file: Path) -> Notebook:
    content: Notebook = json.loads(file.read_text(encoding="utf-8"))
    return content


def written(notebook: Notebook) -> str:
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def executed(notebook: Notebook) -> Notebook:
    """The notebook with what its cells show now: no times, no counts, no paths."""
    import nbformat
    from nbclient import NotebookClient

    opened = nbformat.reads(json.dumps(notebook), as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(opened, timeout=300, resources={"metadata": {"path": folder}}).execute()
    cells = [_tidy(cell, number) for number, cell in enumerate(opened.cells)]
    return {"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}


def _tidy(cell: Any, number: int) -> Notebook:
    content: Notebook = {"cell_type": cell.cell_type, "id": f"cell-{number}", "metadata": {}}
    content["source"] = cell.source.splitlines(keepends=True)
    if cell.cell_type == "code":
        outputs = [tidy for output in cell.outputs if (tidy := _output(output)) is not None]
        content |= {"execution_count": None, "outputs": outputs}
    return content


def _output(output: Any) -> Notebook | None:
    if output.output_type == "stream":
        lines = output.text.splitlines(keepends=True)
        return (
            {"name": "stdout", "output_type": "stream", "text": lines}
            if output.name == "stdout"
            else None
        )
    data = {
        kind: output.data[kind].splitlines(keepends=True)
        for kind in SHOWN
        if kind in output.get("data", {})
    }
    return {"data": data, "metadata": {}, "output_type": "display_data"}


def as_markdown(notebook: Notebook) -> str:
    """A page of the site: prose as it is, code in blocks, and below each what it shows."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        parts += [_shown(output) for output in cell.get("outputs", [])]
    return "\n\n".join(parts) + "\n"


def _shown(output: Notebook) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    html = _STYLE.sub("", "".join(output["data"].get("text/html", ())))
    if html:  # one block of HTML ends at the first empty line
        return (
            '<div class="shown">'
            + "\n".join(line for line in html.splitlines() if line.strip())
            + "</div>"
        )
    return f"```text\n{''.join(output['data']['text/plain']).rstrip()}\n```"


def main() -> None:
    for file in sorted(Path(sys.argv[1]).glob("*.ipynb")):
        file.write_text(written(executed(read(file))), encoding="utf-8")


if __name__ == "__main__":
    main()
