"""What functions take: places in object storage where they take paths, and the arguments of another
function.

@in_storage()
def show(data: Dataset | str | Path, ...): ...

show("s3://bucket/data")  # the function gets the path of a local copy

@same_arguments(detect)
def estimate_detect(call: Arguments) -> JsonObject: ...

estimate_detect("data", "llm-zero-shot", profile="mine")  # checked like detect(...); call.seed is 0
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from claimlab.core.dataset import Dataset
from claimlab.core.remote import copy_of, is_remote, send, to_continue, to_read, to_write

_OUTPUTS = ("output", "report", "file")

_LOCAL = {"new": to_write, "continued": to_continue, "named": copy_of}

P = ParamSpec("P")
R = TypeVar("R")
Arguments = SimpleNamespace
Output = Literal["new", "continued", "named"]


def in_storage(
    writes: str = "", *, output: Output = "new"
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function take places in object storage wherever it takes a path: it gets the paths of
    local copies. Inputs are fetched before, outputs are sent after; `writes` is an argument that is
    an output though its name does not say so. The function writes its output anew, goes on with
    what is there ("continued"), or only names it ("named").
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if not any(map(_mentions_storage, [*args, *kwargs.values()])):
                return function(*args, **kwargs)
            bound, outputs = inspect.signature(call).bind(*args, **kwargs), []
            for name, value in bound.arguments.items():
                if name not in paths_of(call)[0] or not _mentions_storage(value):
                    continue
                if name in (*_OUTPUTS, writes):
                    bound.arguments[name] = _LOCAL[output](value)
                    outputs += [bound.arguments[name]] if output != "named" else []
                elif is_remote(value):
                    bound.arguments[name] = to_read(value)
                else:
                    bound.arguments[name] = [
                        to_read(one) if is_remote(one) else one for one in value
                    ]
            result = function(*bound.args, **bound.kwargs)
            for place in outputs:
                send(place)  # what goes through `Run` is there already
            return result

        return call

    return decorate


def _mentions_storage(value: object) -> bool:
    return is_remote(value) or (isinstance(value, list | tuple) and any(map(is_remote, value)))


@cache
def paths_of(function: Callable[..., Any]) -> tuple[set[str], set[str]]:
    """The arguments that may be a path as a plain word, and those that take one or several: one
    alone is the same.
    """
    hints = get_type_hints(function)
    paths = {name for name, hint in hints.items() if _takes_a_path(hint)}
    unions = {
        name: get_args(hint)
        for name, hint in hints.items()
        if get_origin(hint) in (Union, UnionType)
    }
    return paths, {
        name for name, parts in unions.items() if any(one in parts for one in (str, Path, Dataset))
    }


def _takes_a_path(hint: Any) -> bool:
    return hint is Path or any(_takes_a_path(part) for part in get_args(hint))


def same_arguments(
    function: Callable[P, Any], *, required: str | None = None
) -> Callable[[Callable[[Arguments], R]], Callable[P, R]]:
    """Give a function the signature of `function`; it is called with all arguments in one object,
    defaults included. `required` is an argument that has a default there and none here."""
    signature = inspect.signature(function)
    parameters = [
        p.replace(default=p.empty) if p.name == required else p
        for p in signature.parameters.values()
    ]
    signature = signature.replace(parameters=parameters)

    def decorate(body: Callable[[Arguments], R]) -> Callable[P, R]:
        @wraps(body)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return body(Arguments(**bound.arguments))

        returned = body.__annotations__["return"]
        call.__annotations__ = {**function.__annotations__, "return": returned}
        call.__dict__["__signature__"] = signature.replace(return_annotation=returned)
        call.__dict__["__wrapped__"] = function  # where the names in the annotations are known
        return in_storage(output="named")(call)  # `repeatable` around it sends what it writes

    return decorate
