"""The README of a dataset for Hugging Face: YAML that tools read on top, what a person should know
below.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.record import VERACITIES
from claimlab.core.types import JsonObject
from claimlab.exchange.about import SYNTHETIC, About, about
from claimlab.exchange.escape import markdown, yaml
from claimlab.exchange.fields import RECORD_FIELDS, SIDE_TABLE_SUMMARIES

_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")


def card(
    dataset: Dataset,
    configs: Sequence[Mapping[str, Any]],
    splits: Mapping[str | None, str],
    findings: Sequence[Finding] | None = None,
) -> str:
    """The whole README; `configs` go into the front matter, `splits` maps a split's value to its
    name there, and `findings` are those of an audit."""
    known = about(dataset)
    parts = [
        f"---\n{yaml(front_matter(dataset, known, configs))}---\n",
        f"# {markdown(known.title)}\n",
        f"{markdown(known.summary)}\n",
        *([f"**Synthetic.** {SYNTHETIC}\n"] if known.synthetic else []),
        _loading(),
        _counts(dataset.records, splits),
        _tables(dataset),
        _columns(),
        _cautions(known),
        _audit(findings),
        _terms(known),
        _lineage(dataset.lineage),
    ]
    return "\n".join(part for part in parts if part)


def front_matter(
    dataset: Dataset, known: About, configs: Sequence[Mapping[str, Any]]
) -> JsonObject:
    tags = [
        "misinformation",
        "fact-checking",
        "claimlab",
        *(["synthetic"] if known.synthetic else []),
    ]
    return {
        "pretty_name": known.title,
        **_licence(known),
        **({"language": list(known.languages)} if known.languages else {}),
        "size_categories": [size_category(dataset.records.height)],
        "task_categories": ["text-classification"],
        "tags": tags,
        "configs": list(configs),
    }


def size_category(n: int) -> str:
    """The Hub's word for how many rows there are."""
    return _SIZES[min(max(len(str(n)) - 3, 0), len(_SIZES) - 1)]


def _licence(known: About) -> JsonObject:
    """The Hub knows licences by their SPDX identifier in small letters; other terms are "other"
    with their words.
    """
    if known.spdx:
        return {"license": known.spdx.lower()}
    return (
        {"license": "other", "license_name": known.licence}
        if known.licence
        else {"license": "unknown"}
    )


def _loading() -> str:
    return (
        "## Loading\n\n```python\nfrom datasets import load_dataset\n\ndata ="
        ' load_dataset("path/to/this/folder")  # the records; a side table: load_dataset(folder,'
        ' "evidence")\n```\n\nWith claimlab: `claimlab.exchange.export.read_export(folder)` gives'
        " the dataset back whole.\n"
    )


def _counts(records: pl.DataFrame, splits: Mapping[str | None, str]) -> str:
    rows = []
    for value, name in splits.items():
        part = records.filter(pl.col("split").eq_missing(pl.lit(value, pl.String)))["veracity"]
        tally = [str((part == v).sum()) for v in VERACITIES]
        rows.append([markdown(name), str(part.len()), *tally, str(part.null_count())])
    header = ["split", "records", *VERACITIES, "no verdict"]
    days = records["date"].drop_nulls().dt.to_string("%Y-%m-%d").sort()
    span = f"from {days[0]} to {days[-1]}" if days.len() else "none"
    spoken = records["language"].drop_nulls().value_counts(name="n")
    languages = spoken.sort("n", "language", descending=[True, False])
    shown = (
        ", ".join(f"{markdown(c)} {n}" for c, n in languages.head(20).iter_rows()) or "not stated"
    )
    more = f" and {languages.height - 20} more" if languages.height > 20 else ""
    return (
        f"## Counts\n\n{_table(header, rows)}\n- Records with a date: {days.len()} ({span}).\n"
        f"- Languages (ISO 639-3): {shown}{more}.\n"
    )


def _tables(dataset: Dataset) -> str:
    if not dataset.tables:
        return ""
    rows = [
        [markdown(name), str(table.height), markdown(SIDE_TABLE_SUMMARIES.get(name, ""))]
        for name, table in sorted(dataset.tables.items())
    ]
    listed = _table(["config", "rows", "what"], rows)
    return f"## Side tables\n\nEach is a config of its own, keyed by record id.\n\n{listed}"


def _columns() -> str:
    rows = [[f"`{name}`", markdown(what)] for name, what in RECORD_FIELDS.items()]
    rows.append(["`position`", "Row number in the dataset before it was cut into splits, from 0."])
    return (
        "## Columns\n\nA missing value is null, never an empty"
        f" text.\n\n{_table(['column', 'meaning'], rows)}"
    )


def _cautions(known: About) -> str:
    return (
        "## Know before use\n\n" + "".join(f"- {markdown(c)}\n" for c in known.cautions)
        if known.cautions
        else ""
    )


def _audit(findings: Sequence[Finding] | None) -> str:
    """What an audit of these records found, the most severe first; null where there was none."""
    if findings is None:
        return ""
    counts = ", ".join(f"{sum(f.verdict == v for f in findings)} {v}" for v in VERDICTS)
    by_severity = sorted(findings, key=lambda f: VERDICTS.index(f.verdict))
    rows = [
        [
            markdown(f.feature or f.check),
            f.verdict,
            _percent(f.score),
            _percent(f.baselines.best()),
            markdown(f.why),
        ]
        for f in by_severity
    ]
    header = ["check", "result", "score", "best baseline", "why"]
    return (
        f'## Audit\n\nclaimlab audited these records: {counts}. "Not measured" and "inconclusive"'
        f" are not a pass. Scores are macro-F1 in percent.\n\n{_table(header, rows)}"
    )


def _percent(score: float | None) -> str:
    return "" if score is None else f"{100 * score:.1f}"


def _terms(known: About) -> str:
    lines = [f"- Licence: {markdown(known.licence) if known.licence else 'none stated'}."]
    if known.card is not None:
        lines.append(f"- Cite: {markdown(known.card.citation)}")
        lines.append(f"- Access: {markdown(known.card.access)}")
        if known.card.homepage:
            lines.append(f"- Homepage: {_link(known.card.homepage)}")
    return "## Terms\n\n" + "\n".join(lines) + "\n"


def _link(address: str) -> str:
    """A link, when the catalogue's address is one that nothing can hide in."""
    return (
        f"<{address}>"
        if re.fullmatch(r"https?://[^\s<>\x00-\x1f]+", address)
        else markdown(address)
    )


def _lineage(steps: Sequence[Lineage]) -> str:
    if not steps:
        return ""
    rows = []
    for step in steps:
        settings = {k: v for k, v in step.parameters.items() if v is not None}
        parameters = json.dumps(settings, ensure_ascii=False, sort_keys=True, default=str)
        seed = "" if step.seed is None else str(step.seed)
        rows.append([markdown(step.step), markdown(step.tool), seed, markdown(parameters)])
    listed = _table(["step", "tool", "seed", "parameters"], rows)
    return f"## Lineage\n\n{listed}\nHashes of inputs and files: `claimlab.json`.\n"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
