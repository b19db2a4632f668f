"""A new study file: commented, from a preset, or from a run. A file that is there is never
replaced.

A run that was made by hand says of its making, step by step, what a study has as axes and tables:

out/run        detect   ->  [detector.tfidf], seeds
out/splits     split    ->  [split.random]
out/clean      clean    ->  [clean.default]
out/claims     import   ->  [datasets.claims], where the file is still there
"""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from claimlab.core import packaged
from claimlab.core.call import DATE, FIELDS, INPUT, OBJECT, Call, in_storage, read_call
from claimlab.core.errors import ClaimlabError, DataError, OutputExists, UnknownName, UsageError
from claimlab.core.options import Argument, Option, Place, parameters_of
from claimlab.core.plain import slug
from claimlab.core.settings import as_toml
from claimlab.core.trust import allow
from claimlab.core.types import JsonObject
from claimlab.study.file import Options, read_study_file
from claimlab.study.needs import needs_of
from claimlab.study.rerun import Inputs
from claimlab.study.step import SOURCES, STEPS, Verb

_BY_FUNCTION = {f"{verb.home}.{verb.function}": (axis, verb) for axis, verb in STEPS.items()}
_SOURCES = {
    f"{verb.home}.{verb.function}": (kind, verb)
    for kind, verb in SOURCES.items()
    if kind != "merge"
}
_ORDER = list(STEPS)
_SEED = "seed"


def study_of_run(run: str | Path) -> str:
    """The text of a study file that, run where the inputs are, gives the figure of the run
    again.
    """
    folder = Path(run)
    call = read_call(folder)
    if (
        call is None
        or call.function not in _BY_FUNCTION
        or _BY_FUNCTION[call.function][0] != "detector"
    ):
        raise DataError(
            f"'{folder}' is not a run that says how it was made.",
            "Name a folder that detect wrote.",
        )
    steps, source = _steps(folder, call)
    detector = dict(steps["detector"])
    seed = detector.pop(_SEED, 0)
    tables: dict[str, Options] = {f"datasets.{slug(source.name) or 'data'}": _dataset(source)}
    grid: dict[str, list[str]] = {}
    for axis, options in {**steps, "detector": detector}.items():
        verb = STEPS[axis]
        name = _name(axis, verb, options)
        grid[axis] = [name]
        same_seed = not verb.seeded or axis == "detector" or options.get(_SEED, 0) == seed
        table = {k: v for k, v in options.items() if not (k == _SEED and same_seed)}
        if verb.seeded and not same_seed:
            table[_SEED] = options.get(_SEED, 0)
        whole = {verb.main: verb_default(verb), **table}
        if whole != {verb.main: name}:
            tables[f"{axis}.{as_toml(name)}"] = whole
    head = [
        f"# The run '{folder.resolve().name}' as a study: add values to the axes, and seeds.",
        f"seeds = [{seed}]",
    ]
    tables |= {"grid": dict(grid)}
    body = [line for name, table in tables.items() for line in ("", f"[{name}]", *_lines(table))]
    return "\n".join([f"name = {as_toml(folder.resolve().name)}", *head, *body]) + "\n"


def verb_default(verb: Verb) -> Any:
    """What the main option of a verb is where a call did not say it."""
    default = parameters_of(verb.call)[verb.main].default
    return list(default) if isinstance(default, tuple) else default


def _steps(folder: Path, call: Call) -> tuple[dict[str, Options], Path]:
    """The options of each step by axis, from the first to the detector, and the folder that the
    first one reads.

    A study has its steps in one order: where the run took another, the chain ends there, at that
    folder.
    """
    steps: dict[str, Options] = {}
    while True:
        axis, verb = _BY_FUNCTION[call.function]
        arguments = {**call.arguments}
        data = arguments.pop("data")
        places = Inputs([], [folder.resolve().parent, Path()], folder)
        steps = {axis: _options(folder, verb, arguments, places), **steps}
        before = _place(data, places)
        earlier = read_call(before)
        known = None if earlier is None else _BY_FUNCTION.get(earlier.function)
        if earlier is None or known is None or _ORDER.index(known[0]) >= _ORDER.index(axis):
            return steps, before
        folder, call = before, earlier


