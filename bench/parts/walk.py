"""What an addition takes: the files that it touches, and the lines that whoever writes it has to
understand.

Lines to understand are those of the guide's page, and those of the classes and functions of
claimlab that the new file imports, with their docstrings. For the kinds that `claimlab new` starts,
the new files are what it writes; a verb and a step of a study from outside are those of the
smallest package in this repository that has the entry point.
"""

from __future__ import annotations

import ast
import inspect
import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from claimlab.cli.verbs.new import _template

KINDS = ("check", "metric", "detector", "dataset")
OUTSIDE = {"verb from outside": "claimlab.verbs", "study step from outside": "claimlab.study_steps"}
GUIDE = "docs/extending.md"  # of what comes from outside
Row = dict[str, str]


def walked(root: Path) -> list[Row]:
    """A row for each change."""
    return [
        *(inside(root, kind) for kind in KINDS),
        *(outside(root, change, group) for change, group in OUTSIDE.items()),
    ]


def inside(root: Path, kind: str) -> Row:
    """A change that `claimlab new` starts."""
    template = _template(kind, "walked")
    files = dict(template["files"])
    places = [*files, template["docs"]["page"]]
    return row(kind, places, files, root / "docs" / "contributing" / f"add-a-{kind}.md")


def outside(root: Path, change: str, group: str) -> Row:
    """A change that an installed package makes: its files are those of the smallest package here
    that has an entry point of the group.
    """
    packages = [*root.glob("*/pyproject.toml"), *root.glob("tests/**/pyproject.toml")]
    having = [place for place in packages if group in entry_points(place)]
    sized = sorted((len(list(place.parent.rglob("*.py"))), place) for place in having)
    if not sized:
        return {**dict.fromkeys(HEADS, "not measured"), "change": change}
    place = sized[0][1]
    module = next(iter(entry_points(place)[group].values())).partition(":")[0]
    file = source_of(place.parent, module)
    texts = {str(file.relative_to(root)): file.read_text("utf-8")}
    return row(change, [*texts, str(place.relative_to(root))], texts, root / GUIDE)


def entry_points(pyproject: Path) -> Mapping[str, Mapping[str, str]]:
    """Group -> name -> what it names."""
    project = tomllib.loads(pyproject.read_text("utf-8")).get("project", {})
    groups: Mapping[str, Mapping[str, str]] = project.get("entry-points", {})
    return groups


def source_of(folder: Path, module: str) -> Path:
    """The file of a module of the package in `folder`."""
    path = module.replace(".", "/")
    ends = (f"{path}.py", f"{path}/__init__.py")
    return next(file for file in folder.rglob("*.py") if str(file).endswith(ends))


HEADS = ("change", "files", "lines written", "page", "used of claimlab", "their lines")


def row(change: str, places: list[str], texts: Mapping[str, str], guide: Path) -> Row:
    names = used({name: text for name, text in texts.items() if "test" not in name})
    lines = sum(lines_of(home, name) for home, name in names)
    page = len(guide.read_text("utf-8").splitlines()) if guide.is_file() else 0
    values = (
        change,
        f"{len(places)}: {', '.join(f'`{place}`' for place in places)}",
        str(sum(len(text.strip().splitlines()) for text in texts.values())),
        f"{page} lines",
        ", ".join(f"`{name}`" for _, name in names) or "nothing",
        str(lines),
    )
    return dict(zip(HEADS, values, strict=True))


def used(texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """The module and the name of each thing that the files import from claimlab."""
    found = {
        (node.module, alias.name)
        for name, text in texts.items()
        if name.endswith(".py")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("claimlab.")
        for alias in node.names
    }
    return sorted((home or "", name) for home, name in found)


def lines_of(home: str, name: str) -> int:
    """The lines of a class with those that it is derived from here, or of a function; a name for
    something else is a line.
    """
    thing = getattr(import_module(home), name)
    if inspect.isfunction(thing):
        return len(inspect.getsourcelines(thing)[0])
    ours = [one for one in getattr(thing, "__mro__", ()) if one.__module__.startswith("claimlab.")]
    return sum(len(inspect.getsourcelines(one)[0]) for one in ours) or 1
