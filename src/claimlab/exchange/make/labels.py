"""From labels as they are written to verdicts; what no map knows becomes a question, with the lines
that answer it.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl

from claimlab.core.errors import OutputExists, UnmappedLabels
from claimlab.core.labels import LabelMap, Mapped, Unmapped
from claimlab.core.record import VERACITIES
from claimlab.core.words import several

_BETWEEN = re.compile(r"(?<!\s)\s+and\s+|[;|/,]\s*|\n\s*")

SHOWN = 8  # labels that are named in an option to copy; more of them need a file
CODE = 3  # characters of a label that may be a code


def map_labels(raw: pl.Series, column: str, verdicts: LabelMap, unmapped: Unmapped) -> Mapped:
    """Verdicts of a label column. A cell with several labels of one meaning ("false; hoax") has
    that meaning.
    """
    values = raw.drop_nulls().unique().to_list()
    several = {
        v: verdict
        for v in values
        if verdicts.verdict(v) is None and (verdict := _of_parts(v, verdicts))
    }
    if several:
        verdicts = replace(verdicts, verdicts={**verdicts.verdicts, **several})
    try:
        return verdicts.apply(raw, unmapped=unmapped)
    except UnmappedLabels as error:
        raise UnmappedLabels(
            verdicts.name,
            error.counts,
            f"{_question(list(error.counts))} `write_map='map.toml'` writes a file with a line for"
            f" each, to be edited and passed as `labels='map.toml'`. If '{column}' is not the"
            " verdict, pass `label='none'`, or another column. Or accept them:"
            " `unmapped='unknown'`.",
        ) from None


def _question(values: list[str]) -> str:
    """The options that map each label, to copy; for two codes, both assignments."""
    if any("," in value or "=" in value for value in values) or len(values) > SHOWN:
        return "Say in a map file what they mean."
    if len(values) == 2 and max(map(len, values)) <= CODE:
        a, b = sorted(values)
        return (
            f"Say what they mean: `labels='{a}=true,{b}=false'` or `labels='{a}=false,{b}=true'`."
        )
    pairs = ",".join(f"{value}=VERDICT" for value in values)
    return f"Say what they mean: `labels='{pairs}'`, each VERDICT one of {', '.join(VERACITIES)}."


def write_map(path: Path, raw: pl.Series, verdicts: LabelMap, *, force: bool) -> None:
    """A map file with a line for every label in `raw`: its verdict where one is known, otherwise
    unknown.
    """
    if path.exists() and not force:
        raise OutputExists(path)
    counts = (
        raw.drop_nulls()
        .alias("value")
        .value_counts(name="n")
        .sort(["n", "value"], descending=[True, False])
    )
    lines = [
        "# Say of each label what it means: true, false, mixed or unknown.",
        f"name = {json.dumps(path.stem)}",
        "version = 1",
    ]
    lines += ["exact = true", "[verdicts]"]
    for value, n in counts.iter_rows():
        verdict = verdicts.verdict(value) or _of_parts(value, verdicts)
        comment = several(n, "row") + ("" if verdict else ", not known: fill it in")
        lines.append(
            f'{json.dumps(value, ensure_ascii=False)} = "{verdict or "unknown"}"  # {comment}'
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def verdict_of(value: str, verdicts: LabelMap) -> str | None:
    """The verdict of a label, or that of all of its parts."""
    return verdicts.verdict(value) or (
        _of_parts(value, verdicts) if _BETWEEN.search(value) or "[" in value else None
    )


def _of_parts(value: str, verdicts: LabelMap) -> str | None:
    """The verdict on which all parts of a cell agree: "false; hoax", or the JSON list ["false",
    "hoax"].
    """
    parts = _BETWEEN.split(value.strip().strip("[]").replace('"', "").replace("'", ""))
    known = {verdicts.verdict(part.strip()) for part in parts if part.strip()}
    return known.pop() if len(known) == 1 else None
