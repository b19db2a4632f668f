"""What a dataset says of itself to others: the README of a Hugging Face dataset, and the
Responsible-AI fields of Croissant.

Both are made of what is known about the dataset as a whole (its manifest, its records, its
catalogue card) and of what was measured (audits, annotations, reviews, lineage, a scan). A field
that nothing was measured for is left out; none is filled with what an author might have meant.

Untrusted text inside Markdown, YAML and JSON: shown as it is, never taken as markup.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.catalog.entry import Card
from claimlab.catalog.load import DATASETS
from claimlab.core import packaged
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError, check_name
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.languages import to_iso1
from claimlab.core.licence import spdx
from claimlab.core.record import VERACITIES
from claimlab.core.stats.agreement import alpha_of, figure, patterns
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.exchange.synthetic import MACHINE_MADE
from claimlab.text.mask import scan_personal

# What each column and side table means, in a sentence.
COLUMNS: dict[str, str] = packaged.toml("claimlab.exchange", "fields.toml")["columns"]
TABLES: dict[str, str] = packaged.toml("claimlab.exchange", "fields.toml")["tables"]
_ORIGIN: dict[str, str] = packaged.toml("claimlab.exchange", "fields.toml")["origin"]
# Responsible-AI fields that no measurement can fill, asked of the authors, by name in a TOML file
ASKED: list[str] = packaged.toml("claimlab.exchange", "fields.toml")["rai"]["asked"]
_MEASURED: list[str] = packaged.toml("claimlab.exchange", "fields.toml")["rai"]["measured"]
SYNTHETIC = (
    "This dataset holds machine-made text. Each such record says so in `authorship`, and carries"
    " its label, origin and change log in `meta`."
)
_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")
_PERSONAL = {"mail": "mail addresses", "phone": "phone numbers", "handle": "@handles"}


@dataclass(frozen=True)
class About:
    """`licence` is the text as stated; `spdx` its identifier, only where the text is a licence and
    nothing else.
    """

    title: str
    summary: str
    licence: str | None
    spdx: str | None
    languages: tuple[str, ...]  # ISO 639-1 where there is one, else 639-3
    synthetic: bool  # holds machine-made text, whether the manifest or only some rows say so
    card: Card | None
    cautions: tuple[str, ...]  # errata of the card, then notes of the dataset


def about(dataset: Dataset) -> About:
    card = (
        DATASETS.get(dataset.card).card
        if dataset.card is not None and dataset.card in DATASETS
        else None
    )
    licence = dataset.licence or (card.licence if card else None)
    spoken = sorted(dataset.records["language"].drop_nulls().unique().to_list())
    return About(
        title=card.title if card else dataset.name,
        summary=(
            card.summary
            if card
            else f"{dataset.records.height:,} records in the schema of claimlab."
        ),
        licence=licence,
        spdx=spdx(licence),
        languages=tuple(dict.fromkeys(to_iso1(code) or code for code in spoken)),
        synthetic=dataset.synthetic
        or bool(dataset.records["authorship"].is_in(MACHINE_MADE).any()),
        card=card,
        cautions=(*(card.errata if card else ()), *dataset.notes),
    )


def field_summary(table: str, column: str) -> str | None:
    """A sentence for a column, where one is agreed; columns that a step added have none."""
    if column == "record_id":
        return "Id of the record that this row belongs to."
    if table in ("records", "dropped", "doubtful"):
        return COLUMNS.get(column)
    return "JSON object with whatever else is known." if column == "meta" else None


def findings_in(audit: str, dataset: Dataset) -> list[Finding]:
    """The findings of a saved audit; one of other records, or of these before they were changed, is
    refused.
    """
    place = Path(audit)
    file = place / "audit.json" if place.is_dir() else place
    try:
        audits = json.loads(file.read_text(encoding="utf-8"))["audits"]
        own = [a for a in audits if a["digest"] == dataset.digest()]
        findings = [Finding.model_validate(f) for a in own for f in a["findings"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"'{file}' is not a saved audit: {error}.",
            "Make one with: claimlab audit DIR -o FOLDER",
        ) from None
    if not own:
        raise DataError(
            f"'{audit}' is not an audit of '{dataset.name}' as it is now.",
            "Audit the dataset again.",
        )
    return findings


def card(
    dataset: Dataset,
    configs: Sequence[JsonObject],
    splits: Mapping[str | None, str],
    findings: Sequence[Finding] | None = None,
    features: Sequence[JsonObject] = (),
) -> str:
    """The whole README; `configs` go into the front matter, as do the `features` of the first,
    `splits` maps a split's value to its name there, and `findings` are those of an audit."""
    known = about(dataset)
    front = front_matter(dataset, known, configs)
    if features:
        info = {"config_name": configs[0]["config_name"], "features": list(features)}
        front["dataset_info"] = [info]
    parts = [
        f"---\n{yaml(front)}---\n",
        f"# {markdown(known.title)}\n",
        f"{markdown(known.summary)}\n",
        *([f"**Synthetic.** {SYNTHETIC}\n"] if known.synthetic else []),
        _loading(),
        _counts(dataset.records, splits),
        _tables(dataset),
        _columns(),
        _origin(dataset, known),
        _cautions(known),
        _audit(findings),
        _terms(known),
        _lineage(dataset.lineage),
    ]
    return "\n".join(part for part in parts if part)


