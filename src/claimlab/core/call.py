"""What made a folder: the function that was called, its arguments, and the digest of everything
that it read.

    @repeatable()
    def clean(data, recipe="default", *, output=None, ...): ...

Whatever such a function writes holds `call.json`, so that `claimlab rerun` can make it again. The
file has no path in it: an input is known by its name and digest. What does not decide the result
(where it is written, progress, caps, how calls are recorded) is left out, and so is every argument
that has its default.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, is_dataclass
from datetime import date
from functools import cache, wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, get_args

from claimlab.core.calls.estimate import estimating
from claimlab.core.dataset import MANIFEST, Dataset, read_manifest
from claimlab.core.digest import digest_tree
from claimlab.core.errors import ClaimlabError, SchemaError
from claimlab.core.fetch.schemes import is_address
from claimlab.core.options import parameters_of, types_in
from claimlab.core.remote import copy_of, is_remote, send, to_continue, to_read, to_write
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__

CALL_FILE = "call.json"
# How values are written that JSON does not have.
INPUT, OBJECT, FIELDS, DATE = "$input", "$object", "$fields", "$date"
_NEVER = {"output", "force", "debug", "engine"}
_OF_CALLS = {"cache", "mode", "batch", "concurrency", "max_cost", "max_calls", "max_tokens"}
_PLAIN = str | bool | int | float
_BESIDE = "leaves_the_folder_as_it_is"
_RECORDED = "recorded_under"
_WORD = "_claimlab_word"
MARKED = re.compile(r"^(?:[\w-]+[=:])?")  # local:FILE, prompt=FILE
FUNCTION_IN = re.compile(
    r"(?P<file>.+\.py)(?P<end>:[A-Za-z_][\w.]*)"
)  # a file, and a function in it

P = ParamSpec("P")
R = TypeVar("R")
Output = Literal["new", "continued", "named"]
_OUTPUTS = ("output", "report", "file")
_LOCAL = {"new": to_write, "continued": to_continue, "named": copy_of}


@dataclass(frozen=True)
class RepeatableCall:
    """A call as `call.json` says it."""

    function: str  # claimlab.clean.front.clean
    arguments: JsonObject
    tool: str = f"claimlab {__version__}"


_current: ContextVar[tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]] | None]
_current = ContextVar("call", default=None)


def repeatable(
    *beside: str, writes: str = "", output: Output = "new", recorded: str = "", word: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let every folder that a function writes say how it was called. `beside` are further arguments
    that leave the folder as it is; `recorded` is the name that stands for a function that has moved
    since the first folders were written, so that those can still be made again; `word` is an
    argument that names a place for people to read, which is never looked at; for the others, see
    `in_storage`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        call = in_storage(writes, output=output, beside={*beside, writes})(function)
        if recorded:
            call.__dict__[_RECORDED] = recorded
        call.__dict__[_WORD] = word
        return call

    return decorate


def in_storage(
    writes: str = "", *, output: Output = "new", beside: set[str] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function take places in object storage and addresses of data (`hf:OWNER/NAME`) wherever
    it takes a path: it gets the paths of local copies. Inputs are fetched before, outputs are sent
    after; `writes` is an argument that is an output though its name does not say so. The function
    writes its output anew, goes on with what is there ("continued"), or only names it ("named").
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            outputs = []
            refuse_unknown(function, kwargs)
            for name, value in kwargs.items():
                if isinstance(value, str) and name in _take_several(call):
                    kwargs[name] = [value]  # checks="length": a word is not a list of letters
            if any(map(_mentions_storage, [*args, *kwargs.values()])):
                how: Output = "named" if estimating() else output
                named = {**inspect.signature(call).bind_partial(*args).arguments, **kwargs}
                outputs = _put_copies(call, named, {*_OUTPUTS, writes}, how)
                args, kwargs = (), named  # type: ignore[assignment]
            outer = _current.set(_current.get() if beside is None else (call, args, kwargs))
            try:
                result = function(*args, **kwargs)
            finally:
                _current.reset(outer)
            for place in outputs:
                send(place)  # what goes through `Run` is there already
            return result

        if beside is not None:
            call.__dict__[_BESIDE] = beside
        return call

    return decorate


def refuse_unknown(function: Callable[..., object], arguments: Iterable[str]) -> None:
    """Python checks the names of arguments, but those that a typed `**` takes."""
    for name in arguments:
        if name not in parameters_of(function):
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'")


def _put_copies(
    function: Callable[..., Any], arguments: JsonObject, written: set[str], how: Output
) -> list[Path]:
    """Put local copies in place of what is in object storage; returns those that are outputs."""
    outputs = []
    for name, value in arguments.items():
        if name not in paths_of(function)[0] or not _mentions_storage(value):
            continue
        if name in written:
            arguments[name] = _LOCAL[how](value)
            outputs += [arguments[name]] if how != "named" else []
        elif isinstance(value, list | tuple):
            arguments[name] = [_local(path) for path in value]
        else:
            arguments[name] = _local(value)
    return outputs


def _local(value: Any) -> Any:
    """An input on this machine: the copy of a place in storage, or what an address names."""
    if is_remote(value):
        return to_read(value)
    if is_address(value):
        from claimlab.core.fetch import front

        return front.to_read(value)
    return value


def _mentions_storage(value: object) -> bool:
    values = value if isinstance(value, list | tuple) else [value]
    return any(is_remote(each) or is_address(each) for each in values)


@cache
def paths_of(function: Callable[..., Any]) -> tuple[set[str], set[str]]:
    """The arguments that may be a path as a plain word, and those that take one or several: one
    alone is the same.
    """
    types = {name: types_in(parameter.hint) for name, parameter in parameters_of(function).items()}
    paths = {name for name, parts in types.items() if any(map(_takes_a_path, parts))}
    alone = {str, Path, Dataset}
    return paths, {name for name, parts in types.items() if len(parts) > 1 and alone & {*parts}}


@cache
def _take_several(function: Callable[..., object]) -> set[str]:
    """The arguments that are several words, of which one alone may be given."""
    parameters = parameters_of(function).values()
    return {
        parameter.name
        for parameter in parameters
        if parameter.is_many and not {str, Path} & {*types_in(parameter.hint)}
    }


def _takes_a_path(hint: Any) -> bool:
    return hint is Path or any(_takes_a_path(part) for part in get_args(hint))


def is_repeatable(function: object) -> bool:
    return hasattr(function, _BESIDE)


def full_name(function: Callable[..., Any]) -> str:
    """The name that `call.json` knows a function by: its module and its own, or what `repeatable`
    says.
    """
    recorded: str = function.__dict__.get(_RECORDED, "")
    return recorded or f"{function.__module__}.{function.__name__}"


def note_call(folder: Path, output: Path) -> None:
    """Write `call.json` into `folder`, which will be `output`; nothing where that is not what a
    repeatable function was asked to write, but a part of it."""
    current = _current.get()
    if current is None or _output(*current) != output:
        return
    call = asdict(_described(*current))
    (folder / CALL_FILE).write_text(
        json.dumps(call, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )


def read_call(folder: Path) -> RepeatableCall | None:
    """The call that made `folder`; null where it does not say."""
    file = folder / CALL_FILE
    if not file.is_file():
        return None
    try:
        content = json.loads(file.read_bytes())
        return RepeatableCall(
            str(content["function"]), dict(content["arguments"]), str(content["tool"])
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise SchemaError(f"'{file}' cannot be read.", "Make the folder again.") from None


def does_not_decide(function: Callable[..., Any]) -> set[str]:
    """The arguments of `function` that leave its result as it is. `mode` and `batch` mean how calls
    are made only where there is a recording."""
    names = set(parameters_of(function))
    beside: set[str] = getattr(function, _BESIDE)
    return names & (_NEVER | beside | (_OF_CALLS if "cache" in names else set()))


def _output(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Path | None:
    output = inspect.signature(function).bind(*args, **kwargs).arguments.get("output")
    return None if output is None else Path(output)


def _described(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> RepeatableCall:
    signature = inspect.signature(function)
    bound = signature.bind(*args, **kwargs).arguments
    more = [p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]
    for name in more:
        bound |= bound.pop(name, {})
    paths, either = paths_of(function)
    parameters, arguments = parameters_of(function), {}
    for name, value in bound.items():
        default = parameters[name].default if name in parameters else None
        default = None if default is inspect.Parameter.empty else default
        if name not in does_not_decide(function) and not _same(value, default):
            word = name == getattr(function, _WORD, "")
            content = value if word else _written(value, is_path=name in paths)
            one_alone = name in either and isinstance(content, list) and len(content) == 1
            arguments[name] = content[0] if one_alone else content
    return RepeatableCall(full_name(function), arguments)


def _same(value: Any, default: Any) -> bool:
    """Whether the value says what the default says: a task may be given by its name, shares as
    text.
    """
    if isinstance(value, Sequence) and isinstance(default, Sequence) and not isinstance(value, str):
        return list(value) == list(default)
    by_name = isinstance(value, str) and value in (str(default), getattr(default, "name", None))
    return value is default or by_name or (type(value) is type(default) and bool(value == default))


def _written(value: Any, *, is_path: bool) -> Any:
    match value:
        case None | bool() | int() | float():
            return value
        case str() | Path():
            return _named(value, is_path=is_path or isinstance(value, Path))
        case date():
            return {DATE: value.isoformat()[:10]}
        case Mapping():
            return {str(key): _written(part, is_path=is_path) for key, part in value.items()}
        case Sequence() if not isinstance(value, bytes):
            data = is_path and any(isinstance(part, Mapping) for part in value)
            return {OBJECT: "rows"} if data else [_written(part, is_path=is_path) for part in value]
    return _object(value)


def _object(value: object) -> JsonObject:
    """A dataset by its name and digest, the plain fields of another dataclass; of anything else,
    only what it was."""
    if isinstance(value, Dataset):
        name = _name(value.path) if value.path else value.name
        return {INPUT: name, "sha256": value.fingerprint()}
    if is_dataclass(value) and not isinstance(value, type):
        fields = asdict(value)
        if all(field is None or isinstance(field, _PLAIN) for field in fields.values()):
            return {FIELDS: fields}
    return {OBJECT: type(value).__name__}


def _named(value: str | Path, *, is_path: bool) -> Any:
    """A word, or a file or folder by its name and digest. A plain word counts as a path only where
    a path may be given: a detector `tfidf` is not the file of that name."""
    text = str(value)
    function = FUNCTION_IN.fullmatch(text)
    if function is not None and Path(function["file"]).is_file():
        file = Path(function["file"])
        return {INPUT: _name(file), "sha256": digest_input(file), "end": function["end"]}
    mark = MARKED.match(text)
    front = "" if (is_path and Path(text).exists()) or mark is None else mark.group()
    path = Path(text[len(front) :])
    looks_like_one = is_path or "/" in text or bool(path.suffix)
    if not looks_like_one or not path.name or not path.exists():
        return text if isinstance(value, str) else path.name
    return {INPUT: _name(path), "sha256": digest_input(path), **({"front": front} if front else {})}


def _name(path: Path) -> str:
    return os.path.basename(os.path.abspath(path))  # noqa: PTH100, PTH119 - `resolve` would follow a link to another name


def digest_input(path: Path) -> str | None:
    """What an input is known by: of a dataset its tables, of anything else all its bytes; null
    where it is gone.
    """
    try:
        return (
            read_manifest(path).fingerprint() if (path / MANIFEST).is_file() else digest_tree(path)
        )
    except (OSError, ClaimlabError):
        return None
