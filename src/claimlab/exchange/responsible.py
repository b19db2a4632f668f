"""The Responsible-AI fields of Croissant, filled with what was measured of a dataset (annotations,
reviews, lineage, a scan) and with what its authors state. A field that nothing was measured for is
left out; none is filled with what an author might have meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, check_name
from claimlab.core.finding import Finding
from claimlab.core.stats.agreement import alpha_of, figure, patterns
from claimlab.core.toml_file import read_raw_toml, read_saved
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.exchange.facts import DatasetFacts
from claimlab.exchange.markup import markdown_table
from claimlab.text.personal import scan_personal

# Responsible-AI fields that no measurement can fill, asked of the authors, by name in a TOML file
ASKED: list[str] = packaged.toml("claimlab.exchange", "fields.toml")["rai"]["asked"]
_MEASURED: list[str] = packaged.toml("claimlab.exchange", "fields.toml")["rai"]["measured"]
_PERSONAL = {"mail": "mail addresses", "phone": "phone numbers", "handle": "@handles"}
_PLACEHOLDER = re.compile(r"(?i)\b(todo|tbd|tba|fixme|xxx+|lorem|placeholder|n/?a)\b|\.\.\.|[<\[{]")


def findings_in(audit: str, dataset: Dataset) -> list[Finding]:
    """The findings of a saved audit; one of other records, or of these before they were changed, is
    refused.
    """
    place = Path(audit)
    file = place / "audit.json" if place.is_dir() else place
    todo = "Make one with: claimlab audit DIR -o FOLDER"
    try:
        audits = read_saved(file, "is not a saved audit", todo)["audits"]
        own = [a for a in audits if a["digest"] == dataset.digest()]
        findings = [Finding.model_validate(f) for a in own for f in a["findings"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"'{file}' is not a saved audit: {error}.",
            todo,
        ) from None
    if not own:
        raise DataError(
            f"'{audit}' is not an audit of '{dataset.name}' as it is now.",
            "Audit the dataset again.",
        )
    return findings


def stated(file: str | None) -> JsonObject:
    """What the authors say in `file`, as `rai:` fields; a placeholder is not an answer."""
    if file is None:
        return {}
    words = read_raw_toml(Path(file))
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
    return f"# Responsible-AI fields\n\n{markdown_table(['field', 'state'], rows)}"


def responsible(dataset: Dataset, facts: DatasetFacts, audit: str | None = None) -> JsonObject:
    """The `rai:` and `prov:` fields of a dataset; those without a value are left out."""
    card = facts.card
    review = next((step for step in reversed(dataset.lineage) if step.step == "review"), None)
    names = dict(review.parameters) if review is not None else {}
    per_item, agreement, models = _annotations(dataset)
    fields = {
        "rai:dataBiases": _biases(dataset, audit),
        "rai:dataLimitations": list(facts.cautions),
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
        "rai:personalSensitiveInformation": _personal_data(dataset),
        "rai:hasSyntheticData": facts.synthetic,
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


def _personal_data(dataset: Dataset) -> list[str]:
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
