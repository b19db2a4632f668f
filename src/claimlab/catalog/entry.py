"""A dataset of the catalogue: Entry(card, maps, variants), made of a card file (catalog/cards.py)
or DATASET in the module of a package outside.

A loader takes a `Bundle` (zip, folder or file) and returns `Loaded`: records with `label_raw` (the
catalogue maps it to `veracity`), side tables, and notes for the user. It keeps the file's own row
order, because published seeded splits depend on it.

The card of a dataset: closed, typed data. What is not known is null; what the sources contradict
is an erratum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, field_validator

from claimlab.core.errors import DataError, UsageError, check_name
from claimlab.core.labels import LabelMap, is_own, load_map
from claimlab.core.languages import normalise
from claimlab.files.bundle import Bundle
from claimlab.tasks import TRUTH

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
MARKS = {
    "keywords": "keywords",
    "time": "temporal",
    "feasibility": "feasibility",
}  # as said here -> as on the card


class ClosedModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Shares(ClosedModel):
    """Label shares in percent, as published."""

    true: float | None = None
    false: float | None = None
    mixed: float | None = None
    unknown: float | None = None


class Quality(ClosedModel):
    """Published verdicts; null = not assessed there."""

    keywords: Grade | None = None
    temporal: Grade | None = None
    feasibility: Grade | None = None


class PublishedScores(ClosedModel):
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


class Card(ClosedModel):
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
    published: PublishedScores | None = None
    licence: str | None = None  # null = not known: looked for and not found, or not looked up
    access: str  # how to get it, in a sentence
    homepage: str | None = None
    citation: str
    errata: tuple[str, ...] = ()
    has_evidence: bool = False
    factchecks: bool = False  # each row is a claim with the rating that a fact-checker gave it
    task: str = TRUTH  # what its labels answer; those of another task are never verdicts
    family: str | None = None  # datasets of one family contain rows of each other
    # its place in the 75-dataset guide
    survey: Literal["cdl-claims", "cdl-paragraphs", "cdl-listed"] | None = None

    @field_validator("languages")
    @classmethod
    def _iso3(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [c for c in codes if normalise(c) != c]
        if wrong:
            raise ValueError(f"not canonical ISO 639-3: {wrong}")
        return codes


@dataclass
class Loaded:
    """What a loader found. `records` may lack any column but `text` or `tweet_id`: ids are then
    given, and the language of a dataset that has only one."""

    records: pl.DataFrame
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    # holds text that a model wrote; each such record says so in `authorship` and `meta`
    synthetic: bool = False


Loader = Callable[[Bundle], Loaded]
LoaderState = Literal["tested on the published files", "not yet tested", "none"]


Verdicts = LabelMap | Mapping[str, str]  # a plain mapping takes its name from the entry


@dataclass(frozen=True)
class Sample:
    """Synthetic raw files in the real layout, and what loading them must give: an entry's own test.

    Entries of this repository keep theirs as files in `tests/catalog/samples/NAME/`; one from
    another package may bring it along in code.
    """

    files: Mapping[str, str | bytes]
    rows: Mapping[str, int]  # variant -> records
    veracity: Mapping[str, int] = field(
        default_factory=dict
    )  # of the default variant under the default map


class Entry:
    """A dataset of the catalogue. The first map and the first variant are the defaults."""

    def __init__(
        self,
        card: Card,
        maps: Mapping[str, Verdicts] | None = None,
        variants: Mapping[str, Loader] | None = None,
        sample: Sample | None = None,
        no_loader: str | None = None,  # why there is none, when there is none
        # variant -> rows in the published files, where counted
        real_rows: Mapping[str, int] | None = None,
        real_labels: Mapping[str, int] | None = None,  # label_raw -> rows, default variant
        # variant -> rows its publishers state
        published_rows: Mapping[str, int | None] | None = None,
    ) -> None:
        if maps and card.task != TRUTH:
            raise DataError(
                f"The card of {card.name} has label maps, though its task is {card.task}.",
                "Leave out the maps, or the task.",
            )
        self.card = card
        self.maps = {
            key: _named(f"{card.name}/{key}", verdicts) for key, verdicts in (maps or {}).items()
        }
        self.variants = variants or {}
        self.sample = sample
        self.no_loader = no_loader
        self.real_rows = real_rows or {}
        self.real_labels = real_labels or {}
        self.published_rows = published_rows or {}

    @property
    def tested(self) -> bool:
        """Whether the default loader has been run on files that the authors publish, not only on
        synthetic ones.
        """
        return next(iter(self.variants), None) in self.real_rows

    def map_named(self, chosen: Mapping[str, str] | str | None) -> LabelMap | None:
        """The map of this name, by default the first; or one that the caller brings."""
        if chosen is not None and self.card.task != TRUTH:
            raise UsageError(
                f"The labels of {self.card.title} are not about truth (task: {self.card.task}), so"
                " that no map makes verdicts of them.",
                "Leave out `map`.",
            )
        if chosen is not None and is_own(chosen):
            return load_map(chosen)
        if not self.maps:
            return None
        name = str(chosen or next(iter(self.maps)))
        check_name(f"label map of {self.card.name}", name, self.maps)
        return self.maps[name]

    def loader_named(self, name: str | None) -> tuple[str, Loader]:
        if not self.variants:
            raise UsageError(
                f"{self.card.title} has no loader: {self.no_loader}",
                f"See: claimlab catalog show {self.card.name}",
            )
        chosen = name or next(iter(self.variants))
        check_name(f"variant of {self.card.name}", chosen, self.variants)
        return chosen, self.variants[chosen]


def _named(name: str, verdicts: Verdicts) -> LabelMap:
    if isinstance(verdicts, LabelMap):
        return verdicts if verdicts.name else replace(verdicts, name=name)
    return LabelMap(name, verdicts)


def loader_state(entry: Entry) -> LoaderState:
    """Whether there is a loader, and whether it has been tested on files that the authors
    publish.
    """
    if not entry.variants:
        return "none"
    return "tested on the published files" if entry.tested else "not yet tested"