def front_matter(dataset: Dataset, known: About, configs: Sequence[JsonObject]) -> JsonObject:
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
        [markdown(name), str(table.height), markdown(TABLES.get(name, ""))]
        for name, table in sorted(dataset.tables.items())
    ]
    listed = _table(["table", "rows", "what"], rows)
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
        f" text.\n\n{_table(['column', 'meaning'], rows)}"
    )


def _origin(dataset: Dataset, known: About) -> str:
    """How the records came about, and what is not known of it."""
    fields = responsible(dataset, known)
    lines = []
    for words, name in _ORIGIN.items():
        value = fields.get(name, "not stated")
        lines.append(f"- {words}: {markdown(value if isinstance(value, str) else ' '.join(value))}")
    return "## Collection and annotation\n\n" + "\n".join(lines) + "\n"


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


_PLACEHOLDER = re.compile(r"(?i)\b(todo|tbd|tba|fixme|xxx+|lorem|placeholder|n/?a)\b|\.\.\.|[<\[{]")


def stated(file: str | None) -> JsonObject:
    """What the authors say in `file`, as `rai:` fields; a placeholder is not an answer."""
    if file is None:
        return {}
    try:
        words = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"'{file}' cannot be read: {error}.", "Write a TOML file.") from None
    for name, value in words.items():
        check_name("Responsible-AI field", name, ASKED)
        if not isinstance(value, str) or len(value.split()) < 3 or _PLACEHOLDER.search(value):
            raise DataError(
                f"`{name}` in '{file}' is not an answer.",
                "Write a sentence, or leave the field out: it is then listed as missing.",
            )
    return {f"rai:{name}": value for name, value in words.items()}


def present_or_missing(fields: Mapping[str, object]) -> str:
    """A table of every Responsible-AI field, as Markdown."""
    names = [*(f"rai:{name}" for name in ASKED), *_MEASURED]
    rows = [[f"`{name}`", "present" if name in fields else "**missing**"] for name in sorted(names)]
    return f"# Responsible-AI fields\n\n{_table(['field', 'state'], rows)}"


def responsible(dataset: Dataset, known: About, audit: str | None = None) -> JsonObject:
    """The `rai:` and `prov:` fields of a dataset; those without a value are left out."""
    card = known.card
    review = next((step for step in reversed(dataset.lineage) if step.step == "review"), None)
    names = dict(review.parameters) if review is not None else {}
    per_item, agreement, models = _annotations(dataset)
    fields = {
        "rai:dataBiases": _biases(dataset, audit),
        "rai:dataLimitations": list(known.cautions),
        "rai:dataCollection": card.access if card else None,
        "rai:dataAnnotationProtocol": names.get("guideline")
        or (f"{card.labelling}. The instructions are not recorded." if card else None),
        "rai:dataAnnotationPlatform": (
            [f"claimlab review, {review.tool}"] if review is not None else []
        ),
        "rai:annotationsPerItem": per_item,
        "rai:dataAnnotationAnalysis": agreement,
        "rai:machineAnnotationTools": models,
        "rai:dataPreprocessingProtocol": [f"{step.step} ({step.tool})" for step in dataset.lineage],
        "rai:personalSensitiveInformation": _personal(dataset),
        "rai:hasSyntheticData": known.synthetic,
        "prov:wasDerivedFrom": sorted(
            {f"sha256:{d}" for step in dataset.lineage[:1] for d in step.inputs.values()}
        ),
    }
    return {key: value for key, value in fields.items() if value or value is False}


def _biases(dataset: Dataset, audit: str | None) -> list[str]:
    """What an audit of these very records found: fails and warnings, and how much was not
    measured.
    """
    if audit is None:
        return []
    findings = findings_in(audit, dataset)
    lines = [f"{f.check} ({f.verdict}): {f.why}" for f in findings if f.verdict in ("fail", "warn")]
    open_ones = sum(f.verdict in ("inconclusive", "not-measured") for f in findings)
    return [
        *lines,
        f"{several(len(findings), 'finding')} in all; {open_ones} inconclusive or not measured.",
    ]


