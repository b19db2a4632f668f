"""`help` of a public function names each of its arguments, with its type and a sentence, from the
declaration; so do the contracts that plug-ins keep.
"""

from __future__ import annotations

import inspect
import pickle
import pydoc
import re
from collections.abc import Callable
from typing import Annotated, Literal

import pytest

import claimlab as cl
from claimlab.audit.check import Check, FairCheck
from claimlab.clean.step import CleanStep
from claimlab.core.docstring import documented
from claimlab.core.options import InPython, Option, parameters_of
from claimlab.detect.detector import Detector
from claimlab.evaluate.items import ItemFormat
from claimlab.evaluate.metric import Metric
from claimlab.exchange.format import Format, Lossless
from claimlab.llm.provider import Provider as ModelProvider
from claimlab.search.results import Provider as SearchProvider
from claimlab.split.strategy import Strategy
from claimlab.tasks import Task

FUNCTIONS = [name for name in cl.__all__ if inspect.isfunction(getattr(cl, name))]
CONTRACTS = (
    *(Check, FairCheck, CleanStep, CleanStep, Detector, Format, Lossless, ItemFormat, Metric),
    *(ModelProvider, SearchProvider, Strategy, Task),
)


def entries(docstring: str) -> dict[str, tuple[str, str]]:
    """Name -> (type, sentence) of the section of parameters."""
    _, _, rest = docstring.partition("Parameters\n----------\n")
    section = re.split(r"\n\n", rest)[0]
    found = re.findall(r"^(\*{0,2}\w+) : (.+)\n((?:    .+\n?)+)", section, flags=re.M)
    return {name.strip("*"): (kind, " ".join(words.split())) for name, kind, words in found}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_of_a_public_function_has_its_type_and_a_sentence(name: str) -> None:
    function = getattr(cl, name)
    listed = entries(inspect.getdoc(function) or "")
    assert set(listed) == set(parameters_of(function))
    assert [
        one for one, (kind, words) in listed.items() if not kind or len(words.split()) < 2
    ] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_signature_that_is_shown_is_of_types_alone(name: str) -> None:
    function = getattr(cl, name)
    first = pydoc.plain(pydoc.render_doc(function)).splitlines()[2]
    assert first.startswith(f"{name}(")
    assert not re.search(r"Annotated|Option\(|Setting\(|Argument\(|InPython", first)
    kinds = {one.name: one.kind for one in inspect.signature(function).parameters.values()}
    inner = inspect.unwrap(function)
    inner_code = inner.__code__.co_varnames[: inner.__code__.co_argcount]
    assert list(kinds)[: len(inner_code)] == list(inner_code)
    assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_contract_says_what_each_argument_of_its_methods_is(contract: type) -> None:
    assert contract.__doc__
    for name, method in methods(contract).items():
        arguments = set(inspect.signature(method).parameters) - {"self", "cls"}
        listed = entries(inspect.cleandoc(method.__doc__ or ""))
        assert arguments <= set(listed), f"{contract.__name__}.{name}"


def methods(contract: type) -> dict[str, Callable[..., object]]:
    """The methods that a plug-in writes or calls."""
    return {
        name: value
        for name, value in vars(contract).items()
        if inspect.isfunction(value) and not name.startswith("_")
    }


def rated(
    text: Annotated[str, Option("What is rated.")],
    scale: Annotated[Literal["five", "ten"], Option("The steps of the scale.")] = "five",
    *,
    ready: Annotated[object, InPython("Called at the end.")] = print,
) -> dict[str, int]:
    """Rate a text."""
    return {text: len(scale)}


def test_a_docstring_is_made_from_the_declaration() -> None:
    made = documented(rated)
    assert made is rated
    assert inspect.getdoc(documented(made)) == inspect.cleandoc(
        """Rate a text.

        Parameters
        ----------
        text : str
            What is rated.
        scale : 'five' | 'ten', default 'five'
            The steps of the scale.
        ready : object, default print
            Called at the end.

        Returns
        -------
        dict[str, int]
        """
    )
    assert str(inspect.signature(made)).startswith(
        "(text: str, scale: 'five' | 'ten' = 'five', *, ready: object = "
    )
