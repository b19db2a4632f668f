"""Documented commands work, and help pages are those of the command line as it is.

In a fenced block marked `console`, a line that starts with "$ " is run, and the lines after it must
be its output; a line "..." matches any lines. Blocks marked `python` are run as well, and a block
marked `toml` whose first line is a comment that starts with the name of a file is that file. All
blocks of a page run in order, in one empty folder; a block after the comment `<!-- not run: why
-->` is not run.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from manual import languages
from manual.helppages import pages
from parts import forked
from parts.packages import leaf_marked

from claimlab.cli.lazy import verb_names
from claimlab.core.languages import table

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if not {"help", "reference"} & set(p.parts)),
]
NEXT = "Next: "
NAMED = re.compile(r"# ([\w-]+\.toml)\b")


BLOCK = re.compile(r"(<!-- not run: [^>]+-->\n+)?^```(console|python|toml)\n(.*?)^```", re.S | re.M)


def commands(page: Path) -> list[tuple[str, list[str]]]:
    """What is run, in order, and what it is shown to print (nothing: not compared)."""
    out: list[tuple[str, list[str]]] = []
    for skipped, kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if skipped:
            continue
        if kind == "toml":
            if name := NAMED.match(block):
                out.append((f"cat > {name[1]} <<'END_OF_BLOCK'\n{block}END_OF_BLOCK", []))
            continue
        if kind == "python":
            out.append((f"python - <<'END_OF_BLOCK'\n{top_level(block)}\nEND_OF_BLOCK", []))
            continue
        for line in block.splitlines():
            if line.startswith("$ "):
                out.append((line[2:], []))
            elif out:
                out[-1][1].append(line)
    return out


def top_level(code: str) -> str:
    """The block as a program: pages may await, as a notebook may."""
    if "await " not in code:
        return code
    return (
        f"import asyncio\nasync def block():\n{textwrap.indent(code, '    ')}\nasyncio.run(block())"
    )


def matches(shown: list[str], real: list[str]) -> bool:
    pattern = "\n".join(
        ".*" if line.strip() == "..." else re.escape(line.rstrip()) for line in shown
    )
    return (
        re.fullmatch(
            pattern.replace("\n.*", "(?:\n.*)?"),
            "\n".join(line.rstrip() for line in real).strip("\n"),
            re.S,
        )
        is not None
    )


@pytest.mark.slow  # together two minutes
@pytest.mark.parametrize(
    "page",
    leaf_marked(
        (p for p in PAGES if p.exists() and commands(p)),
        lambda page: " ".join(command for command, _ in commands(page)),
    ),
    ids=lambda page: page.name,
)
def test_documented_commands_work(page: Path, tmp_path: Path) -> None:
    programs = tmp_path.with_name(f"{tmp_path.name}-programs")
    programs.mkdir()
    forked.put_programs(programs)  # `claimlab` and `python` without the start of Python
    places = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
    path = os.pathsep.join(places)
    env = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    env["CLAIMLAB_PROGRESS"] = f"{tmp_path}.progress"  # not a line a minute on stderr
    for command, shown in commands(page):
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300
        )
        printed = (done.stdout + done.stderr) if shown else ""
        if not any(
            line.startswith(NEXT) for line in shown
        ):  # a page says by its order what comes next
            printed = "\n".join(line for line in printed.splitlines() if not line.startswith(NEXT))
        assert done.returncode == 0, f"$ {command}\n{done.stdout}\n{done.stderr}"
        assert not shown or matches(shown, printed.splitlines()), f"$ {command}\n{printed}"


def test_every_command_of_the_table_of_tools_is_run() -> None:
    page = ROOT / "docs" / "other-tools.md"
    listed = re.findall(
        r"`(claimlab [^`]+)`", "".join(re.findall(r"^\| .*$", page.read_text("utf-8"), re.M))
    )
    assert len(listed) > 15
    assert set(listed) <= {command for command, _ in commands(page)}


def python_blocks() -> list[tuple[str, str]]:
    return [
        (p.name, b)
        for p in PAGES
        if p.exists()
        for b in re.findall(r"^```python\n(.*?)^```", p.read_text(encoding="utf-8"), re.S | re.M)
    ]


@pytest.mark.parametrize(
    ("page", "code"), python_blocks(), ids=lambda v: v if v.endswith(".md") else ""
)
def test_documented_python_compiles(page: str, code: str) -> None:
    assert compile(
        code, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    )  # pages may await, as a notebook may


def test_help_pages_are_fresh() -> None:
    stale = [
        n
        for n, text in pages().items()
        if not (ROOT / "docs" / "help" / n).is_file()
        or (ROOT / "docs" / "help" / n).read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run: make docs"


def test_the_page_of_languages_is_fresh_and_has_each_of_them() -> None:
    written = (ROOT / "docs" / "languages.md").read_text(encoding="utf-8")
    assert written == languages.page(), "run: make docs"
    assert all(f"| `{code}` |" in written for code in table())


@pytest.mark.parametrize("verb", verb_names())
def test_every_verb_has_its_page(verb: str) -> None:
    page = ROOT / "docs" / f"{verb}.md"
    assert page.is_file(), f"write docs/{verb}.md"
    assert f"claimlab {verb}" in page.read_text(encoding="utf-8")


def test_a_page_is_short_or_says_that_it_is_a_reference() -> None:
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "presets").glob("*.md")]
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    long = {name for name, text in texts.items() if len(text.split()) > 1_500}
    references = {name for name, text in texts.items() if "This reference" in text[:200]}
    assert long - references == {"datasets.md"}  # generated from the cards


def test_the_matcher_itself() -> None:
    assert matches(["a", "...", "z"], ["a", "b", "c", "z"])
    assert matches(["a", "..."], ["a"])
    assert not matches(["a", "z"], ["a", "b", "z"])
