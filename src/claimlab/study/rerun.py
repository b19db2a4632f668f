"""`cl.rerun`: make a folder again from what it says of its making, and compare the bytes.

A folder says the names and digests of what was read, never a path: `Inputs` finds where that is
today.
"""

from __future__ import annotations

import inspect
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from claimlab import HOMES
from claimlab.core.call import (
    CALL,
    DATE,
    FIELDS,
    INPUT,
    MARKED,
    OBJECT,
    Call,
    digest_input,
    does_not_decide,
    in_storage,
    is_repeatable,
    read_call,
)
from claimlab.core.dataset import MANIFEST, read_manifest
from claimlab.core.errors import ClaimlabError, DataError
from claimlab.core.guard import refuse_input
from claimlab.core.options import Argument, Force, Option, Place, parameters_of
from claimlab.core.settings import each_of
from claimlab.core.shown import Shown
from claimlab.core.trust import require
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.study.needs import needs_of_call
from claimlab.study.run import refuse_other_folder, varies
from claimlab.study.step import CALLS, CELLS, FILE, FURTHER, SOURCES, STEPS

DEPTH, MOST = 4, 20_000  # how far below a folder, and at how many entries, one looks


class Inputs:
    """Looks in `given` for whatever has the digest, under any name, and in `near` for what has the
    name too. `links` is a folder for links to inputs that were renamed: results may say the name of
    what was read."""

    def __init__(self, files: Sequence[Path], near: Sequence[Path], links: Path) -> None:
        self.given, self.near, self.links = list(files), list(near), links

    def find(self, name: str, digest: str | None) -> Path:
        """The input, under its recorded name."""
        changed: Path | None = None
        for path, any_name in self._candidates(name):
            if path.name != name and not any_name:
                continue
            if digest is not None and digest_input(path) == digest:
                return path if path.name == name else self._linked(path, name)
            changed = path if path.name == name else changed
        if changed is not None:
            raise DataError(
                f"'{changed}' is not the input that was read: its content differs.", _TODO
            )
        looked = ", ".join(f"'{place}'" for place in dict.fromkeys((*self.given, *self.near)))
        raise DataError(f"The input '{name}' is not in {looked}.", _TODO)

    def _candidates(self, name: str) -> Iterator[tuple[Path, bool]]:
        """Every file or folder that may be it; whether its name does not matter. Names are compared
        first: to digest is slow."""
        for place in (*self.given, *self.near):
            if (place / name).exists():
                yield place / name, False
        for place in self.given:
            yield from ((path, True) for path in _below(place))
        for place in self.near:
            yield from ((path, (path / MANIFEST).is_file()) for path in _below(place))

    def _linked(self, path: Path, name: str) -> Path:
        place = self.links / str(len(list(self.links.iterdir())) if self.links.is_dir() else 0)
        place.mkdir(parents=True)
        (place / name).symlink_to(path.resolve(), target_is_directory=path.is_dir())
        return place / name


_TODO = "Pass `inputs`, a folder that holds what was read."


def _below(place: Path) -> Iterator[Path]:
    """Files and folders below `place`, hidden ones left out; a dataset is one thing."""
    count = 0
    for folder, folders, files in os.walk(place):
        here = Path(folder)
        deep = len(here.relative_to(place).parts)
        if (here / MANIFEST).is_file():
            folders.clear()
            files.clear()
            yield here
            continue
        folders[:] = (
            [] if deep >= DEPTH else sorted(name for name in folders if not name.startswith("."))
        )
        names = [*files, *folders]
        yield from (here / name for name in sorted(names) if not (here / name / MANIFEST).is_file())
        count += len(names)
        if count > MOST:
            return


TOOL = f"claimlab {__version__}"


