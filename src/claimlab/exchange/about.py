"""What is known about a dataset as a whole: from its manifest, its records and its catalogue card,
if it has one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from claimlab.catalog.card import Card
from claimlab.catalog.load import DATASETS
from claimlab.core.dataset import Dataset
from claimlab.core.languages import to_iso1
from claimlab.exchange.synthetic import MACHINE_MADE

SYNTHETIC = (
    "This dataset holds machine-made text. Each such record says so in `authorship`, and carries"
    " its label, origin and change log in `meta`."
)
_SPDX = {
    "mit": "MIT",
    "apache 2.0": "Apache-2.0",
    "cc0": "CC0-1.0",
    "cc0 1.0": "CC0-1.0",
    "cdla permissive 2.0": "CDLA-Permissive-2.0",
    "odc by 1.0": "ODC-By-1.0",
    "gpl 3.0": "GPL-3.0",
}


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


def spdx(licence: str | None) -> str | None:
    """The SPDX identifier of a licence text; null for terms that no identifier covers whole
    ("research only").
    """
    if licence is None:
        return None
    words = " ".join(licence.lower().replace("-", " ").split())
    if words in _SPDX:
        return _SPDX[words]
    match = re.fullmatch(r"cc by((?: (?:nc|nd|sa))*) (\d\.\d)", words)
    return f"CC-BY{match[1].replace(' ', '-').upper()}-{match[2]}" if match else None
