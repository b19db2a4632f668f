"""Words for the shell's completion: commands and options, and the names of datasets, detectors,
checks, strategies and formats.

A shell asks at every press of the tab key, so nothing is imported: commands and options are in
`words.json`, which is written with the help pages (for verbs of another package, beside those);
names are those of files, and of the rows that a `table.py` is made of. Tests compare them with the
commands and the registries.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

COMPLETING = "_CLAIMLAB_COMPLETE"  # the variable by which a shell asks
WORDS = Path(__file__).with_name("words.json")
Row = Sequence[str]  # an option: its flags, what follows it, and whose names are offered
HOME = Path(__file__).resolve().parents[1]

Complete = Callable[[str], list[str]]
_KINDS: dict[str, Any] = {"flag": bool, "one": str, "many": list[str]}


def names(room: str, group: str) -> list[str]:
    """The names of the entries in a folder of the package, and of those that installed packages
    add.
    """
    from importlib.metadata import entry_points  # a tenth of the time of `--help`

    inside = {name for file in (HOME / room).glob("[!_]*.py") for name in _names_in(file)}
    return sorted(inside | {point.name for point in entry_points(group=group)})


def _names_in(file: Path) -> Iterator[str]:
    if not file.stem.startswith("table"):
        yield file.stem.replace("_", "-")
        return
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if getattr(target, "id", "") == "ENTRIES":
            rows = getattr(statement.value, "elts", [])
            calls = [row for row in rows if isinstance(row, ast.Call)]
            yield from (str(ast.literal_eval(_name_of(call))) for call in calls)


def _name_of(call: ast.Call) -> ast.expr:
    """The argument that names a row: the first, or the one that is called so."""
    return call.args[0] if call.args else next(k.value for k in call.keywords if k.arg == "name")


def _completes(list_names: Callable[[], list[str]]) -> Complete:
    return lambda incomplete: [name for name in list_names() if name.startswith(incomplete)]


def _datasets() -> list[str]:
    cards = (HOME / "catalog/data/cards").glob("*.toml")
    outside = names("catalog/data/cards", "claimlab.datasets")
    return sorted({*outside, *(card.stem for card in cards)})


datasets = _completes(_datasets)
detectors = _completes(lambda: names("detect/detectors", "claimlab.detectors"))
checks = _completes(lambda: names("audit/checks", "claimlab.checks"))
formats = _completes(lambda: names("exchange/formats", "claimlab.formats"))
strategies = _completes(lambda: names("split/strategies", "claimlab.splitters"))


def words_of(verb: str, module: str | None = None) -> typer.Typer | None:
    """The commands of a verb with their options, to be completed and not to be called; null where a
    package that offers the verb, in `module`, has no `words.json` beside it.
    """
    app = typer.Typer(add_completion=False)
    file = WORDS if module is None else words_beside(module)
    if not file.is_file():
        return None
    table: Mapping[str, list[Row]] = json.loads(file.read_bytes())
    inside = {path: rows for path, rows in table.items() if path.split()[0] == verb}
    for path, rows in inside.items():
        group = len(inside) > 1 and path == verb
        add = app.callback() if group else app.command(path.split()[-1])
        add(_completed(rows))
    return app


def words_beside(module: str) -> Path:
    """`words.json` in the folder of a module, which is not imported."""
    spec = find_spec(module.partition(":")[0].rpartition(".")[0])
    folder = spec.submodule_search_locations if spec else None
    return Path(folder[0] if folder else "") / WORDS.name


def _completed(rows: Sequence[Row]) -> Callable[..., None]:
    def command(**_: Any) -> None: ...

    parameters = []
    for number, (flag, kind, offered) in enumerate(rows):
        offer = {"autocompletion": globals()[offered]} if offered else {}
        info = typer.Option(*flag.split(), **offer) if flag else typer.Argument(**offer)
        parameters.append(
            inspect.Parameter(
                f"word_{number}",
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[_KINDS[kind] | None, info],
            )
        )
    command.__dict__["__signature__"] = inspect.Signature(parameters)
    return command
