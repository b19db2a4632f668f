"""What the FEVER family shares: a file per split, Wikipedia pages named in a code of their own, three verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimlab.catalog.datasets._layout import read_objects
from claimlab.files.bundle import Bundle

VERDICTS = {"SUPPORTS": "true", "REFUTES": "false", "NOT ENOUGH INFO": "unknown"}
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-COLON-": ":"}


def read_splits(
    bundle: Bundle, files: Mapping[str, Sequence[str]], wanted: Sequence[str], required: Sequence[str]
) -> list[dict[str, Any]]:
    """The objects of the wanted splits, each with its `split`. One split must be there; of several, those that are.

    Objects without a claim are placeholders (FEVEROUS opens each file with one) and are left out.
    """
    present = [s for s in wanted if bundle.match(*files[s])]
    rows = []
    for split in present or wanted[:1]:
        for row in read_objects(bundle, bundle.one(*files[split]), required):
            if str(row["claim"]).strip():
                rows.append({**row, "split": split})
    return rows


def page_title(page: str) -> str:
    """The title of a Wikipedia page from FEVER's name for it."""
    for code, sign in BRACKETS.items():
        page = page.replace(code, sign)
    return page.replace("_", " ")
