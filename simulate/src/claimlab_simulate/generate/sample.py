"""Samples as records: up to four texts each, with their label, their origin and their change log.

Authorship is decided text by text, by this rule:

    HWT  the seed itself, as a person wrote it
    HAT  an article or post that a model edited to a minor or moderate degree
    MGT  an article or post that a model rewrote completely (degree critical)
    MTT  a translation, whoever wrote what it translates

`rows` is the only function in this room that makes records of machine-made text, and it refuses a
sample that lacks any of the three: there is no way around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from claimlab.core.errors import DataError
from claimlab.core.record import meta_json
from claimlab.core.types import JsonObject

SAMPLE_FIELDS = ("article", "article-translation", "post", "post-translation")
LABEL_OF_VERACITY = {"real": "true", "altered": "false"}


@dataclass(frozen=True)
class GeneratedSample:
    """What a chain made of one seed. `changes` is the log: an empty one says that nothing was
    altered.
    """

    id: str
    seed: JsonObject  # the record
    veracity: str  # real | altered | seed: the label of what was translated
    degree: str | None  # minor | moderate | critical; null for a translation alone
    texts: Mapping[str, str]  # by field
    languages: Mapping[str, str]
    origin: JsonObject
    changes: Sequence[JsonObject] | None
    meta: JsonObject


def authorship(field: str, degree: str | None) -> str:
    """The rule above for one machine-made text."""
    if field.endswith("translation"):
        return "MTT"
    return "MGT" if degree == "critical" else "HAT"


def rows(sample: GeneratedSample) -> list[JsonObject]:
    """The texts of a sample as rows of the record table."""
    seed = sample.seed
    inherits = sample.veracity == "seed"
    label = seed.get("veracity") if inherits else LABEL_OF_VERACITY.get(sample.veracity)
    needed = {"label": label, "origin": sample.origin or None, "change log": sample.changes}
    missing = [name for name, value in needed.items() if value is None]
    if missing:
        raise DataError(
            f"The sample '{sample.id}' has no {' and no '.join(missing)}: machine-made text is not"
            " written without.",
            "Pass what made it and what it changed; an empty list of changes says that nothing was"
            " altered.",
        )
    named = seed.get("label_raw") or label if inherits else sample.veracity
    note = {
        "label": named,
        "origin": {**sample.origin, "seed": seed["id"]},
        "changes": list(sample.changes or ()),
    }
    about = {**sample.meta, "sample": sample.id, "degree": sample.degree, "synthetic": note}
    kind = "claim" if seed.get("kind") == "claim" else "article"
    return [
        {
            "id": f"{sample.id}-{field}",
            "text": sample.texts[field],
            "kind": "post" if field.startswith("post") else kind,
            "label_raw": named,
            "veracity": label,
            "language": sample.languages.get(field),
            "date": seed.get("date"),
            "date_source": seed.get("date_source"),
            "author": sample.origin.get("model"),
            "source": seed.get("source"),
            "topic": seed.get("topic"),
            "group": group_of(seed),
            "authorship": authorship(field, sample.degree),
            "split": seed.get("split"),
            "meta": meta_json({**about, "field": field}),
        }
        for field in SAMPLE_FIELDS
        if sample.texts.get(field)
    ]


def original(seed: JsonObject) -> JsonObject:
    """The seed beside what was made of it: the human class of the benchmark, in the same group."""
    return {
        **{k: v for k, v in seed.items() if k != "dataset"},
        "authorship": "HWT",
        "group": group_of(seed),
    }


def group_of(seed: JsonObject) -> str:
    """A seed and everything made from it must never be on two sides of a split."""
    return str(seed.get("group") or seed["id"])
