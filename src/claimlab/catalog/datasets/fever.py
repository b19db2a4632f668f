"""FEVER: claims made by altering sentences of Wikipedia, with the pages that support or refute
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from claimlab.catalog.datasets._fever import PARTS, VERDICTS, Row, loaded, page_title, read_splits
from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, both, frame_of, meta_json

FILES = {
    "train": ("train.json*", "fever_train.json*", "*fever*train*.json*"),
    "dev": (
        "fever_labelled_dev.json*",
        "labelled_dev.json*",
        "shared_task_dev.json*",
        "paper_dev.json*",
        "*dev*.json*",
    ),
    "test": ("shared_task_test.json*", "paper_test.json*", "*fever*test*.json*"),
}


def load(bundle: Bundle) -> Loaded:
    """The development claims, with labels and evidence."""
    return read(bundle, ["dev"])


def load_all(bundle: Bundle) -> Loaded:
    """Every part that is there; the claims of the shared task's test have no labels."""
    return read(bundle, PARTS)


def read(bundle: Bundle, splits: Sequence[str]) -> Loaded:
    rows = read_splits(bundle, FILES, splits, ["id", "claim"])
    return loaded("fever", "id", frame_of(rows, ["id", "claim", "label", "split"]), rows, _pages)


def _pages(row: Row) -> Iterator[Row]:
    """Pages only (`evidence_pages`), or as published: sets of [annotation, evidence, page,
    sentence] that go together.
    """
    pages = [(page, None, None) for page in row.get("evidence_pages") or []]
    sets = enumerate(row.get("evidence") or [], 1)
    published = [(e[2], e[3], n) for n, together in sets for e in together if e[2] is not None]
    for page, sentence, number in [*pages, *published]:
        yield {
            "evidence_id": page if sentence is None else f"{page}:{sentence}",
            "title": page_title(page),
            "stance": row.get("label"),
            "meta": meta_json({"set": number}),
        }


DATASET = Entry(
    card=Card(
        name="fever",
        title="FEVER",
        summary=(
            "One-fact claims that annotators made by altering sentences of popular Wikipedia pages,"
            " labelled by what Wikipedia says of them."
        ),
        size=185_445,
        modality=("claims",),
        topic="Various",
        region="USA",
        languages=("eng",),
        labelling="Crowd-sourced",
        licence="CC BY-SA 3.0, with Wikipedia's terms for its text",
        access=(
            "Download train.jsonl, shared_task_dev.jsonl and shared_task_test.jsonl from the"
            " project's page."
        ),
        homepage="https://fever.ai/dataset/fever.html",
        citation=(
            "Thorne, Vlachos, Christodoulopoulos and Mittal (2018), FEVER: a Large-scale Dataset"
            " for Fact Extraction and VERification, NAACL."
        ),
        errata=(
            (
                "The guide's shares need the training part; the development part is balanced (3 x"
                " 6,666)."
            ),
            (
                "The guide's text calls the labels binary; its table counts a third,"
                " not-enough-info, as unknown."
            ),
            (
                "Of the 19,998 development claims 19,597 are distinct, and 54 texts have more than"
                " one label."
            ),
            "The guide's zero-shot baselines are on 'paper_test', half of the development part.",
        ),
        has_evidence=True,
    ),
    maps=both(VERDICTS),
    variants={"dev": load, "all": load_all},
    real_rows={"dev": 19_998, "all": 19_998},
    real_labels={"SUPPORTS": 6_666, "REFUTES": 6_666, "NOT ENOUGH INFO": 6_666},
)
