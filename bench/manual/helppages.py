"""Write one Markdown page per verb from its own --help: `python -m manual.helppages
docs/help`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command as to_command

from claimlab.cli import complete
from claimlab.cli.app import app
from claimlab.cli.complete import WORDS, Row, words_beside
from claimlab.cli.lazy import VERBS, LazyVerbs, verb_names

WIDTH = 100
OFFERED = ("datasets", "detectors", "checks", "formats", "strategies")  # of cli/complete


def pages() -> dict[str, str]:
    """File name -> page, for the whole command line and every verb and sub-command."""
    out = {"index.md": page("claimlab", [])}
    for verb in verb_names():
        out[f"{verb}.md"] = page(f"claimlab {verb}", [verb])
    return out


def page(title: str, path: list[str]) -> str:
    parts = [f"# {title}", "", "```text", help_text(path), "```"]
    for name in sub_commands(path):
        parts += ["", f"## {title} {name}", "", "```text", help_text([*path, name]), "```"]
    return "\n".join(parts) + "\n"


def sub_commands(path: list[str]) -> list[str]:
    """The sub-commands of a verb; the verbs themselves are not listed again on the index page."""
    if not path:
        return []
    group = to_command(app)
    command = group.get_command(None, path[0])  # type: ignore[attr-defined]
    return sorted(getattr(command, "commands", {}))


def help_text(path: list[str]) -> str:
    import contextlib
    import io

    os.environ["TERMINAL_WIDTH"] = str(WIDTH)
    buffer = io.StringIO()
    with contextlib.redirect_stdout(buffer), contextlib.suppress(SystemExit):
        to_command(app).main(
            args=[*path, "--help"], prog_name="claimlab", standalone_mode=True, terminal_width=WIDTH
        )
    return "\n".join(line.rstrip() for line in buffer.getvalue().strip().splitlines())


def commands() -> dict[str, Any]:
    """Every command by its path, groups without what is below them."""
    by_name: dict[str, Any] = {}
    for verb in verb_names():
        command: Any = LazyVerbs().get_command(None, verb)
        by_name[verb] = command
        by_name |= {f"{verb} {name}": one for name, one in getattr(command, "commands", {}).items()}
    return by_name


def words_in(commands: Mapping[str, Any]) -> dict[str, list[Row]]:
    """What `words.json` holds, made from the commands themselves, by their paths."""
    offers = {getattr(complete, name)("")[0]: name for name in OFFERED}
    table: dict[str, list[Row]] = {}
    for path, command in commands.items():
        rows: list[Row] = []
        for option in command.params:
            flag = (
                " ".join([*option.opts, *option.secondary_opts]) if option.opts[0][0] == "-" else ""
            )
            kind = (
                "flag"
                if getattr(option, "is_flag", False)
                else "many"
                if option.multiple
                else "one"
            )
            kind = "many" if option.nargs == -1 else kind
            first = next(iter(option.shell_complete(typer.Context(command), "")), None)
            value = getattr(first, "value", "")
            rows.append((flag, kind, offers.get(value, "")))
        rows += [(word, "flag", "") for word in command.general]
        table[path] = rows
    return table


def words(verbs: Collection[str]) -> str:
    """What the `words.json` of some verbs should be, a line for each command."""
    table = words_in({path: c for path, c in commands().items() if path.split()[0] in verbs})
    rows = table.items()
    lines = [f"{json.dumps(path)}: {json.dumps(options)}" for path, options in rows]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def word_files() -> dict[Path, list[str]]:
    """Each `words.json` with its verbs: claimlab's own, and those of the packages beside it."""
    files: dict[Path, list[str]] = {}
    for verb in verb_names():
        module = VERBS.place(verb)
        files.setdefault(words_beside(module) if module else WORDS, []).append(verb)
    return files


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    fresh = pages()
    for stale in {p.name for p in folder.glob("*.md")} - set(fresh):
        (folder / stale).unlink()
    for name, text in fresh.items():
        (folder / name).write_text(text, encoding="utf-8")
    for file, verbs in word_files().items():
        file.write_text(words(verbs), encoding="utf-8")


if __name__ == "__main__":
    main()