def _options(folder: Path, verb: Verb, arguments: JsonObject, places: Inputs) -> Options:
    options = {name: _value(folder, name, value, places) for name, value in arguments.items()}
    if unknown := [name for name in options if name not in verb.options]:
        raise DataError(
            f"'{folder}' was made with '{unknown[0]}', which a study does not have.",
            "Write the file.",
        )
    return options


def _value(folder: Path, name: str, value: Any, places: Inputs) -> Any:
    if isinstance(value, list):
        return [_value(folder, name, one, places) for one in value]
    if not isinstance(value, dict):
        return value
    if INPUT in value:
        return f"{value.get('front', '')}{_place(value, places)}"
    if OBJECT in value:
        raise DataError(
            f"`{name}` of '{folder}' was an object of Python ({value[OBJECT]}).",
            "A study needs a name or a file.",
        )
    return (
        value.get(DATE)
        or value.get(FIELDS)
        or {k: _value(folder, name, v, places) for k, v in value.items()}
    )


def _place(value: JsonObject, places: Inputs) -> Path:
    """Where an input is today, as a path from the current folder: a study is read from there."""
    place = places.find(str(value[INPUT]), value.get("sha256"))
    return Path(os.path.relpath(place))


def _dataset(folder: Path) -> Options:
    """The dataset: as it came in, where its file is still there, else the folder as it is."""
    call = read_call(folder)
    kind, verb = _SOURCES.get(call.function, ("", None)) if call is not None else ("", None)
    if call is None or verb is None:
        return {"folder": str(folder)}
    try:
        places = Inputs([], [folder.resolve().parent, Path()], folder)
        options = {
            name: _value(folder, name, value, places) for name, value in call.arguments.items()
        }
    except ClaimlabError:
        return {"folder": str(folder)}
    layout = options.pop("options", {})
    return {
        kind: options.pop(verb.main),
        **options,
        **{k: v for k, v in layout.items() if v is not None},
    }


def _name(axis: str, verb: Verb, options: JsonObject) -> str:
    """What the value of the axis is called: its main option, where that is a word."""
    main = options.get(verb.main, verb_default(verb))
    return main if isinstance(main, str) and main and "/" not in main else axis


def _lines(table: JsonObject) -> list[str]:
    return [f"{name} = {as_toml(value)}" for name, value in table.items() if value is not None]


DEFAULT = "compare"


def presets() -> dict[str, str]:
    """The presets by name, each with the sentence on its first line."""
    files = resources.files("claimlab.study").joinpath("data")
    sentences = {}
    for file in sorted(files.iterdir(), key=lambda f: f.name):
        first = file.read_text(encoding="utf-8").splitlines()[0]
        sentences[file.name.removesuffix(".toml")] = first.lstrip("# ")
    return sentences


@in_storage()
def study_new(
    file: Annotated[Place, Argument("The file to write.")],
    preset: Annotated[str | None, Option("What to start from; see --presets.")] = None,
    *,
    run: Annotated[
        Place | None, Option("A run folder: the study that makes it again.", flag="--from")
    ] = None,
) -> Path:
    """Write a commented study file to edit. An existing file is never replaced."""
    if preset is not None and run is not None:
        raise UsageError(
            "A study starts from a preset or from a run.", "Pass one of `preset` and `run`."
        )
    if preset is not None and preset not in presets():
        raise UnknownName("preset", preset, list(presets()))
    file = Path(file)
    if file.exists():
        raise OutputExists(file, todo="Choose another file: a study is never replaced.")
    text = (
        packaged.text("claimlab.study", f"{preset or DEFAULT}.toml")
        if run is None
        else study_of_run(run)
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    allow(file, needs_of(read_study_file(file), file))  # the user had it written
    return file
