"""MuMiN-PT: the Portuguese part of MuMiN's claims."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.datasets import mumin
from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Shares


def load(bundle: Bundle) -> Loaded:
    """The rows whose language field says Portuguese; all rows, with a note, where the file has no
    such field.

    A loader does not guess languages: that is a cleaning step, whose choice and parameters belong
    into the lineage.
    """
    loaded = mumin.load(bundle)
    if loaded.records["language"].null_count() < loaded.records.height:
        loaded.records = loaded.records.filter(pl.col("language") == "por")
    else:
        loaded.notes.append(
            f"These files name no language, so all {loaded.records.height:,} claims are kept. Keep"
            " the Portuguese ones with the recipe pt-afc of: claimlab clean"
        )
    return loaded


DATASET = Entry(
    card=Card(
        name="mumin-pt",
        title="MuMiN-PT",
        summary=(
            "The Portuguese claims of MuMiN, as language identification picks them; used in work on"
            " Portuguese fact-checking."
        ),
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
        access=(
            "Load MuMiN's claims file under this name, then keep Portuguese with the cleaning"
            " recipe pt-afc."
        ),
        homepage="https://mumin-dataset.github.io",
        citation=(
            "Nielsen and McConville (2022), MuMiN; Portuguese part as in Gomes, Garcia and Galvão"
            " Filho (2025), Portuguese Automated Fact-checking: Information Retrieval with Claim"
            " Extraction."
        ),
        errata=(
            "Described as posts from X, but the texts are MuMiN's claim texts.",
            (
                "Which rows are Portuguese depends on the identifier: lingua keeps 1,404 of 13,205"
                " (1,339 fake, 65 true), of which 28 are near-duplicates."
            ),
            (
                "Called top-down in one place of the paper and bottom-up in two others; it was"
                " collected from known claims (top-down)."
            ),
        ),
    ),
    maps={"default": mumin.VERDICTS},
    variants={"claims": load},
    published_rows={"claims": None},  # the rows depend on the identifier of languages
    real_rows={"claims": 13_205},
)
