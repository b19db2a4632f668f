"""Logs of Inspect: a zip of JSON (`.eval`) with a header and a file for each sample."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from claimlab.core.types import JsonObject
from claimlab.evaluate.items import Item, ItemFormat, as_score, opened


class InspectLog(ItemFormat):
    summary = "an Inspect log (.eval, or .json)"

    def fits(self, file: Path) -> bool:
        if file.suffix.lower() == ".eval":
            return zipfile.is_zipfile(file)
        content = opened(file)
        return isinstance(content, dict) and {"eval", "samples"} <= set(content)

    def read(self, file: Path) -> Iterator[Item]:
        content = opened(file)
        if isinstance(content, dict):
            for sample in content.get("samples") or ():
                yield from _items(sample, _model(content))
            return
        with zipfile.ZipFile(file) as archive:
            system = _model(json.loads(archive.read("header.json")))
            for name in sorted(archive.namelist()):
                if name.startswith("samples/") and name.endswith(".json"):
                    yield from _items(json.loads(archive.read(name)), system)


def _model(log: Mapping[str, JsonObject]) -> str:
    return str(log.get("eval", {}).get("model", "model"))


def _items(sample: JsonObject, system: str) -> Iterator[Item]:
    """By the first scorer; a sample that failed has no score, and counts as wrong."""
    scores = sample.get("scores") or {}
    first: JsonObject = next(iter(scores.values()), {})
    value = first.get("value")
    if isinstance(value, dict):
        value = next(iter(value.values()), None)
    yield Item(str(sample.get("id")), system, as_score(value) or 0.0)


FORMAT = InspectLog()
