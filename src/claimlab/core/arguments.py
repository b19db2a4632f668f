"""The arguments of another function, until the last verb is estimated by `estimate`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar

from claimlab.core.call import in_storage

P = ParamSpec("P")
R = TypeVar("R")
Arguments = SimpleNamespace


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
