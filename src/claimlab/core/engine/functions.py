"""What a worker may do: functions of the rooms, each under one name. A stage names one of these,
and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from claimlab.core.errors import UsageError

FUNCTIONS = {
    "audit check": "claimlab.audit.run:do_check",
    "detect predictions": "claimlab.detect.run:do_predictions",
    "evolve lives": "claimlab.evolve.front:do_lives",
    "filter metric": "claimlab.generate.filter.measure:do_metric",
    "import table": "claimlab.exchange.importing.read:do_table",
    "judge conflicts": "claimlab.evaluate.judge.opinions:conflicts",
    "near-duplicates match": "claimlab.text.neardup.stream:match",
    "near-duplicates same": "claimlab.text.neardup.stream:same",
    "near-duplicates sketch": "claimlab.text.neardup.stream:sketch",
    "near-duplicates verify": "claimlab.text.neardup.stream:verify",
    "rows": "claimlab.core.engine.run:do_rows",
    "study step": "claimlab.study.run:do_step",
    "text languages": "claimlab.text.langid:identify",
    "text vectors": "claimlab.text.vectors:do_vectors",
}
FURTHER = (  # further ones that a worker may run, as module:function, with commas
    "CLAIMLAB_ENGINE_FUNCTIONS"
)


def function_named(name: object) -> Callable[..., Any]:
    """The function under this name, which comes from a file: it is looked up, and nothing is
    imported by it.
    """
    table = _table()
    if not isinstance(name, str) or name not in table:
        raise UsageError(
            f"A worker does not run '{name}'.", f"If you trust it, name it in {FURTHER}."
        )
    module, _, attribute = table[name].partition(":")
    function: Callable[..., Any] = getattr(import_module(module), attribute)
    return function


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function of the table."""
    home = f"{function.__module__}:{function.__qualname__}"
    for name, place in _table().items():
        if place == home:
            return name
    raise UsageError(
        f"Workers do not run '{home}'.", f"Name it in {FURTHER}, here and where workers start."
    )


def _table() -> dict[str, str]:
    further = os.environ.get(FURTHER, "")
    return FUNCTIONS | {name: name for name in further.split(",") if name}
