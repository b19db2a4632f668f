"""The Responsible-AI fields of Croissant, filled from what was measured: audits, annotations,
reviews, lineage, a scan.

A field that nothing was measured for is left out; none is filled with what an author might have
meant.
"""

from __future__ import annotations

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.stats.agreement import alpha_of, figure, patterns
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.exchange.about import About
from claimlab.exchange.audited import findings_in
from claimlab.text.mask import scan_personal

KINDS = {"mail": "mail addresses", "phone": "phone numbers", "handle": "@handles"}


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
        "rai:dataAnnotationProtocol": names.get("guideline") or (card.labelling if card else None),
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
        f"{KINDS[kind]} in {records:,} of {dataset.records.height:,} records"
        for kind, records, _ in counts
    ]
    return [
        f"A scan by rule counts {', '.join(rows)}.",
        "Not reviewed by people: texts, authors and addresses may name or quote people.",
    ]
