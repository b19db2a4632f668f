"""The README of a Hugging Face dataset, made of what is known about the dataset as a whole and of
what was measured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import polars as pl

from claimlab.core import packaged
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.record import VERACITIES
from claimlab.core.types import JsonObject
from claimlab.exchange.facts import DatasetFacts, about
from claimlab.exchange.fields import COLUMNS, SYNTHETIC, TABLES
from claimlab.exchange.markup import markdown, markdown_table, yaml
from claimlab.exchange.responsible import responsible

_ORIGIN: dict[str, str] = packaged.toml("claimlab.exchange", "fields.toml")["origin"]
_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")


def card(
    dataset: Dataset,
    configs: Sequence[JsonObject],
    splits: Mapping[str | None, str],
    findings: Sequence[Finding] | None = None,
    features: Sequence[JsonObject] = (),
) -> str:
    """The whole README; `configs` go into the front matter, as do the `features` of the first,
    `splits` maps a split's value to its name there, and `findings` are those of an audit."""
    facts = about(dataset)
    front = front_matter(dataset, facts, configs)
    if features:
        info = {"config_name": configs[0]["config_name"], "features": list(features)}
        front["dataset_info"] = [info]
    parts = [
        f"---\n{yaml(front)}---\n",
        f"# {markdown(facts.title)}\n",
        f"{markdown(facts.summary)}\n",
        *([f"**Synthetic.** {SYNTHETIC}\n"] if facts.synthetic else []),
        _loading(),
        _counts(dataset.records, splits),
        _tables(dataset),
        _columns(),
        _origin(dataset, facts),
        _cautions(facts),
        _audit(findings),
        _terms(facts),
        _lineage(dataset.lineage),
    ]
    return "\n".join(part for part in parts if part)


def front_matter(
    dataset: Dataset, facts: DatasetFacts, configs: Sequence[JsonObject]
) -> JsonObject:
    tags = [
        "misinformation",
        "fact-checking",
        "claimlab",
        *(["synthetic"] if facts.synthetic else []),
    ]
    return {
        "pretty_name": facts.title,
        **_licence(facts),
        **({"language": list(facts.languages)} if facts.languages else {}),
        "size_categories": [size_category(dataset.records.height)],
        "task_categories": ["text-classification"],
        "tags": tags,
        "configs": list(configs),
    }


def size_category(n: int) -> str:
    """The Hub's word for how many rows there are."""
    return _SIZES[min(max(len(str(n)) - 3, 0), len(_SIZES) - 1)]


def _licence(facts: DatasetFacts) -> JsonObject:
    """The Hub knows licences by their SPDX identifier in small letters; other terms are "other"
    with their words.
    """
    if facts.spdx:
        return {"license": facts.spdx.lower()}
    return (
        {"license": "other", "license_name": facts.licence}
        if facts.licence
        else {"license": "unknown"}
    )


def _loading() -> str:
    return (
        "## Loading\n\n```python\nfrom datasets import load_dataset\n\ndata ="
        ' load_dataset("path/to/this/folder")  # the records; a side table: load_dataset(folder,'
        ' "evidence")\n```\n\nWith claimlab: `claimlab load path/to/this/folder -o data` gives the'
        " dataset back whole.\n"
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
    frequent = (
        ", ".join(f"{markdown(c)} {n}" for c, n in languages.head(20).iter_rows()) or "not stated"
    )
    more = f" and {languages.height - 20} more" if languages.height > 20 else ""
    listed = markdown_table(header, rows)
    return (
        f"## Counts\n\n{listed}\n- Records with a date: {days.len()} ({span}).\n"
        f"- Languages (ISO 639-3): {frequent}{more}.\n"
    )


def _tables(dataset: Dataset) -> str:
    if not dataset.tables:
        return ""
    rows = [
        [markdown(name), str(table.height), markdown(TABLES.get(name, ""))]
        for name, table in sorted(dataset.tables.items())
    ]
    listed = markdown_table(["table", "rows", "what"], rows)
    return (
        "## Side tables\n\nKeyed by record id, in `tables`; those that describe the records are"
        f" configs of their own.\n\n{listed}"
    )


def _columns() -> str:
    rows = [[f"`{name}`", markdown(what)] for name, what in COLUMNS.items()]
    rows.append(["`position`", "Row number in the dataset before it was cut into splits, from 0."])
    rows.append(
        ["`label`", "Class of the dataset's own task, a ClassLabel; absent without labels."]
    )
    return (
        "## Columns\n\nA missing value is null, never an empty"
        f" text.\n\n{markdown_table(['column', 'meaning'], rows)}"
    )


def _origin(dataset: Dataset, facts: DatasetFacts) -> str:
    """How the records came about, and what is not known of it."""
    fields = responsible(dataset, facts)
    lines = []
    for words, name in _ORIGIN.items():
        value = fields.get(name, "not stated")
        lines.append(f"- {words}: {markdown(value if isinstance(value, str) else ' '.join(value))}")
    return "## Collection and annotation\n\n" + "\n".join(lines) + "\n"


def _cautions(facts: DatasetFacts) -> str:
    return (
        "## Know before use\n\n" + "".join(f"- {markdown(c)}\n" for c in facts.cautions)
        if facts.cautions
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
        f" are not a pass. Scores are macro-F1 in percent.\n\n{markdown_table(header, rows)}"
    )


def _percent(score: float | None) -> str:
    return "" if score is None else f"{100 * score:.1f}"


def _terms(facts: DatasetFacts) -> str:
    lines = [f"- Licence: {markdown(facts.licence) if facts.licence else 'none stated'}."]
    if facts.card is not None:
        lines.append(f"- Cite: {markdown(facts.card.citation)}")
        lines.append(f"- Access: {markdown(facts.card.access)}")
        if facts.card.homepage:
            lines.append(f"- Homepage: {_link(facts.card.homepage)}")
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
    listed = markdown_table(["step", "tool", "seed", "parameters"], rows)
    return f"## Lineage\n\n{listed}\nHashes of inputs and files: `claimlab.json`.\n"
