"""`claimlab new`: what a check, metric, format, dataset or detector starts from, in a checkout.

The templates are `data/new-KIND.toml`: files by path, the line of documentation, and the tests that
every entry of the kind must pass.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from string import Template
from typing import Annotated

from claimlab.cli.command import verb
from claimlab.cli.output import echo, emit, suggest, wants_json
from claimlab.core import packaged
from claimlab.core.atomic import atomic_text
from claimlab.core.choices import one_of
from claimlab.core.errors import ClaimlabError, OutputExists, UsageError
from claimlab.core.options import Argument, Option
from claimlab.core.plain import slug
from claimlab.core.types import JsonObject

app = verb()
KINDS = ("check", "metric", "format", "dataset", "detector")
PLUGIN = "plugin"  # a package of its own, which needs no checkout
# Beside the contract of its kind, what every addition can break.
HOUSE_TESTS = tuple(
    f"tests/house/test_{subject}.py"
    for subject in ("direction", "named_files", "registries", "words")
)


@app.of(None)
def new(
    kind: Annotated[str, Argument("check, metric, format, dataset, detector or plugin.")],
    name: Annotated[str, Argument("Its name, in lower case with dashes: source-age.")],
    folder: Annotated[
        Path, Option("The checkout of claimlab to write to; of a plugin, any.", flag="--into")
    ] = Path(),
) -> None:
    """Write what a new check, metric, format, dataset or detector starts from: its source, a test
    that passes, and its line in the documentation; or a plugin, a package of your own.
    """
    template = _template(one_of((*KINDS, PLUGIN), kind, "kind"), name)
    if kind != PLUGIN:
        _refuse_elsewhere(folder)
        if name in _entries(template["entries"]):
            raise ClaimlabError(f"There is a {kind} '{name}' already.", "Choose another name.")
    files = {folder / place: text.lstrip("\n") for place, text in template["files"].items()}
    if clashes := [place for place in files if place.exists()]:
        raise OutputExists(clashes[0], todo="Choose another name.")
    for place, text in files.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        atomic_text(place, text)
    places = [str(place) for place in files]
    if "docs" in template:
        _document(folder, **template["docs"])
        places.append(str(folder / template["docs"]["page"]))
    if wants_json():
        emit({"kind": kind, "name": name, "files": places, "contract": template["contract"]})
        return
    for place in places:
        echo(f"Wrote {place}.")
    suggest(template.get("next", _command(name, template["contract"])))


def _command(name: str, contract: Sequence[str]) -> str:
    """What runs the tests of a new entry: those of its kind that are about it, and of the house."""
    tests = " ".join(dict.fromkeys((*contract, *HOUSE_TESTS)))
    chosen = " or ".join(dict.fromkeys((name, _module(name), "house")))
    return f'python -m pytest {tests} -k "{chosen}"'


def _refuse_elsewhere(folder: Path) -> None:
    if not (folder / "src" / "claimlab" / "__init__.py").is_file():
        raise UsageError(
            f"'{folder}' is not a checkout of claimlab.",
            "Run this in the root of one, or name it with --into; docs/contributing says how an"
            " installed package adds entries.",
        )


def _template(kind: str, name: str) -> JsonObject:
    """The template of a kind, with the name in its places."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(
            f"'{name}' is not a name: it has letters of a to z in lower case, digits and dashes.",
            f"Write: {slug(name) or 'source-age'}",
        )
    words = name.split("-")
    places = {
        "name": name,
        "module": _module(name),
        "Class": "".join(word.capitalize() for word in words),
        "words": " ".join(words),
        "Words": " ".join(words).capitalize(),
    }
    text = packaged.text("claimlab.cli", f"new-{kind}.toml")
    return tomllib.loads(Template(text).substitute(places))


def _entries(registry: str) -> Sequence[str]:
    """The names that a registry has: the entry of a name need not be a file of its own."""
    module, _, attribute = registry.rpartition(".")
    names: Sequence[str] = getattr(import_module(module), attribute).names()
    return names


def _module(name: str) -> str:
    return name.replace("-", "_")


def _document(
    folder: Path, page: str, table: str = "", row: str = "", module: str | None = None
) -> None:
    """Put a row into a table of a page; or let the module write the page that does so."""
    if module is not None:
        code = os.pathsep.join(str((folder / part).resolve()) for part in ("src", "bench"))
        paths = {**os.environ, "PYTHONPATH": code}
        subprocess.run([sys.executable, "-m", module, page], cwd=folder, env=paths, check=True)
        return
    place = folder / page
    head, anchor, rest = place.read_text(encoding="utf-8").partition(f"{table}\n")
    if not anchor:
        raise UsageError(f"{page} has no '{table}'.", "Add a line for it yourself.")
    lines = rest.split("\n")
    first = next(n for n, line in enumerate(lines) if line)
    end = lines.index("", first)
    entries = [n for n in range(first, end) if lines[n].startswith(row[:3])]
    names = [lines[n].split("`")[1:2] for n in entries]
    after = [n for n in entries if lines[n].split("`")[1:2] > row.split("`")[1:2]]
    lines.insert(after[0] if after and names == sorted(names) else end, row)
    atomic_text(place, head + anchor + "\n".join(lines))
