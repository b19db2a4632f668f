"""The documentation as a site is built from it: `python -m manual.sitepages . build/docs`.

It is a copy of the folder `docs` with what is made from something else: the reference of the Python
functions, from their signatures and docstrings, the notebooks, and the changelog, the roadmap and
the page for contributors, which are files of the repository's root, with their links put right.
"""

from __future__ import annotations

import inspect
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import claimlab as cl
from claimlab.pages.look import colours
from manual.notebooks import as_markdown, read

WIDTH = 100
REFERENCE = "reference/python.md"
LOOK = "assets/look.css"
ROOT_FILES = {
    "CHANGELOG.md": "changelog.md",
    "ROADMAP.md": "roadmap.md",
    "CONTRIBUTING.md": "contributing.md",
}
INTRO = (
    "`import claimlab as cl`. Every verb of the command line is a function here and writes the same"
    " bytes. A dataset is passed in as a `Dataset` or as the path of its folder; results have a"
    " short `repr`, an HTML view in notebooks, `.table` (Polars), `.to_pandas()` and `.save()`."
)


def pages(root: Path) -> dict[str, str]:
    """Where each page goes in the documentation folder, and its text."""
    texts = {
        target: (root / source).read_text(encoding="utf-8") for source, target in ROOT_FILES.items()
    }
    notebooks = {
        f"notebooks/{f.stem}.md": as_markdown(read(f))
        for f in sorted((root / "docs/notebooks").glob("*.ipynb"))
    }
    return {
        REFERENCE: reference(),
        **notebooks,
        **{target: moved(text, target) for target, text in texts.items()},
    }


def reference() -> str:
    """The public functions and classes with their signatures and docstrings."""
    parts = ["# Python", "", INTRO]
    for name in sorted(set(cl.__all__) - {"__version__"}, key=str.casefold):
        thing = getattr(cl, name)
        parts += ["", f"## cl.{name}", "", *described(name, thing)]
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for method, function in members(thing):
                parts += ["", f"### {name}.{method}", "", *described(method, function)]
    return "\n".join(parts) + "\n"


def members(thing: type) -> list[tuple[str, Any]]:
    """The public methods and properties that a class defines itself."""
    return [
        (name, value)
        for name, value in vars(thing).items()
        if not name.startswith("_") and documented(value)
    ]


def documented(value: Any) -> bool:
    return isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)


def described(name: str, thing: Any) -> list[str]:
    """A signature in a block of code, then the docstring."""
    function = thing.fget if isinstance(thing, property) else getattr(thing, "__func__", thing)
    lines = [] if isinstance(thing, property) else ["```text", signature(name, function), "```", ""]
    return [*lines, *as_lists(inspect.getdoc(function) or "").splitlines()]


def as_lists(docstring: str) -> str:
    """A docstring with its sections as lists: underlined names are headings of a page otherwise."""
    listed = re.sub(r"^(\w+)\n-{3,}\n", r"**\1**\n\n", docstring, flags=re.M)
    entry = re.compile(r"^(\S[^\n]*)\n((?:    \S[^\n]*(?:\n|$))+)", re.M)
    return entry.sub(lambda found: _item(found[1], found[2]), listed)


def _item(head: str, sentence: str) -> str:
    name, colon, kind = head.partition(" : ")
    about = f"`{name}` (`{kind}`)" if colon else f"`{head}`"
    return f"- {about}: {' '.join(sentence.split())}\n"


def signature(name: str, function: Any) -> str:
    """One line where it fits, else one line per argument."""
    declared = inspect.signature(function)
    arguments = [p for p in declared.parameters.values() if p.name not in ("self", "cls")]
    words = [argument(p) for p in arguments]
    kinds = [p.kind for p in arguments]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        words.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    gives = declared.return_annotation
    tail = (
        ""
        if gives is inspect.Signature.empty or inspect.isclass(function)
        else f" -> {typed(gives)}"
    )
    line = f"{name}({', '.join(words)}){tail}"
    return (
        line
        if len(line) <= WIDTH
        else f"{name}(\n" + "".join(f"    {s},\n" for s in words) + f"){tail}"
    )


def argument(parameter: inspect.Parameter) -> str:
    """A parameter as in a signature; a default that is a function or a large object is shown by its
    name.
    """
    stars = (
        "*"
        if parameter.kind is parameter.VAR_POSITIONAL
        else "**"
        if parameter.kind is parameter.VAR_KEYWORD
        else ""
    )
    hint = "" if parameter.annotation is parameter.empty else f": {typed(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return f"{stars}{parameter.name}{hint}"
    default = getattr(parameter.default, "__name__", None) or repr(parameter.default)
    default = (
        default if len(default) <= WIDTH // 2 else repr(getattr(parameter.default, "name", "..."))
    )
    return f"{parameter.name}{hint} = {default}"


def typed(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def moved(text: str, target: str) -> str:
    """A page of the root with its links as they are from `target`, a page of the site."""
    up = "../" * target.count("/")

    def put_right(match: re.Match[str]) -> str:
        link = match[1]
        if re.match(r"[a-z]+:|#", link):
            return match[0]
        if link.startswith("docs/"):
            return f"]({up}{link.removeprefix('docs/')})"
        page, _, anchor = link.partition("#")
        return (
            f"]({up}{ROOT_FILES[page]}{'#' if anchor else ''}{anchor})"
            if page in ROOT_FILES
            else f"]({up}../{link})"
        )

    return re.sub(r"\]\(([^)\s]+)\)", put_right, text)


def assemble(root: Path, target: Path) -> None:
    """Everything that the site is built from, in `target`: its configuration, and all pages in
    `target/docs`.
    """
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(root / "docs", target / "docs")
    shutil.copy(root / "mkdocs.yml", target)
    (target / "docs" / LOOK).write_text(look(), encoding="utf-8")
    index = target / "docs" / "index.md"
    links = re.sub(r"\((notebooks/\w+)\.ipynb\)", r"(\1.md)", index.read_text(encoding="utf-8"))
    index.write_text(links, encoding="utf-8")
    for page, text in pages(root).items():
        file = target / "docs" / page
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def look() -> str:
    """The colours of the look, light and dark, as the theme switches between them."""
    parts = [
        f"[data-md-color-scheme={scheme}] {{ "
        + " ".join(f"--{name}: {value};" for name, value in colours(dark=dark).items())
        + " }\n"
        for scheme, dark in (("default", False), ("slate", True))
    ]
    return "/* Made from claimlab's stylesheet. */\n" + "".join(parts)


def main() -> None:
    assemble(Path(sys.argv[1]), Path(sys.argv[2]))


if __name__ == "__main__":
    main()
