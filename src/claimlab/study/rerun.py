"""`cl.rerun`: make a folder again from what it says of its making, and compare the bytes."""

from __future__ import annotations

import inspect
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from claimlab.core.call import (
    CALL_FILE,
    DATE,
    FIELDS,
    FUNCTION_IN,
    INPUT,
    MARKED,
    OBJECT,
    RepeatableCall,
    does_not_decide,
    full_name,
    in_storage,
    is_repeatable,
    read_call,
)
from claimlab.core.choices import each_of
from claimlab.core.dataset import MANIFEST, read_manifest
from claimlab.core.errors import ClaimlabError, DataError, NotTrusted
from claimlab.core.front_door import FUNCTIONS
from claimlab.core.grants import on_behalf_of, require
from claimlab.core.guard import refuse_input
from claimlab.core.options import Argument, Force, InPython, Option, Place, parameters_of
from claimlab.core.registry import named_by_rooms
from claimlab.core.shown import Shown
from claimlab.core.tables import read_parquet
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.study.given_inputs import GivenInputs
from claimlab.study.received import wanted_by_call
from claimlab.study.run import CALLED, refuse_other_folder, varies
from claimlab.study.step import CALLS, CELLS, FILE

TOOL = f"claimlab {__version__}"
OLD_RULES = re.compile(r"claimlab 0\.[0-3](\.|$)")
RULE_CHANGED = (
    "The rule changed in 0.4: figures hold for whole units, such as publishers, and not for single"
    " records. What changed, figure by figure, is in docs/changes.md."
)
# What a verb does with other things than its own.
OTHERS = {"claimlab.detect.outside.import_predictions", "claimlab.study.diff.study_diff"}


@dataclass
class Rerun(Shown):
    """Whether the folder was the same again: `differences` has each file that was not, and how."""

    folder: Path
    call: RepeatableCall
    files: int
    differences: dict[str, str]

    @property
    def same(self) -> bool:
        return not self.differences

    @property
    def notes(self) -> list[str]:
        if self.call.tool == TOOL:
            return []
        notes = [f"The folder was written by {self.call.tool}, and repeated by {TOOL}."]
        if OLD_RULES.match(self.call.tool or "") and not self.same:
            notes.append(RULE_CHANGED)
        return notes

    def headline(self) -> str:
        if self.same:
            return f"The same bytes in all {several(self.files, 'file')}."
        return f"{len(self.differences)} of {several(self.files, 'file')} differ."

    @property
    def table(self) -> pl.DataFrame:
        rows = {"file": list(self.differences), "difference": list(self.differences.values())}
        return pl.DataFrame(rows, schema={"file": pl.String, "difference": pl.String})


@in_storage()
def rerun(
    folder: Annotated[
        Place, Argument("A folder that claimlab wrote: a dataset, a report, an export, a study.")
    ],
    *,
    inputs: Annotated[
        Place | Sequence[Place],
        Option("Folder that holds what was read, under any name; repeatable."),
    ] = (),
    cache: Annotated[
        Place | None,
        Option("The recorded answers of models and searches; by default FOLDER.cache."),
    ] = None,
    output: Annotated[Place | None, Option("Keep the repeated folder here.", short="-o")] = None,
    force: Force = False,
    trust: Annotated[
        bool, InPython("Allow what the file names outside its folder, without asking.")
    ] = False,
) -> Rerun:
    """Make `folder` again from the call that it holds, and say whether the bytes are the same.

    What was read is known by its digest, and looked for in `inputs`, beside the folder and in the
    current folder. Nothing is asked: models and searches answer from the recording in `cache` (by
    default the one beside the folder). With `output`, the repeated folder stays there. A folder
    from someone else that names hosts or paths outside of where it lies must have been allowed
    (`claimlab trust FOLDER`), unless `trust` says that it is yours.
    """
    folder = Path(folder)
    call = _call_of(folder)
    function = _function(folder, call)
    wanted = wanted_by_call(call, folder)
    require(folder / CALL_FILE, wanted, trust=trust)
    folders = [Path(folder) for folder in each_of(inputs)]
    with tempfile.TemporaryDirectory(prefix="claimlab-rerun-") as temporary:
        target = Path(temporary) / "out" / folder.resolve().name if output is None else Path(output)
        refuse_input(
            target, folder
        )  # all else that may not be replaced, the function itself refuses
        places = GivenInputs(
            folders, [folder, folder.resolve().parent, Path()], Path(temporary) / "inputs"
        )
        defaults = {name: parameter.default for name, parameter in parameters_of(function).items()}
        try:
            arguments = {
                name: _value(name, value, defaults.get(name), places)
                for name, value in call.arguments.items()
            }
            arguments |= _shared(function, folder, target, cache, force=force, trust=trust)
            inspect.signature(function).bind(**arguments)
        except (TypeError, ValueError, OSError) as error:
            raise DataError(
                f"'{folder / CALL_FILE}' is not a call that can be repeated: {error}.",
                "Make the folder again.",
            ) from None
        if (detector := arguments.get("detector")) and isinstance(detector, str):
            # the code that was allowed by its name, where it is today
            wanted += [replace(each, value=detector) for each in wanted if each.kind == "code"]
        try:
            with on_behalf_of(folder / CALL_FILE, wanted, trust=trust):
                function(**arguments)
        except NotTrusted:
            raise
        except ClaimlabError as error:
            raise DataError(f"'{folder}' cannot be repeated: {error.problem}", error.todo) from None
        return Rerun(folder, call, *_compared(folder, target))


