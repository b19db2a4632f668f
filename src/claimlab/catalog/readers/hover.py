"""HoVer: claims that take two to four Wikipedia pages to check."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, frame_of, meta_column
from claimlab.catalog.readers._fever import PARTS, Row, loaded, read_splits
from claimlab.core.words import several

FIELDS = ["uid", "claim", "label", "num_hops", "hpqa_id", "split"]
FILES = {s: (f"hover_{s}_release*.json*", f"hover_{s}*.json*", f"{s}*.json*") for s in PARTS}


def load(bundle: Bundle) -> Loaded:
    """The development claims, the only labelled ones besides the training part."""
    return read(bundle, ["dev"])


def load_all(bundle: Bundle) -> Loaded:
    """Every part that is there; the test claims are published without labels."""
    return read(bundle, PARTS)


def read(bundle: Bundle, splits: Sequence[str]) -> Loaded:
    """Claims made from one HotpotQA question are a group."""
    rows = read_splits(bundle, FILES, splits, ["uid", "claim"])
    raw = frame_of(rows, FIELDS)
    more = {"group": pl.col("hpqa_id"), "meta": meta_column(raw, ["num_hops"])}
    result = loaded("hover", "uid", raw, rows, _pages, **more)
    bare = result.records["label_raw"].null_count()
    result.notes += [f"{several(bare, 'claim')} published without a label."] if bare else []
    return result


def _pages(row: Row) -> list[Row]:
    facts = row.get("supporting_facts") or []
    return [{"evidence_id": f"{title}:{sentence}", "title": title} for title, sentence in facts]