def _annotations(dataset: Dataset) -> tuple[str | None, list[str], list[str]]:
    """Annotations per item, agreement of people by question, and the models that annotated."""
    table = dataset.tables.get("annotations")
    if table is None or not table.height:
        return None, [], []
    people = table.filter(pl.col("annotator_kind").fill_null("human") == "human").drop_nulls(
        "value"
    )
    models = (
        table.filter(pl.col("annotator_kind") == "model")["annotator"]
        .drop_nulls()
        .unique()
        .sort()
        .to_list()
    )
    sizes = people.group_by("question", "record_id").len()["len"]
    counts = [int(n) for n in sizes.to_list()]
    per_item = f"{min(counts)} to {max(counts)}" if counts else None
    return (
        per_item,
        [
            line
            for line in map(_agreement, people.partition_by("question", maintain_order=True))
            if line
        ],
        models,
    )


def _agreement(answers: pl.DataFrame) -> str | None:
    """Krippendorff's alpha of one question; null where no record has two answers."""
    codes = answers.with_columns(code=pl.col("value").rank("dense").cast(pl.Float64))
    units = codes.group_by("record_id", maintain_order=True).agg("code")["code"].to_list()
    twice = [unit for unit in units if len(unit) > 1]
    if not twice:
        return None
    alpha = figure(patterns(twice), alpha_of)
    value = "not defined (one answer only)" if alpha.value is None else f"{alpha.value:.2f}"
    span = (
        "" if alpha.interval is None else f" ({alpha.interval[0]:.2f} to {alpha.interval[1]:.2f})"
    )
    people = answers["annotator"].n_unique()
    return (
        f"{answers['question'][0] or 'annotation'}: Krippendorff's alpha {value}{span} over "
        f"{several(len(twice), 'record')} that several of {several(people, 'annotator')} answered."
    )


def _personal(dataset: Dataset) -> list[str]:
    """What a scan by rule counts; that no person has looked is said beside it."""
    counts = scan_personal(dataset.records["text"]).rows()
    rows = [
        f"{_PERSONAL[kind]} in {records:,} of {dataset.records.height:,} records"
        for kind, records, _ in counts
    ]
    return [
        f"A scan by rule counts {', '.join(rows)}.",
        "Not reviewed by people: texts, authors and addresses may name or quote people.",
    ]


_MARKUP = re.compile(r"([\\`*_\[\]<>&|~$^#])")
_LEADING = re.compile(r"^([-+=]|\d+(?=[.)]))")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")


def markdown(text: object) -> str:
    """`text` on one line of Markdown: no emphasis, link, heading, table cell, HTML or formula can
    come out of it.
    """
    line = " ".join(_INVISIBLE.sub(" ", str(text)).split())
    line = _MARKUP.sub(r"\\\1", line)
    line = (
        line.replace("://", ":\\//").replace("@", "\\@").replace("www.", "www\\.")
    )  # else they become links
    match = _LEADING.match(line)
    if match is None:
        return line
    rest = line[match.end() :]
    return f"{match[1]}\\{rest}" if match[1].isdigit() else f"\\{line}"


def yaml(value: Any, indent: int = 0) -> str:
    """Nested lists and mappings as block YAML; every text in double quotes, so that "no" stays
    Norwegian.
    """
    pad = "  " * indent
    if isinstance(value, dict):
        return "".join(f"{pad}{key}:{_yaml_under(item, indent)}" for key, item in value.items())
    lines = []
    for item in value:
        if isinstance(item, dict):
            block = yaml(item, indent + 1)
            lines.append(f"{pad}- {block[len(pad) + 2 :]}")
        else:
            lines.append(f"{pad}- {yaml_scalar(item)}\n")
    return "".join(lines)


def yaml_scalar(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str):
        return json.dumps(value)
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(
        lambda m: f"\\u{ord(m[0]):04x}" if ord(m[0]) < 0x10000 else f"\\U{ord(m[0]):08x}", quoted
    )


def json_ld(value: Any) -> str:
    """JSON that may also be pasted into a page: "<" is written as an escape, so no text can close a
    script element.
    """
    return json.dumps(value, ensure_ascii=False, indent=2).replace("<", "\\u003c") + "\n"


def _yaml_under(item: Any, indent: int) -> str:
    if isinstance(item, dict | list | tuple):
        return "\n" + yaml(item, indent + 1) if item else " []\n"
    return f" {yaml_scalar(item)}\n"