def _call_of(folder: Path) -> RepeatableCall:
    if not folder.is_dir():
        raise DataError(f"'{folder}' is not a folder.", "Name a folder that claimlab wrote.")
    call = read_call(folder)
    if call is not None:
        return call
    if read_call(folder.resolve().parent) is not None:
        raise DataError(
            f"'{folder}' is part of '{folder.resolve().parent}'.", "Repeat the whole folder."
        )
    steps = read_manifest(folder).lineage if (folder / MANIFEST).is_file() else []
    last = f": its last step is '{steps[-1].step}', of {steps[-1].tool}" if steps else ""
    raise DataError(
        f"'{folder}' does not say which call made it{last}.",
        "Only what a command or a function of claimlab wrote to its `output` can be repeated.",
    )


def _function(folder: Path, call: RepeatableCall) -> Callable[..., Any]:
    """The function, if it is one of claimlab's that is meant to be repeated: a folder may come from
    anywhere.
    """
    function = repeated(call.function)
    if function is None:
        known = f"'{folder}' was made by {call.function}, which is not in {TOOL}."
        raise FUNCTIONS.absent(call.function.rpartition(".")[2]) or DataError(
            known, f"Use {call.tool}."
        )
    if not is_repeatable(function):
        raise DataError(
            f"{call.function} is not a function whose folders are made again.",
            "Make the folder again.",
        )
    if strange := set(call.arguments) - (set(parameters_of(function)) - does_not_decide(function)):
        raise DataError(
            f"'{folder / CALL_FILE}' gives {call.function} an argument that is not recorded:"
            f" '{min(strange)[:60]}'.",
            "Do not trust this folder: claimlab did not write that.",
        )
    return function


def repeated(name: str) -> Callable[..., Any] | None:
    """The function that a folder names, by its full name: one of the package, a step of a study,
    what a verb does with other things than its own, or one of an installed package.
    """
    steps = {f"{verb.home}.{verb.function}" for verb in CALLED.values()}
    own = {place.replace(":", ".") for place in named_by_rooms()[FUNCTIONS.group].values()}
    if name in steps | own | OTHERS:
        module, _, attribute = name.rpartition(".")
        function: Callable[..., Any] = getattr(import_module(module), attribute)
        return function
    for other in FUNCTIONS.outside():
        with suppress(ClaimlabError):  # of a package that does not load
            if full_name(FUNCTIONS.get(other)) == name:
                return FUNCTIONS.get(other)  # type: ignore[no-any-return]
    return None


def _value(name: str, value: Any, default: Any, places: GivenInputs) -> Any:
    if isinstance(value, list):
        return [_value(name, item, default, places) for item in value]
    if not isinstance(value, dict):
        return value
    if INPUT in value:
        front = str(value.get("front", ""))
        if not MARKED.fullmatch(front):
            raise ValueError(f"'{front[:60]}' cannot be before the name of a file")
        end = str(value.get("end", ""))
        if end and not FUNCTION_IN.fullmatch(f"x.py{end}"):
            raise ValueError(f"'{end[:60]}' cannot be behind the name of a file")
        return f"{front}{places.find(str(value[INPUT]), value.get('sha256'))}{end}"
    if FIELDS in value:
        return type(default)(**value[FIELDS])
    if DATE in value:
        return date.fromisoformat(value[DATE])
    if OBJECT in value:
        kind = value[OBJECT]
        todo = "Call the function with names and files: they can be written down."
        raise DataError(
            f"The argument `{name}` was an object of Python ({kind}), which is not on disk.", todo
        )
    return {key: _value(name, item, default, places) for key, item in value.items()}


def _shared(
    function: Callable[..., Any], folder: Path, target: Path, cache: str | Path | None, **more: Any
) -> JsonObject:
    """What the call does not say: where to write, and that nothing is asked. A study answers from
    its own recording.
    """
    names = set(parameters_of(function))
    shared = {"output": target, **more}
    if "cache" in names:
        # the recording that was named, the one beside the folder, or that of the study around it
        beside = folder.with_name(f"{folder.resolve().name}.cache")
        of_study = folder.resolve().parent.parent / CALLS
        beside_study = of_study if of_study.is_dir() and not beside.is_dir() else beside
        shared |= {"mode": "replay", "cache": beside_study if cache is None else Path(cache)}
    if (folder / CELLS).is_file():
        refuse_other_folder(target)
        shared["mode"] = "replay"
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / FILE, target / FILE)
        recording = folder / CALLS if cache is None else Path(cache)
        if recording.is_dir():
            shutil.copytree(recording, target / CALLS)
    return {name: value for name, value in shared.items() if name in names}


def _compared(folder: Path, again: Path) -> tuple[int, dict[str, str]]:
    """How many files there are, and how each differs that does."""
    first, second = (
        {
            name: p
            for p in sorted(place.rglob("*"))
            if p.is_file() and not varies(name := p.relative_to(place))
        }
        for place in (folder, again)
    )
    differences = {}
    for name in sorted({*first, *second}):
        if name not in second:
            differences[name.as_posix()] = "not written again"
        elif name not in first:
            differences[name.as_posix()] = "written anew"
        elif first[name].read_bytes() != second[name].read_bytes():
            differences[name.as_posix()] = _how(first[name], second[name])
    return len({*first, *second}), differences


def _how(first: Path, second: Path) -> str:
    if first.suffix != ".parquet":
        return "other bytes"
    before, after = read_parquet(first), read_parquet(second)
    if before.height != after.height:
        return f"{several(before.height, 'row')} before, {after.height:,} now"
    columns = [
        c for c in before.columns if c not in after.columns or not before[c].equals(after[c])
    ]
    return f"other values in {', '.join(columns)}" if columns else "other bytes, the same values"
