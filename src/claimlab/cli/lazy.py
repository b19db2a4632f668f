"""The verbs by name: each file is imported when its verb is asked for, so that `claimlab --help`
feels instant.
"""

from __future__ import annotations

import difflib
import importlib
import os
import pkgutil
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command as to_command

from claimlab.cli import verbs
from claimlab.cli.asked import be_json
from claimlab.cli.complete import COMPLETING, words_of
from claimlab.core.errors import UsageError, either

# In the order of work. The summaries are here, so that the help can be shown without importing a
# single verb; none is longer than a line of 80 columns has room for.
GROUPS: dict[str, dict[str, str]] = {
    "Get data": {
        "demo": "Try everything on a synthetic dataset with planted defects",
        "check": "Is this file usable? Import, clean, audit and a page in one",
        "catalog": "Browse the field's datasets: quality, licence, how to get them",
        "load": "Load a dataset of the catalogue from its published files",
        "import": "Import your own files: CSV, JSON, Excel, Parquet, text, zip",
        "show": "Show a folder: counts, labels, lineage, records",
    },
    "Prepare": {
        "clean": "Keep, drop or mark as doubtful each record, with the reason",
        "labels": "Look up label maps, and find claims with conflicting labels",
        "enrich": "Add the claim, dated evidence and fact-checks to each record",
        "merge": "Join datasets, ids kept apart, and count what they share",
        "split": "Split into train, dev and test, and check the split for leaks",
    },
    "Check": {
        "audit": "Test a dataset for shortcuts, leaks and contradictions",
        "diff": "Compare two audits, versions of a dataset, or studies",
        "contamination": "Measure whether a model may know the test set",
    },
    "Detect and judge": {
        "detect": "Train a detector, or ask a model, and store its predictions",
        "evaluate": "Score runs, with intervals, baselines and subgroups",
        "study": "Run a grid of datasets, splits, detectors and seeds from one file",
        "judge": "Compare the rationales of a run with fact-checking articles",
    },
    "Simulate": {
        "evolve": "Let claims spread and change in a simulated society",
        "generate": "Make benchmark text with a change log; filter it by quality",
    },
    "Review and report": {
        "review": "Let annotators decide what a program cannot, and apply it",
        "serve": "Browse datasets, runs, audits and reviews in the browser",
        "rerun": "Repeat a folder from its lineage, and compare the bytes",
        "report": "Write the evaluation quality assurance (EQA) report of a study",
        "export": "Export to Hugging Face, Croissant, CSV, JSON Lines, ClaimReview",
    },
    "Tools": {
        "engine": "Work on a run from other machines, and see how far it is",
        "llm": "Set up and test language models; prompts and batches",
        "trust": "Allow the hosts, keys and paths that a received file names",
        "doctor": "Check the installation: versions, extras, models, keys",
        "new": "Start a check, metric, format, dataset or detector of your own",
    },
}
# What users of other tools type first.
_ALSO = {
    "browse": "serve",
    "compare": "diff",
    "download": "load",
    "head": "show",
    "init": "report",
    "list": "catalog",
    "ls": "catalog",
    "open": "show",
    "predict": "detect",
    "publish": "export",
    "read": "import",
    "repeat": "rerun",
    "run": "detect",
    "score": "evaluate",
    "simulate": "evolve",
    "test": "evaluate",
    "train": "detect",
    "ui": "serve",
    "view": "show",
    "web": "serve",
}
_ALSO_OPTIONS = {"person": "annotator", "people": "annotator", "out": "output"}
JSON = "--json"  # known to every command
_EPILOG = (
    "Also: --json for one JSON object on stdout; -q, --quiet for results and errors only; --debug"
    " for the traceback of an error."
)


@cache
def verb_names() -> list[str]:
    return sorted(
        m.name.rstrip("_")
        for m in pkgutil.iter_modules(verbs.__path__)
        if not m.name.startswith("_")
    )


def _say_what_all_share(command: Any) -> None:
    command.epilog = command.epilog or _EPILOG
    for below in getattr(command, "commands", {}).values():
        _say_what_all_share(below)


class LazyVerbs(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return verb_names()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        be_json(JSON in args)
        return super().parse_args(ctx, [word for word in args if word != JSON])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in verb_names():
            return None
        if COMPLETING in os.environ:
            return to_command(words_of(cmd_name))
        file = f"{cmd_name}_" if cmd_name in ("import",) else cmd_name
        module = importlib.import_module(f"claimlab.cli.verbs.{file}")
        command: Any = to_command(module.app)
        command.name = cmd_name
        _say_what_all_share(command)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in verb_names():
            raise UsageError(f"There is no command named '{args[0]}'.", _instead(args[0]))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            words = _IN_OUR_WORDS.get(
                type(error).__name__
            )  # the classes are in a private module of typer
            if words is None:
                raise
            raise words(error) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        listed = {name for group in GROUPS.values() for name in group}
        rest = {
            name: self.get_command(ctx, name).get_short_help_str(66)
            for name in verb_names()
            if name not in listed
        }
        for title, group in {**GROUPS, "More": rest}.items():
            rows = [(name, summary) for name, summary in group.items() if name in verb_names()]
            if rows:
                with formatter.section(title):
                    formatter.write_dl([(f"{name:<8}", summary) for name, summary in rows])


def _instead(word: str) -> str:
    """What a mistyped verb was probably meant to be."""
    known = _ALSO.get(word.lower())
    near = (
        [known] if known else difflib.get_close_matches(word.lower(), verb_names(), n=2, cutoff=0.6)
    )
    return f"Did you mean {either(near)}?" if near else "To see them all: claimlab --help"


def _no_such_option(error: Any) -> UsageError:
    """A mistyped option, with the one that was probably meant."""
    place, word = error.ctx.command_path, error.option_name
    known = sorted(
        {
            option[2:]
            for p in error.ctx.command.params
            for option in p.opts
            if option.startswith("--")
        }
    )
    bare = word.lower().lstrip("-")  # two dashes are alike in all options
    if bare.replace("-", "_") in getattr(error.ctx.command, "settings", ()):
        todo = f"It is a setting: --set {bare.replace('-', '_')}=VALUE"
        return UsageError(f"'{place}' has no option {word}.", todo)
    meant = _ALSO_OPTIONS.get(bare)
    near = [meant] if meant in known else difflib.get_close_matches(bare, known, n=2, cutoff=0.7)
    todo = (
        f"Did you mean {' or '.join(f'--{name}' for name in near)}?"
        if near
        else f"To see its options: {place} --help"
    )
    return UsageError(f"'{place}' has no option {word}.", todo)


def _bad_value(error: Any) -> UsageError:
    """A value that an option cannot take; what it should be is said in pydantic's words, which are
    made ours.
    """
    option = error.param.opts[0] if error.param is not None else "An argument"
    whole, number, bound = (re.match(f"Input should be {p}", error.message) for p in _BOUNDS)
    words = (
        "Give a whole number."
        if whole
        else "Give a number."
        if number
        else f"{error.message.rstrip('.')}."
    )
    return UsageError(
        f"{option} has a value that it cannot take.",
        f"Give a number {bound[1]}." if bound else words,
    )


_BOUNDS = ("a valid integer", "a valid number", "((?:greater|less) than .*)")
_IN_OUR_WORDS: dict[str, Callable[[Any], UsageError]] = {
    "NoSuchOption": _no_such_option,
    "BadParameter": _bad_value,
}
