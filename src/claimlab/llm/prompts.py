"""Prompts as files: each has a name and a version, is listed by `claimlab llm prompts`, and can be
replaced for a run.

A prompt is a TOML file `data/prompts/NAME.toml` in the room that asks it, or in a package that the
entry-point group `claimlab.prompts` names: what it is for, who uses
it, and its parts, which code puts together with the data. Braces such as {labels} are filled in.
Data is never part of a prompt: texts of datasets and pages are fenced and added by the code that
asks, behind the fixed words, so that endpoints can reuse the prefix. The hash of the words that
were used is in the lineage of every result.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.metadata import entry_points
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from claimlab.core.errors import UnknownName, UnreadableFile, UsageError, check_name
from claimlab.core.toml_file import is_file_name, parse_toml, read_raw_toml, whole_number
from claimlab.core.types import JsonObject

GROUP = "claimlab.prompts"
_BRACES = re.compile(r"\{(\w+)\}")
Given = Mapping[str, str | Path] | Sequence[str]  # NAME -> FILE, or words such as "NAME=FILE"


@dataclass(frozen=True)
class Prompt:
    """`parts` are its words; `instead_of` names the prompt that this one is a variant of, for
    another procedure.
    """

    name: str
    version: int
    summary: str
    used_by: tuple[str, ...]
    parts: Mapping[str, str]
    instead_of: str | None = None
    file: str | None = None  # the user's file that replaces the packaged words

    def text(self, part: str, **values: object) -> str:
        """One part, with what is in braces filled in."""
        return _BRACES.sub(lambda match: str(values.get(match[1], match[0])), self.parts[part])

    @property
    def sha256(self) -> str:
        words = json.dumps(
            {"name": self.name, "parts": dict(self.parts)}, sort_keys=True, ensure_ascii=False
        )
        return hashlib.sha256(words.encode()).hexdigest()

    def lineage(self) -> JsonObject:
        """Which words were used, for lineages and run keys."""
        return {
            "version": self.version,
            "sha256": self.sha256[:16],
            **({"file": self.file} if self.file else {}),
        }

    def braces(self, part: str) -> set[str]:
        return set(_BRACES.findall(self.parts[part]))


@dataclass(frozen=True)
class Prompts:
    """The prompts of a run: the packaged ones, but for those that the user replaced."""

    replaced: Mapping[str, Prompt] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Prompt:
        return self.replaced.get(name) or packaged_prompts()[name]

    def lineage(self, *names: str) -> JsonObject:
        """The words of these prompts, by name."""
        return {name: self[name].lineage() for name in names}


def read_prompts(prompts: Given, verb: str) -> Prompts:
    """What the user passed to `verb`: each a file, or the name of a packaged variant. One that the
    verb never asks is a misunderstanding, and an error."""
    pairs = prompts.items() if isinstance(prompts, Mapping) else (_pair(word) for word in prompts)
    replaced = {}
    for name, source in pairs:
        own = {
            n: p
            for n, p in packaged_prompts().items()
            if verb in p.used_by and p.instead_of is None
        }
        check_name(f"prompt of {verb}", name, own)
        replaced[name] = _variant(own[name], source)
    return Prompts(replaced)


def find_prompt(name: str) -> Prompt:
    prompts = packaged_prompts()
    check_name("prompt", name, prompts)
    return prompts[name]


def as_toml(prompt: Prompt) -> str:
    """The prompt as a file that a user can edit and pass in."""
    lines = [f"# {prompt.summary}", f"version = {prompt.version}", "", "[parts]"]
    for name, text in prompt.parts.items():
        escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        lines.append(f'{name} = """\n{escaped}"""')
    return "\n".join(lines)


@cache
def packaged_prompts() -> dict[str, Prompt]:
    """Every prompt of every room, and of the packages that the group `claimlab.prompts` names, by
    name.
    """
    packages = [*{point.module for point in entry_points(group=GROUP)}, "claimlab"]
    found = [file for package in packages for file in _files(resources.files(package))]
    prompts = [_parse(file.read_text(encoding="utf-8"), file.name) for file in found]
    return {prompt.name: prompt for prompt in sorted(prompts, key=lambda prompt: prompt.name)}


def _files(folder: Traversable) -> list[Traversable]:
    inner = [
        entry
        for entry in folder.iterdir()
        if entry.is_dir() and not entry.name.startswith(("_", "."))
    ]
    files = [file for entry in inner for file in _files(entry)]
    if folder.name == "prompts":
        files += [file for file in folder.iterdir() if file.name.endswith(".toml")]
    return files


def _parse(text: str, where: str) -> Prompt:
    try:
        raw = parse_toml(text, where)
        parts = {str(name): str(words).strip() for name, words in raw["parts"].items()}
        return Prompt(
            Path(where).stem,
            int(raw["version"]),
            str(raw["summary"]),
            tuple(raw["used_by"]),
            parts,
            raw.get("instead_of"),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableFile(
            f"'{where}' is not a valid prompt: {error}.", "See docs/llm.md for the layout."
        ) from None


def _pair(word: str) -> tuple[str, str]:
    name, equals, source = word.partition("=")
    if not equals or not source:
        raise UsageError(
            f"'{word}' is not a valid prompt.", "Write it as NAME=FILE; see: claimlab llm prompts"
        )
    return name.strip(), source.strip()


def _variant(prompt: Prompt, source: str | Path) -> Prompt:
    """`prompt` with the parts of a file, or of a packaged variant, instead of its own."""
    packaged = packaged_prompts().get(str(source))
    if packaged is not None and packaged.instead_of == prompt.name:
        parts, version, file = packaged.parts, packaged.version, packaged.name
    else:
        if not is_file_name(str(source)):
            raise UnknownName("prompt", str(source), packaged_prompts())
        raw, file = read_raw_toml(Path(source)), Path(source).name
        parts = raw.get("parts", raw)
        version = whole_number(raw, "version", prompt.version, file)
    _check(prompt, parts, file)
    words = {**prompt.parts, **{name: str(text).strip() for name, text in parts.items()}}
    return Prompt(
        prompt.name, version, prompt.summary, prompt.used_by, words, prompt.instead_of, file
    )


def _check(prompt: Prompt, parts: Any, file: str) -> None:
    todo = "See its parts: claimlab llm prompts"
    if not isinstance(parts, Mapping) or not all(isinstance(text, str) for text in parts.values()):
        raise UnreadableFile(f"The parts in '{file}' are not texts.", todo)
    if strange := sorted(set(parts) - set(prompt.parts)):
        raise UsageError(
            f"The prompt '{prompt.name}' has no part '{strange[0]}' (in '{file}').", todo
        )
    for name, text in parts.items():
        if extra := sorted(set(_BRACES.findall(text)) - prompt.braces(name)):
            allowed = ", ".join(f"{{{b}}}" for b in sorted(prompt.braces(name))) or "none"
            raise UsageError(
                f"Nothing fills in {{{extra[0]}}} in the part '{name}' of '{file}'.",
                f"Use: {allowed}.",
            )
