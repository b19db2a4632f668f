"""What a folder of the Hugging Face Hub says of its tables: names for the numbers of classes, and
which file is which split. It is said in the card (`README.md`), in files of the `datasets` library,
or in a Parquet file itself.
"""

from __future__ import annotations

import bisect
import fnmatch
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from claimlab.core.plain import whole
from claimlab.core.types import JsonObject
from claimlab.files.bundle import Bundle
from claimlab.files.raw import RawTable, literal_text, spell_out

CARD = "README.md"
# beside each table that the `datasets` library writes, and above its splits
INFO, STATE, DICT = "dataset_info.json", "state.json", "dataset_dict.json"
INFOS = "dataset_infos.json"  # as it wrote them before there were cards
CARD_BYTES = 1 << 20  # bytes of a card that are read
LINE_CHARACTERS, MOST_BRACKETS = 2_000, 1_000
MOST_NAMES_COMPARED = 1_000_000  # names of files with patterns; of another card no splits are taken
_WILD = re.compile(r"[*?\[]")  # where a pattern ends to be plain

Classes = dict[str, list[str]]


def classes_of(bundle: Bundle, member: str, own: str | None = None) -> tuple[Classes, str]:
    """The columns that hold numbers for classes with the name of each number, and where that is
    said: in the file's `own` words, or in a file beside or above it.
    """
    for place, words in [(member, own or ""), *_about(bundle, member)]:
        names = _agreed(member, _configs_in(place, words))
        if names:
            return names, place
    return {}, ""


def name_classes(table: RawTable, names: Classes, place: str) -> None:
    """Put the names of classes in the place of their numbers; -1, by which `datasets` means none,
    is null.
    """
    for column in sorted(names.keys() & set(table.frame.columns)):
        codes = {str(number): name for number, name in enumerate(names[column])}
        used = set(literal_text(table.frame[column].drop_nulls().unique())) - {"-1"}
        if used and used <= codes.keys():
            table.notes.append(spell_out(table, column, codes, f"'{place}'"))


def splits_in(bundle: Bundle) -> dict[str, str]:
    """The split of each file, as the card has it: `configs`, `data_files`."""
    content = (
        _read(CARD, bundle.head(CARD, CARD_BYTES).decode("utf-8", "replace"))
        if CARD in bundle
        else {}
    )
    splits: dict[str, str] = {}
    names, compared = sorted(bundle.names()), 0
    for config in _each(content.get("configs")):
        for files in _each(config.get("data_files")):
            paths = files.get("path")
            for path in [paths] if isinstance(paths, str) else paths or ():
                near = _beginning(names, _WILD.split(str(path), 1)[0])
                compared += len(near)
                if compared > MOST_NAMES_COMPARED:
                    return {}
                same = fnmatch.filter(near, str(path))
                splits |= dict.fromkeys(same, str(files.get("split")))
    return splits


def _beginning(names: Sequence[str], start: str) -> Sequence[str]:
    """Those of the sorted names that begin like this."""
    first = bisect.bisect_left(names, start)
    return names[first : bisect.bisect_left(names, f"{start}\U0010ffff", lo=first)]


def _about(bundle: Bundle, member: str) -> Iterator[tuple[str, str]]:
    for folder in PurePosixPath(member).parents:
        for name in (INFO, INFOS, CARD):
            place = str(folder / name)
            if place in bundle:
                yield place, bundle.head(place, CARD_BYTES).decode("utf-8", "replace")


@lru_cache(maxsize=32)  # a card stands above many tables
def _configs_in(place: str, words: str) -> list[tuple[str, Classes]]:
    return list(_configs(_read(place, words)))


def _read(place: str, words: str) -> JsonObject:
    """What a file of JSON, or the front matter of a card, says; nothing where it is damaged."""
    import yaml  # read on demand

    try:
        if place.endswith(CARD):
            _, front, _ = words.split("---\n", 2)
            loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
            content = yaml.load(front, loader) if _plain(front, loader) else {}
        else:
            content = json.loads(words)
    except (ValueError, RecursionError, yaml.YAMLError):
        return {}
    return content if isinstance(content, dict) else {}


def _plain(front: str, loader: type) -> bool:
    """Whether YAML is as people write it in a card. Lists that are deep within each other would
    take a reader hours, and a list that is referred to again and again can mean a billion things.
    """
    import yaml

    long = any(len(line) > LINE_CHARACTERS for line in front.splitlines())
    if long or front.count("[") + front.count("{") > MOST_BRACKETS:
        return False
    return not any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(front, loader))


def _each(value: object) -> list[JsonObject]:
    """One object, or those in a list."""
    objects = value if isinstance(value, list) else [value]
    return [entry for entry in objects if isinstance(entry, dict)]


def _configs(content: JsonObject) -> Iterator[tuple[str, Classes]]:
    """The name of each configuration, and its classes."""
    content = next(iter(_each(content.get("info", content))), {})
    configs = _each(content.get("dataset_info", content))
    if not any("features" in entry for entry in configs):
        configs = [{"config_name": k, **v} for k, v in content.items() if isinstance(v, dict)]
    for config in configs:
        features = config.get("features")
        kinds = (
            features
            if isinstance(features, dict)
            else {str(entry.get("name")): entry.get("dtype") for entry in _each(features)}
        )
        named = {str(column): _names(kind) for column, kind in kinds.items()}
        yield str(config.get("config_name")), {c: names for c, names in named.items() if names}


def _names(kind: object) -> list[str]:
    kind = kind.get("class_label", kind) if isinstance(kind, dict) else {}
    names = kind.get("names") if isinstance(kind, dict) else None
    if isinstance(names, Mapping):
        names = [names.get(str(number)) for number in range(len(names))]
    return [whole(str(name)) for name in names] if isinstance(names, list) and all(names) else []


def _agreed(member: str, configs: list[tuple[str, Classes]]) -> Classes:
    """The classes of the configuration that a file is named after, or those on which all agree."""
    own = [classes for name, classes in configs if name in member] or [c for _, c in configs]
    columns = {column: names for classes in own for column, names in classes.items()}
    return {
        column: names
        for column, names in columns.items()
        if all(classes.get(column, names) == names for classes in own)
    }