@dataclass
class Rerun(Shown):
    """Whether the folder was the same again: `differences` has each file that was not, and how."""

    folder: Path
    call: Call
    files: int
    differences: dict[str, str]

    @property
    def same(self) -> bool:
        return not self.differences

    @property
    def notes(self) -> list[str]:
        other = self.call.tool != TOOL
        return (
            [f"The folder was written by {self.call.tool}, and repeated by {TOOL}."]
            if other
            else []
        )

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
    trust: bool = False,
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
    require(folder / CALL, needs_of_call(call, folder), trust=trust)
    folders = [Path(one) for one in each_of(inputs)]
    with tempfile.TemporaryDirectory(prefix="claimlab-rerun-") as temporary:
        target = Path(temporary) / "out" / folder.resolve().name if output is None else Path(output)
        refuse_input(
            target, folder
        )  # all else that may not be replaced, the function itself refuses
        places = Inputs(
            folders, [folder, folder.resolve().parent, Path()], Path(temporary) / "inputs"
        )
        defaults = {name: one.default for name, one in parameters_of(function).items()}
        try:
            arguments = {
                name: _value(name, value, defaults.get(name), places)
                for name, value in call.arguments.items()
            }
            arguments |= _shared(function, folder, target, cache, force=force, trust=trust)
            inspect.signature(function).bind(**arguments)
        except (TypeError, ValueError, OSError) as error:
            raise DataError(
                f"'{folder / CALL}' is not a call that can be repeated: {error}.",
                "Make the folder again.",
            ) from None
        try:
            function(**arguments)
        except ClaimlabError as error:
            raise DataError(f"'{folder}' cannot be repeated: {error.problem}", error.todo) from None
        return Rerun(folder, call, *_compared(folder, target))


def _call_of(folder: Path) -> Call:
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


def _function(folder: Path, call: Call) -> Callable[..., Any]:
    """The function, if it is one of claimlab's that is meant to be repeated: a folder may come from
    anywhere.
    """
    if call.function not in repeated():
        raise DataError(
            f"'{folder}' was made by {call.function}, which is not in {TOOL}.", f"Use {call.tool}."
        )
    module, _, name = call.function.rpartition(".")
    function: Callable[..., Any] = getattr(import_module(module), name)
    if not is_repeatable(function):
        raise DataError(
            f"{call.function} is not a function whose folders are made again.",
            "Make the folder again.",
        )
    if strange := set(call.arguments) - (set(parameters_of(function)) - does_not_decide(function)):
        raise DataError(
            f"'{folder / CALL}' gives {call.function} an argument that is not recorded:"
            f" '{min(strange)[:60]}'.",
            "Do not trust this folder: claimlab did not write that.",
        )
    return function


def repeated() -> set[str]:
    """The functions that a folder may name, by their full names: those of the package, the steps of
    a study, and what a verb does with other things than its own.
    """
    steps = {
        f"{verb.home}.{verb.function}"
        for verbs in (SOURCES, STEPS, FURTHER)
        for verb in verbs.values()
    }
    others = {"claimlab.detect.outside.import_predictions", "claimlab.study.diff.study_diff"}
    return steps | others | {f"{home}.{name}" for name, home in HOMES.items()}


def _value(name: str, value: Any, default: Any, places: Inputs) -> Any:
    if isinstance(value, list):
        return [_value(name, one, default, places) for one in value]
    if not isinstance(value, dict):
        return value
    if INPUT in value:
        front = str(value.get("front", ""))
        if not MARKED.fullmatch(front):
            raise ValueError(f"'{front[:60]}' cannot be before the name of a file")
        return f"{front}{places.find(str(value[INPUT]), value.get('sha256'))}"
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
    return {key: _value(name, one, default, places) for key, one in value.items()}


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
        known = of_study if of_study.is_dir() and not beside.is_dir() else beside
        shared |= {"mode": "replay", "cache": known if cache is None else Path(cache)}
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
    before, after = pl.read_parquet(first), pl.read_parquet(second)
    if before.height != after.height:
        return f"{several(before.height, 'row')} before, {after.height:,} now"
    columns = [
        c for c in before.columns if c not in after.columns or not before[c].equals(after[c])
    ]
    return f"other values in {', '.join(columns)}" if columns else "other bytes, the same values"
