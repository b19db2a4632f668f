"""A recipe is a list of steps with their parameters, as data: TOML that can be read, shared and
named in a paper.

    name = "mine"
    version = 1
    note = "What it is for."
    protect = ["test"]             # optional: the parts of a given split that stay as published

    [[steps]]
    step = "too-short"
    minimum = 5
    datasets = ["covid19-br"]      # optional: only these datasets; the stage is listed as not run
                                   for others

Built-in recipes are files of the same kind in `clean/recipes/`.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import get_args

from pydantic import ValidationError

from claimlab.clean.step import MISSING, CleanStep, Supplies
from claimlab.core.choices import one_of
from claimlab.core.errors import DataError, UsageError, check_name
from claimlab.core.registry import Registry
from claimlab.core.toml_file import bounded_text, parse_toml, whole_number
from claimlab.core.types import JsonObject
from claimlab.text.mask import Mask

STEPS: Registry[type[CleanStep]] = Registry(
    "cleaning step", package="claimlab.clean.steps", attribute="STEP", group="claimlab.steps"
)
DEFAULT = "default"
TEST = "test"
BEFORE_PROTECTING = ("repair-text", "decisions")  # what people decided counts for every record


@dataclass(frozen=True)
class RecipeStep:
    """One step of a recipe; `datasets` (where not empty) names the only datasets it is for."""

    step: str
    parameters: JsonObject = field(default_factory=dict)
    datasets: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise unless the step exists and takes these parameters."""
        kind = STEPS.get(self.step)
        for name in self.parameters:
            check_name(f"parameter of the step '{self.step}'", name, settable(kind))
        self._build(kind, {})

    def make(self, supplies: Supplies, seed: int) -> CleanStep:
        """The step with its parameters and with what it needs. Call `missing` first."""
        kind = STEPS.get(self.step)
        arguments: JsonObject = {name: getattr(supplies, name) for name in needs(kind)}
        takes = inspect.signature(kind).parameters
        offered = {"seed": seed, "work": supplies.work}
        arguments |= {name: value for name, value in offered.items() if name in takes}
        return self._build(kind, arguments)

    def missing(self, supplies: Supplies, dataset: str) -> str | None:
        """Why the stage cannot run on this dataset; null when it can."""
        if self.datasets and dataset not in self.datasets:
            return f"the recipe names it for {', '.join(self.datasets)} only"
        for name in needs(STEPS.get(self.step)):
            if getattr(supplies, name, None) is None:
                return MISSING.get(name, f"no {name} given")
        return None

    def _build(self, kind: type[CleanStep], arguments: JsonObject) -> CleanStep:
        try:
            return kind(**(arguments | self.parameters))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "its parameters"
            raise UsageError(
                f"The step '{self.step}' cannot have {where} = {first['input']!r}: {first['msg']}.",
                "Fix the recipe; `clean(steps=True)` lists what each step takes.",
            ) from None
        except TypeError as error:
            raise UsageError(
                f"The step '{self.step}' cannot be set up: {error}.", "Fix the recipe."
            ) from None


def needs(kind: type[CleanStep]) -> tuple[str, ...]:
    return tuple(getattr(kind, "needs", ()))


def settable(kind: type[CleanStep]) -> JsonObject:
    """The parameters that a recipe may set, with their defaults."""
    hidden = {*needs(kind), "work"}  # given by the runner
    return {n: p.default for n, p in inspect.signature(kind).parameters.items() if n not in hidden}


@dataclass(frozen=True)
class Recipe:
    name: str
    version: int
    stages: tuple[RecipeStep, ...]
    note: str = ""
    text: str = ""  # as it was written, for showing
    protect: tuple[str, ...] = (TEST,)  # parts of a given split that stay as published

    def fingerprint(self) -> str:
        """One hash for all that decides what the recipe does."""
        parts = [
            self.name,
            self.version,
            [[s.step, s.parameters, list(s.datasets)] for s in self.stages],
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def built_in() -> list[str]:
    """The names of the recipes that come with claimlab."""
    files = (entry.name for entry in (resources.files("claimlab.clean") / "recipes").iterdir())
    return sorted(
        name.removesuffix(".toml").replace("_", "-") for name in files if name.endswith(".toml")
    )


def load_recipe(name_or_path: str | Path) -> Recipe:
    """A built-in recipe by name, or a TOML file by its path."""
    path = Path(name_or_path)
    if path.suffix == ".toml":
        if not path.is_file():
            raise DataError(f"There is no recipe file '{path}'.", "Check `recipe`.")
        return parse_recipe(bounded_text(path), str(path))
    check_name("recipe", str(name_or_path), built_in())
    file = (
        resources.files("claimlab.clean")
        / "recipes"
        / f"{str(name_or_path).replace('-', '_')}.toml"
    )
    return parse_recipe(file.read_text(encoding="utf-8"), str(name_or_path))


def masking(recipe: Recipe, what: Sequence[str], task: str) -> Recipe:
    """The recipe with a last stage that masks `what`; as it is where nothing is named."""
    if not what:
        return recipe
    kinds = [one_of(get_args(Mask), kind, "mask") for kind in what]
    stage = RecipeStep("mask", {"what": kinds, "task": task})
    stage.check()
    return replace(recipe, stages=(*recipe.stages, stage))


def protecting(recipe: Recipe, parts: Sequence[str]) -> Recipe:
    """The recipe with a stage that drops what copies a record of `parts`, before any other stage
    could drop that record; as it is where nothing is named.
    """
    if not parts:
        return recipe
    stage = RecipeStep("protect", {"parts": list(parts)})
    first = next(
        (n for n, each in enumerate(recipe.stages) if each.step not in BEFORE_PROTECTING),
        len(recipe.stages),
    )
    return replace(recipe, stages=(*recipe.stages[:first], stage, *recipe.stages[first:]))


def parse_recipe(text: str, where: str) -> Recipe:
    """A recipe from TOML text, every step and parameter checked."""
    raw = parse_toml(text, where)
    unknown = sorted(set(raw) - {"name", "version", "note", "protect", "steps"})
    if unknown:
        raise DataError(
            f"The recipe '{where}' has {', '.join(map(repr, unknown))}.",
            "Use only name, version, note, protect and [[steps]].",
        )
    steps = raw.get("steps")
    if (
        not isinstance(steps, list)
        or not steps
        or not all(isinstance(s, dict) and "step" in s for s in steps)
    ):
        raise DataError(
            f"The recipe '{where}' lists no steps.",
            'Add tables such as: [[steps]] with step = "too-short"',
        )
    stages = []
    for table in steps:
        rest = {k: v for k, v in table.items() if k not in ("step", "datasets")}
        stage = RecipeStep(str(table["step"]), rest, tuple(map(str, table.get("datasets", ()))))
        stage.check()
        stages.append(stage)
    return Recipe(
        name=str(raw.get("name", Path(where).stem)),
        version=whole_number(raw, "version", 1, where),
        stages=tuple(stages),
        note=str(raw.get("note", "")),
        text=text,
        protect=protected_by(raw, where),
    )


def protected_by(raw: JsonObject, where: str) -> tuple[str, ...]:
    """The parts of a given split that the recipe keeps as published: test, if it names none."""
    parts = raw.get("protect", [TEST])
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise DataError(
            f"The recipe '{where}' has protect = {parts!r}.",
            'Write a list of parts: protect = ["test"], or protect = [] for none.',
        )
    return tuple(parts)
