"""DBpedia: facts drawn from Wikipedia. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="dbpedia",
        title="DBpedia",
        summary="A knowledge base drawn from Wikipedia's info boxes and abstracts; the guide counts it among the sources "
        "of true statements.",
        size=1_950_000,
        modality=("encyclopedia", "knowledge-graph"),
        topic="Various",
        region="International",
        language_count=14,
        licence="CC BY-SA 3.0 and GFDL",
        access="Downloads and a query service at dbpedia.org.",
        homepage="https://www.dbpedia.org",
        citation="Lehmann et al. (2015), DBpedia: A Large-scale, Multilingual Knowledge Base Extracted from Wikipedia, "
        "Semantic Web 6(2).",
        errata=(
            "The guide's table gives no reference, and '14 lang.': DBpedia covers far more languages, while its "
            "well-known text-classification extract has 14 classes.",
        ),
        survey="cdl-listed",
    ),
    no_loader="Not a dataset of claims: a knowledge base without verdicts.",
)
