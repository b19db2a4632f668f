"""What is known about a dataset as a whole: its manifest, its records and its catalogue card."""

from __future__ import annotations

from dataclasses import dataclass

from claimlab.catalog.entry import Card
from claimlab.catalog.load import DATASETS
from claimlab.core.dataset import Dataset
from claimlab.core.languages import to_iso1
from claimlab.core.licence import spdx
from claimlab.exchange.synthetic import MACHINE_MADE


@dataclass(frozen=True)
class DatasetFacts:
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


def about(dataset: Dataset) -> DatasetFacts:
    card = (
        DATASETS.get(dataset.card).card
        if dataset.card is not None and dataset.card in DATASETS
        else None
    )
    licence = dataset.licence or (card.licence if card else None)
    spoken = sorted(dataset.records["language"].drop_nulls().unique().to_list())
    return DatasetFacts(
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
