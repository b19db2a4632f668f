"""FEVEROUS: claims to be checked against sentences and table cells of Wikipedia."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from claimlab.catalog.kit import Bundle, Loaded, frame_of, meta_column
from claimlab.catalog.readers._fever import PARTS, Row, loaded, read_splits

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
