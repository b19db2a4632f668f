"""FEVER: claims made by altering sentences of Wikipedia, with the pages that support or refute
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from claimlab.catalog.kit import Bundle, Loaded, frame_of, meta_json
from claimlab.catalog.readers._fever import PARTS, Row, loaded, page_title, read_splits

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
