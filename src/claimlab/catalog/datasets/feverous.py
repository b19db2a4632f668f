"""FEVEROUS: claims to be checked against sentences and table cells of Wikipedia."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from claimlab.catalog.datasets._fever import PARTS, VERDICTS, Row, loaded, read_splits
from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, both, frame_of, meta_column

FIELDS = ["id", "claim", "label", "challenge", "expected_challenge", "split"]
FILES = {
    "train": ("feverous_train*.json*", "train*.json*"),
    "dev": ("feverous_dev*.json*", "dev*.json*"),
    "test": ("feverous_test*.json*", "test*.json*"),
}


def load(bundle: Bundle) -> Loaded:
    """The development claims: the whole part, or the subset with sentence evidence that circulates
    as dev_programfc.
    """
    return read(bundle, ["dev"])


def load_all(bundle: Bundle) -> Loaded:
    """Every part that is there."""
    return read(bundle, PARTS)


def read(bundle: Bundle, splits: Sequence[str]) -> Loaded:
    rows = read_splits(bundle, FILES, splits, ["id", "claim"])
    raw = frame_of(rows, FIELDS)
    return loaded(
        "feverous",
        "id",
        raw,
        rows,
        _pages,
        meta=meta_column(raw, ["challenge", "expected_challenge"]),
    )


def _pages(row: Row) -> Iterator[Row]:
    """A text of lines `title TAB sentence`, or as published: sets whose content names sentences and
    cells of pages.
    """
    evidence, stance = row.get("evidence") or [], row.get("label")
    if isinstance(evidence, str):
        for line in filter(str.strip, evidence.split("\n")):
            title, _, text = line.partition("\t")
            yield {"title": title, "text": text or None, "stance": stance}
    else:
        for name in (name for together in evidence for name in together.get("content", [])):
            yield {"evidence_id": name, "title": name.split("_")[0], "stance": stance}


DATASET = Entry(
    card=Card(
        name="feverous",
        title="FEVEROUS",
        summary=(
            "Claims written about Wikipedia passages and tables, with the sentences and cells that"
            " support or refute them or leave them open."
        ),
        size=87_026,
        modality=("claims",),
        topic="Various",
        languages=("eng",),
        labelling="Algorithm",
        licence="CC BY-SA 3.0, with Wikipedia's terms for its text",
        access=(
            "Download the training and development files from the project's page;"
            " dev_programfc.json is the subset with sentence evidence that the ProgramFC project"
            " publishes."
        ),
        homepage="https://fever.ai/dataset/feverous.html",
        citation=(
            "Aly, Guo, Schlichtkrull, Thorne, Vlachos, Christodoulopoulos, Cocarascu and Mittal"
            " (2021), The Fact Extraction and VERification Over Unstructured and Structured"
            " information (FEVEROUS) Shared Task, FEVER workshop."
        ),
        errata=(
            (
                "The guide's shares need the training part. The subset with sentence evidence"
                " (2,962 claims) has two classes, 1,551 refuted and 1,411 supported."
            ),
            (
                "The guide lists the labelling as 'Algorithm'; the claims were written and labelled"
                " by trained annotators."
            ),
            "The guide's zero-shot baselines are on the validation part.",
        ),
        has_evidence=True,
    ),
    maps=both(VERDICTS),
    variants={"dev": load, "all": load_all},
    real_rows={"dev": 2_962, "all": 2_962},
    real_labels={"refutes": 1_551, "supports": 1_411},
)
