"""What can be done with a dataset from its page: a form for each verb, made from the declaration of
its function, that starts a job.

A form offers what needs no model and no network, and no file but those of the workspace: jobs that
a page starts read nothing else and cost nothing. The rest is for the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, get_args, get_type_hints
from urllib.parse import urlencode

from fastapi import Query
from pydantic import Field

from claimlab.audit.remedy import SuggestedCall
from claimlab.core.errors import NotFound, UnknownName, UsageError
from claimlab.core.options import REQUIRED, BatchOptions, Parameter, Setting, parameters_of
from claimlab.web.command import Value, flag_of, shell, words_of
from claimlab.web.jobs import Queue
from claimlab.web.page import Data, Done, Here, page, routes
from claimlab.web.predictions import source_of
from claimlab.web.workspace import Line, Shape, Word, Workspace, WorkspaceFolder

Names = Callable[[], Mapping[str, str]]
Choices = Callable[[Workspace, WorkspaceFolder], Mapping[str, str]]
Input = Literal["yes", "number", "text", "date", "one", "several", "lines"]
OTHER_DATA = ("external", "lists")  # strategies of a split that read files beside the dataset
# What asks models and searches, names who does the work, or replaces a folder.
WITHHELD = frozenset(
    (
        *("force", "engine", "every", "mode", "settings", "setting", "pieces", "timed", "dry_run"),
        *("judge", "judge_sample", "prompts", "provider", "profile", "model", "secret"),
    )
)
COMMANDS = {  # what is typed, where it is another word than the name of the form
    "predictions": ("detect",),
    "publish_task_init": ("publish", "task", "init"),
    "publish_task_score": ("publish", "task", "score"),
}
TITLES = {
    "diff": "Compare {name} with a version before it",
    "predictions": "Read predictions for {name}",
    "publish_task_init": "Start a shared task on {name}",
    "publish_task_score": "Score the submissions to a shared task",
}
GATE_OPTIONS = frozenset(
    ("before", "checks", "allow", "max_growth", "max_label_changes", "max_lost")
)
_WORDS = {"true": True, "false": False}


@dataclass(frozen=True)
class FormVerb:
    """A function, and the names that exist for some of its options, each with what it means; the
    first is chosen where one has to be. `chosen` are options that are something of the workspace,
    `only` all that are offered where not all are, and `read` the arguments in order: an empty name
    is the dataset of the page. `about` says what it does, where the function does more."""

    function: Callable[..., object]
    names: Mapping[str, Names]
    chosen: Mapping[str, Choices] = field(default_factory=dict)
    only: frozenset[str] = frozenset()
    read: tuple[str, ...] = ("",)
    about: str = ""
    # folders that a page adds to the command, from what is in the workspace
    beside: Callable[[Workspace, WorkspaceFolder], Mapping[str, WorkspaceFolder | None]] | None = (
        None
    )

    def choices(self, name: str, workspace: Workspace, place: WorkspaceFolder) -> Mapping[str, str]:
        """What an option can be; empty where it is typed."""
        if name in self.chosen:
            return self.chosen[name](workspace, place)
        return self.names.get(name, dict)()


def verbs() -> dict[str, FormVerb]:
    """The verbs that a page can start."""
    from claimlab.audit.check import CHECKS
    from claimlab.audit.front import audit, diff
    from claimlab.audit.rule import ProtocolName
    from claimlab.clean.front import clean
    from claimlab.clean.recipe import built_in
    from claimlab.detect.detector import DETECTORS
    from claimlab.detect.evidence import Mode
    from claimlab.detect.outside import import_predictions
    from claimlab.detect.run import detect
    from claimlab.evaluate.defend.front import defend
    from claimlab.exchange.export import export
    from claimlab.exchange.format import FORMATS
    from claimlab.publish.task.init import publish_task_init
    from claimlab.publish.task.score import publish_task_score
    from claimlab.split.run import split
    from claimlab.split.strategy import SPLITTERS
    from claimlab.study.prepare import prepare
    from claimlab.study.prepare_steps import NAMES as STEPS
    from claimlab.web.chosen import other_datasets, shared_tasks, tables

    def local() -> dict[str, str]:
        return {
            name: detector.summary
            for name, detector in DETECTORS.all().items()
            if not detector.handles
        }

    def formats() -> dict[str, str]:
        formats = {name: form.summary for name, form in FORMATS.all().items()}
        return {"csv": formats["csv"], **formats}

    def strategies() -> dict[str, str]:
        strategies = {name: strategy.summary for name, strategy in SPLITTERS.all().items()}
        return {name: words for name, words in strategies.items() if name not in OTHER_DATA}

    return {
        "clean": FormVerb(clean, {"recipe": lambda: dict.fromkeys(built_in(), "")}),
        "audit": FormVerb(
            audit,
            {
                "checks": lambda: dict.fromkeys(CHECKS.names(), ""),
                "protocol": lambda: dict.fromkeys(get_args(ProtocolName), ""),
            },
        ),
        "prepare": FormVerb(prepare, {"steps": lambda: dict.fromkeys(STEPS, "")}),
        "split": FormVerb(split, {"by": strategies}),
        "detect": FormVerb(
            detect, {"detector": local, "evidence": lambda: dict.fromkeys(get_args(Mode), "")}
        ),
        "defend": FormVerb(
            defend, {}, beside=lambda workspace, place: {"data": source_of(workspace, place)}
        ),
        "export": FormVerb(export, {"to": formats}),
        "predictions": FormVerb(
            detect,
            {},
            {"predictions": tables},
            frozenset(("predictions", "task", "split")),
            about=import_predictions.__doc__ or "",
        ),
        "diff": FormVerb(
            diff,
            {"checks": lambda: dict.fromkeys(CHECKS.names(), "")},
            {"before": other_datasets},
            GATE_OPTIONS,
            ("before", ""),
        ),
        "publish_task_init": FormVerb(publish_task_init, {}),
        "publish_task_score": FormVerb(
            publish_task_score, {}, {"folder": shared_tasks}, read=("folder",)
        ),
    }


class FormValues(Shape):
    """What a form says: NAME=VALUE for each option that was changed."""

    name: Word = ""
    """The new folder."""
    option: Annotated[list[Line], Field(max_length=100)] = []

    def values(self) -> dict[str, list[str]]:
        values: dict[str, list[str]] = {}
        for entry in self.option:
            name, _, value = entry.partition("=")
            if value.strip():
                values.setdefault(name, []).append(value.strip())
        return values


class FormField(Shape):
    """An option of the verb: its name and flag, its sentence, and how it is given."""

    name: str
    flag: str
    sentence: str
    input: Input
    default: str
    value: list[str]
    names: dict[str, str]
    least: float | None
    most: float | None
    whole: bool
    """Whether a number has no fraction."""
    rare: bool


class ActionPage(Shape):
    """A verb on a dataset, as a form."""

    dataset: str
    title: str
    verb: str
    heading: str
    about: str
    fields: list[FormField]
    name: str
    command: str


@routes.post("/api/datasets/{place}/run/{verb}", tags=["Jobs"])
def start(
    place: Data, verb: str, choice: Annotated[FormValues, Query()], workspace: Here, jobs: Queue
) -> Done:
    """Run a verb on a dataset, as a job."""
    output = workspace.new_folder(choice.name, free=True)
    words = _words(workspace, place, verb, choice, output.name)
    return Done(location=f"/jobs/{jobs.add(words, output.name).id}")


@page("/datasets/{place}/run/{verb}", "action.html.jinja")
def action_page(
    place: Data, verb: str, choice: Annotated[FormValues, Query()], workspace: Here
) -> ActionPage:
    """A verb as a form."""
    chosen_verb = _verb(verb)
    name = choice.name or workspace.free_name(f"{place.entry.name}-{verb.replace('_', '-')}")
    about = (chosen_verb.about or chosen_verb.function.__doc__ or "").strip().split("\n\n")[0]
    values = choice.values()
    return ActionPage(
        dataset=place.entry.id,
        title=place.entry.name,
        verb=verb,
        heading=TITLES.get(verb, "{verb} {name}").format(
            verb=f"{verb[:1].upper()}{verb[1:]}", name=place.entry.name
        ),
        about=" ".join(about.split()),
        fields=[
            _field(parameter, chosen_verb, values.get(parameter.name), workspace, place)
            for parameter in sorted(
                offered(chosen_verb), key=lambda p: p.name not in chosen_verb.chosen
            )
        ],
        name=name,
        command=shell(_words(workspace, place, verb, choice, name)),
    )


def form_link(place: WorkspaceFolder, command: SuggestedCall) -> str | None:
    """The form that carries out an advised command on `place`, filled in; null where a page cannot
    start it.
    """
    known_verb = verbs().get(command.function)
    options = {name: value for name, value in command.options.items() if name != "output"}
    if known_verb is None or not set(options) <= {
        parameter.name for parameter in offered(known_verb)
    }:
        return None
    pairs = [
        ("option", f"{name}={str(item).lower() if isinstance(item, bool) else item}")
        for name, value in options.items()
        for item in (value if isinstance(value, list | tuple) else [value])
    ]
    query = f"?{urlencode(pairs)}" if pairs else ""
    return f"/datasets/{place.entry.id}/run/{command.function}{query}"


def offered(verb: FormVerb) -> list[Parameter]:
    """The options that the form of a verb has."""
    declared = parameters_of(verb.function)
    calls = set(get_type_hints(BatchOptions)) if "max_cost" in declared else set()
    left_out = WITHHELD | calls | {"data", "output"}
    return [
        parameter
        for name, parameter in declared.items()
        if parameter.option is not None
        and name not in left_out
        and name in (verb.only or declared)
        and (name in verb.chosen or parameter.kind is not Path)
    ]


def _verb(name: str) -> FormVerb:
    known_verbs = verbs()
    if name not in known_verbs:
        raise NotFound(
            f"'{name[:40]}' cannot be started here.", f"Choose {', '.join(known_verbs)}."
        )
    return known_verbs[name]


def _field(
    parameter: Parameter,
    verb: FormVerb,
    values: Sequence[str] | None,
    workspace: Workspace,
    place: WorkspaceFolder,
) -> FormField:
    option = parameter.option
    assert option is not None
    names = verb.choices(parameter.name, workspace, place)
    default = _shown(parameter)
    sentence = option.help.split("; see: ")[0].split("; may be repeated")[0].rstrip(".")
    return FormField(
        name=parameter.name,
        flag=flag_of(parameter),
        sentence=sentence.partition(":")[0] if names else sentence,
        input="one" if parameter.name in verb.chosen else _input(parameter, names),
        default=default,
        value=list(values or ([default] if default else [])),
        names=dict(names),
        least=option.least,
        most=option.most,
        whole=parameter.kind is int,
        rare=isinstance(option, Setting),
    )


def _input(parameter: Parameter, names: Mapping[str, str]) -> Input:
    if names:
        return "several" if parameter.is_many else "one"
    if parameter.is_many:
        return "lines"
    kinds: dict[type, Input] = {bool: "yes", int: "number", float: "number", date: "date"}
    return kinds.get(parameter.kind, "text")


def _shown(parameter: Parameter) -> str:
    """The default as the form shows it."""
    default = parameter.default
    if default in (None, REQUIRED) or parameter.is_many:
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    return str(getattr(default, "name", default))


def _words(
    workspace: Workspace, place: WorkspaceFolder, verb: str, choice: FormValues, output: str
) -> list[str]:
    """The command; options that are as they are by default are left out."""
    chosen_verb = _verb(verb)
    parameters = {parameter.name: parameter for parameter in offered(chosen_verb)}
    options: dict[str, Value] = {"output": output}
    beside = {} if chosen_verb.beside is None else chosen_verb.beside(workspace, place)
    for name, folder in beside.items():
        if folder is not None:
            options[name] = folder.folder.relative_to(workspace.folder).as_posix()
    for name, values in choice.values().items():
        if name not in parameters:
            raise UnknownName("option", name[:80], list(parameters))
        names = chosen_verb.choices(name, workspace, place)
        closed = bool(names) or name in chosen_verb.chosen
        strange = [value for value in values if closed and value not in names]
        if strange:
            raise UnknownName(name, strange[0][:80], names)
        chosen_parameter = parameters[name]
        if values != [_shown(chosen_parameter)]:
            options[name] = (
                values if chosen_parameter.is_many else _value(chosen_parameter, values[-1])
            )
    for name, parameter in parameters.items():
        if parameter.default is REQUIRED or name in chosen_verb.chosen:
            options.setdefault(name, _first(chosen_verb.choices(name, workspace, place)))
    data = place.folder.relative_to(workspace.folder).as_posix()
    read = [str(options.pop(name)) if name else data for name in chosen_verb.read]
    _, *words = words_of(verb, chosen_verb.function, read, options)
    return [*COMMANDS.get(verb, (verb,)), *words]


def _first(names: Mapping[str, str]) -> str:
    if not names:
        raise UsageError(
            "The workspace has nothing to choose here.",
            "Drop a file under Add data, or make what is asked for with the command line.",
        )
    return next(iter(names))


def _value(parameter: Parameter, text: str) -> Value:
    if parameter.kind is bool:
        if text not in _WORDS:
            raise UsageError(f"`{parameter.name}` cannot be '{text[:40]}'.", "Use true or false.")
        return _WORDS[text]
    return text
