"""What the FEVER family shares: a file per split, claims with Wikipedia as evidence, pages named in
a code of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, read_objects, side_rows
from claimlab.core.types import JsonObject

Row = JsonObject
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-COLON-": ":"}
PARTS = ("train", "dev", "test")


def read_splits(
    bundle: Bundle,
    files: Mapping[str, Sequence[str]],
    wanted: Sequence[str],
    required: Sequence[str],
) -> list[Row]:
    """The objects of the wanted splits, each with its `split`. One split must be there; of several,
    those that are.

    Objects without a claim are placeholders (FEVEROUS opens each file with one) and are left out.
    """
    present = [s for s in wanted if bundle.match(*files[s])]
    rows = []
    for split in present or wanted[:1]:
        for row in read_objects(bundle, bundle.one(*files[split]), required):
            if str(row["claim"]).strip():
                rows.append({**row, "split": split})
    return rows


def loaded(
    name: str,
    key: str,
    raw: pl.DataFrame,
    rows: Sequence[Row],
    pages: Callable[[Row], Iterable[Row]],
    **more: Any,
) -> Loaded:
    """The claims of `raw` as records of dataset `name`, with `more` columns, and what `pages` makes
    of each of `rows`.
    """
    records = raw.select(
        "split",
        id=pl.format(f"{name}-{{}}-{{}}", "split", key),
        text=pl.col("claim").str.strip_chars(),
        kind=pl.lit("claim"),
        label_raw="label",
        **more,
    )
    evidence = (
        {
            "record_id": record,
            "evidence_id": f"{record}-{rank}",
            "rank": rank,
            "provider": "Wikipedia",
            **page,
        }
        for record, row in zip(records["id"], rows, strict=True)
        for rank, page in enumerate(pages(row), 1)
    )
    return Loaded(records, {"evidence": side_rows("evidence", evidence)})


def page_title(page: str) -> str:
    """The title of a Wikipedia page from FEVER's name for it."""
    for code, sign in BRACKETS.items():
        page = page.replace(code, sign)
    return page.replace("_", " ")
