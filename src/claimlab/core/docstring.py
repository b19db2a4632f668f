"""What `help` prints for a public function: a docstring with every argument of the declaration, and
a signature with types alone.

An option is declared once, in the signature (`core/options`); the front door of the package calls
`documented` when a function is first used, so that importing stays cheap. The sections are those of
numpydoc, as scikit-learn and Polars have them.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import GenericAlias, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
)

from claimlab.core.options import REQUIRED, Parameter, hints_of, parameters_of

LINE_CHARACTERS = 96  # characters of a line; `help` indents by four more
LONGEST_DEFAULT_CHARACTERS = 60  # characters of a default that is shown in full
SECTION_HEADING = "Parameters\n----------\n"

F = TypeVar("F")


class _Plain(str):
    """An annotation that prints as it reads: `inspect` puts other strings into quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def documented(thing: F) -> F:
    """The same function, with its arguments in its docstring and a plain signature. A class, and a
    function whose docstring has the section already, are left as they are.
    """
    if inspect.isfunction(thing) and SECTION_HEADING not in (inspect.getdoc(thing) or ""):
        thing.__doc__ = docstring_of(thing)
        thing.__dict__["__signature__"] = plain_signature(thing)
    return thing


def docstring_of(function: Callable[..., Any]) -> str:
    """The docstring of a function, then what its declaration says of each argument and what it
    gives back.
    """
    parts = [inspect.cleandoc(function.__doc__ or "")]
    if entries := [
        line for parameter in parameters_of(function).values() for line in _entry(parameter)
    ]:
        parts.append(SECTION_HEADING + "\n".join(entries))
    result = hints_of(function).get("return", NoneType)
    if result is not NoneType:
        parts.append("\n".join(["Returns", "-------", type_words(result), *_sentences_of(result)]))
    return "\n\n".join(parts) + "\n"


def plain_signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature with types alone: without options, and with the names of unions written out."""
    hints = hints_of(function)
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=_Plain(type_words(hints[parameter.name])))
        if parameter.name in hints
        else parameter
        for parameter in signature.parameters.values()
    ]
    return signature.replace(
        parameters=parameters, return_annotation=_Plain(type_words(hints.get("return", NoneType)))
    )


def type_words(hint: Any) -> str:
    """A type as it is written in code, without the modules of its names."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Annotated, Unpack):
        return type_words(inner[0])
    if origin in (Union, UnionType):
        return " | ".join(map(type_words, inner))
    if origin is Literal:
        return " | ".join(map(repr, inner))
    if isinstance(hint, list):  # the arguments of a function
        return f"[{', '.join(map(type_words, hint))}]"
    if hint in (None, NoneType) or hint is Ellipsis:
        return "None" if hint is not Ellipsis else "..."
    if origin is not None or isinstance(hint, GenericAlias):
        name = getattr(origin, "__name__", str(origin))
        return f"{name}[{', '.join(map(type_words, inner))}]"
    return str(getattr(hint, "__name__", hint)).removeprefix("typing.")


def _entry(parameter: Parameter) -> Iterator[str]:
    """`name : type, default`, and the sentence below it."""
    default = "" if parameter.default is REQUIRED else f", default {_default(parameter.default)}"
    yield f"{parameter.name} : {type_words(parameter.hint)}{default}"
    yield _indented(parameter.sentence)


def _default(value: object) -> str:
    """A default as it is written in code; a function by its name."""
    words = repr(value)
    if inspect.isroutine(value) or isinstance(value, type):
        return value.__name__
    return words if len(words) <= LONGEST_DEFAULT_CHARACTERS else f"{type(value).__name__}(...)"


def _sentences_of(result: Any) -> Iterator[str]:
    """What the classes of a result say of themselves, in their first sentence."""
    parts = get_args(result) or (result,)
    classes = [
        class_
        for class_ in parts
        if isinstance(class_, type) and class_.__module__.startswith("claim")
    ]
    for class_ in dict.fromkeys(classes):
        about = inspect.cleandoc(class_.__doc__ or "").partition("\n\n")[0]
        sentence = " ".join(about.split())
        if sentence and not sentence.startswith(f"{class_.__name__}("):  # a dataclass without words
            yield _indented(sentence if len(classes) == 1 else f"{class_.__name__}: {sentence}")


def _indented(text: str) -> str:
    return textwrap.fill(text, LINE_CHARACTERS, initial_indent=" " * 4, subsequent_indent=" " * 4)
