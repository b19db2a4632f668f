"""The card of a dataset: closed, typed data. What is not known is null; what the sources contradict
is an erratum.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from claimlab.core.languages import normalise

Modality = Literal[
    "claims",
    "articles",
    "posts",
    "tweets",
    "images",
    "videos",
    "knowledge-graph",
    "encyclopedia",
    "generated",
]
Grade = Literal["pass", "fail"]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Shares(_Closed):
    """Label shares in percent, as published."""

    true: float | None = None
    false: float | None = None
    mixed: float | None = None
    unknown: float | None = None


class Quality(_Closed):
    """Published verdicts; null = not assessed there."""

    keywords: Grade | None = None
    temporal: Grade | None = None
    feasibility: Grade | None = None


class Published(_Closed):
    """Published figures, per cent macro-F1: zero-shot baselines, keyword and temporal
    predictivity.
    """

    search_f1: float | None = None
    offline_f1: float | None = None
    keywords_tf: float | None = None
    keywords_tf_baseline: float | None = None
    keywords_tfm: float | None = None
    keywords_tfm_baseline: float | None = None
    temporal: float | None = None
    temporal_feature: Literal["date", "tweet id"] | None = None


class Address(_Closed):
    """Where the authors publish the files as one; `sha256` where it is known."""

    url: str = Field(pattern=r"^https?://")
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")


class Card(_Closed):
    """`survey`, `shares`, `quality` and `published` are what the 75-dataset guide says of it; left
    out: not assessed there.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    summary: str  # one or two sentences in our own words
    size: int | None = None  # as published
    modality: tuple[Modality, ...]
    topic: str
    region: str | None = None
    languages: tuple[str, ...] = ()  # ISO 639-3, those that are known by name
    language_count: int | None = None  # when only a number is published
    time_start: str | None = None  # ISO 8601, as precise as known: 2020, 2020-03, 2020-03-01
    time_end: str | None = None
    labelling: str | None = None
    shares: Shares | None = None
    quality: Quality | None = None
    published: Published | None = None
    licence: str | None = None  # null = none stated
    access: str  # how to get it, in a sentence
    homepage: str | None = None
    download: Address | None = None  # null: no file of it has a published address that is known
    citation: str
    errata: tuple[str, ...] = ()
    has_evidence: bool = False
    factchecks: bool = False  # each row is a claim with the rating that a fact-checker gave it
    survey: Literal["cdl-claims", "cdl-paragraphs", "cdl-listed"] | None = (
        None  # its place in the 75-dataset guide
    )

    @field_validator("languages")
    @classmethod
    def _iso3(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [c for c in codes if normalise(c) != c]
        if wrong:
            raise ValueError(f"not canonical ISO 639-3: {wrong}")
        return codes
