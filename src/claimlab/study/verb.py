"""What can be a step of a study: the function of a verb, and how a study calls it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

from claimlab.core.options import parameters_of
from claimlab.core.registry import Registry

# A source brings a dataset in, an axis makes one dataset of another and can be an axis of the grid,
# a report writes something else than a dataset, and a part is what a study does by itself.
Kind = Literal["source", "axis", "report", "part"]


@dataclass(frozen=True)
class Verb:
    """A function as a step of a study.

    `name` is the word of the study file, `home` and `function` say where the function is, and
    `main` is the option that a value sets by its name alone. `after` names the step that comes
    before it in every study. A `seeded` step takes the seed of the study. `done` is the file that
    a report has when it is finished.

    A check of the study tries every step on a few records: `tries` says on how many, where each
    takes long. One that `invents` makes records that cannot be judged before the run.
    """

    name: str
    home: str
    function: str
    main: str
    after: str = ""
    kind: Kind = "axis"
    seeded: bool = False
    done: str = ""
    tries: int | None = None
    invents: bool = False

    @property
    def call(self) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(self.home), self.function)
        return function

    @cached_property
    def options(self) -> set[str]:
        """Its arguments; those that it takes by a typed `**` count one by one."""
        return set(parameters_of(self.call))


VERBS: Registry[Verb] = Registry(
    "step of a study",
    package="claimlab.study.steps",
    attribute="STEP",
    group="claimlab.study_steps",
)
