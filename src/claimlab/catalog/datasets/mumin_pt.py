"""MuMiN-PT: the Portuguese part of MuMiN's claims."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card, Shares
from claimlab.catalog.datasets import mumin
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle


def load(bundle: Bundle) -> Loaded:
    """The rows whose language field says Portuguese; all rows, with a note, where the file has no such field.

    A loader does not guess languages: that is a cleaning step, whose choice and parameters belong into the lineage.
    """
    loaded = mumin.load(bundle)
    if loaded.records["language"].null_count() < loaded.records.height:
        loaded.records = loaded.records.filter(pl.col("language") == "por")
    else:
        loaded.notes.append(
            f"These files name no language, so all {loaded.records.height:,} claims are kept. Keep the Portuguese ones "
            "with: claimlab clean DIR -o DIR --recipe pt-afc"
        )
    return loaded


DATASET = Entry(
    card=Card(
        name="mumin-pt",
        title="MuMiN-PT",
        summary="The Portuguese claims of MuMiN, as language identification picks them; used in work on Portuguese "
        "fact-checking.",
        size=1_404,
        modality=("claims",),
        topic="Various",
        region="International",
        languages=("por",),
        time_start="2020",
        time_end="2022",
        labelling="Human expert (ratings of fact-checkers, classed by a model)",
        shares=Shares(true=4.63, false=95.37),
        licence="MIT",
        access="Load MuMiN's claims file under this name, then keep Portuguese with the cleaning recipe pt-afc.",
        homepage="https://mumin-dataset.github.io",
        citation="Nielsen and McConville (2022), MuMiN; Portuguese part as in Gomes, Garcia and Galvão Filho (2025), "
        "Portuguese Automated Fact-checking: Information Retrieval with Claim Extraction.",
        errata=(
            "Described as posts from X, but the texts are MuMiN's claim texts.",
            "Which rows are Portuguese depends on the identifier: lingua keeps 1,404 of 13,205 (1,339 fake, 65 true), of "
            "which 28 are near-duplicates.",
            "Called top-down in one place of the paper and bottom-up in two others; it was collected from known claims "
            "(top-down).",
        ),
        met_real_files=True,
    ),
    maps={"default": LabelMap("mumin-pt/default", mumin.VERDICTS)},
    variants={"claims": load},
    sample=Sample(
        files={
            "claims_large.jsonl": '{"claim":"A ponte é de queijo","claim_en":"The bridge is of cheese","verdict":"misinformation","language":"pt","train_mask":true,"val_mask":false,"test_mask":false}\n'
            '{"claim":"A ponte abriu em 1931","claim_en":"The bridge opened in 1931","verdict":"factual","language":"pt-BR","train_mask":true,"val_mask":false,"test_mask":false}\n'
            '{"claim":"Die Brücke singt","claim_en":"The bridge sings","verdict":"misinformation","language":"de","train_mask":false,"val_mask":true,"test_mask":false}\n'
        },
        rows={"claims": 2},
        veracity={"true": 1, "false": 1},
    ),
)
