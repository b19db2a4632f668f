"""The verbs by name: each file is imported when its verb is asked for, so that `claimlab --help` feels instant."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command as to_command

from claimlab.cli import verbs


def verb_names() -> list[str]:
    return sorted(m.name.rstrip("_") for m in pkgutil.iter_modules(verbs.__path__) if not m.name.startswith("_"))


class LazyVerbs(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return verb_names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in verb_names():
            return None
        file = f"{cmd_name}_" if cmd_name in ("import",) else cmd_name
        module = importlib.import_module(f"claimlab.cli.verbs.{file}")
        command = to_command(module.app)
        command.name = cmd_name
        return command
