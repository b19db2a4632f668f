"""The table of thresholds: the packaged one, with a user's own values."""

from __future__ import annotations

from pathlib import Path

from claimlab.core import packaged
from claimlab.core.errors import DataError
from claimlab.core.toml_file import read_raw_toml
from claimlab.core.types import JsonObject


def read_table(thresholds: str | Path | None) -> JsonObject:
    """The packaged thresholds, with those of a user's file in the place of what it names."""
    table: JsonObject = dict(packaged.toml("claimlab_simulate.generate.filter", "quality.toml"))
    own = {} if thresholds is None else read_raw_toml(Path(thresholds))
    for name, value in own.items():
        if name not in table:
            raise DataError(
                f"'{thresholds}' has thresholds for '{name}', which is not a metric.",
                "Remove them.",
            )
        table[name] = {**table[name], **value} if isinstance(value, dict) else value
    return table
